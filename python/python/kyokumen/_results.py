"""Result types with several arrays."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class Boards(NamedTuple):
    """Positions as arrays.

    `pieces` [N, 81]: cshogi's piece numbers. 0 is an empty square; P L N S B R G K +P +L +N +S +B +R are 1 to 14 for
    Black and 17 to 30 for White. Squares are file × 9 + rank, counted from 1a.
    `hands` [N, 2, 7]: numbers of P L N S G B R in hand of Black and White.
    `turn` [N]: side to move, 0 for Black, 1 for White.
    `ply` [N]: number of the next move; 1 if the records have no ply.
    """

    pieces: npt.NDArray[np.uint8]
    hands: npt.NDArray[np.uint8]
    turn: npt.NDArray[np.uint8]
    ply: npt.NDArray[np.uint16]


class Verdict(IntEnum):
    """Verdicts in arrays, seen from the side to move. `Verdict[solution.verdict.upper()]` is that of a `Solution`."""

    LOSS = -1
    """The side to move is being mated, or has no legal move."""
    NO_MATE = 0
    """The search proved that neither side has a forced mate."""
    WIN = 1
    """The side to move can force mate."""
    UNKNOWN = 2
    """The search stopped at a limit without a verdict."""
    SKIPPED = 3
    """The side to move is in check, and `in_check="skip"` excludes such positions."""


class Solutions(NamedTuple):
    """Results of `solve_many`.

    `verdicts` [N]: values of `Verdict`. `plies` [N]: length of the mate, -1 if there is none. `nodes` [N]: searched
    nodes.
    """

    verdicts: npt.NDArray[np.int8]
    plies: npt.NDArray[np.int16]
    nodes: npt.NDArray[np.uint64]
