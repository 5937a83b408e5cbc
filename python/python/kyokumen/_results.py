"""What functions return that is made of several things."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class Boards(NamedTuple):
    """Positions as numbers.

    `pieces` [N, 81]: by square, file × 9 + rank from 1a, the numbers of cshogi: 0 none, P L N S B R G K +P +L +N +S +B +R
    from 1, those of White 16 more. `hands` [N, 2, 7]: Black's and White's, P L N S G B R. `turn` [N]: 0 Black, 1 White.
    `ply` [N]: number of the next move, 1 where the records do not hold it.
    """

    pieces: npt.NDArray[np.uint8]
    hands: npt.NDArray[np.uint8]
    turn: npt.NDArray[np.uint8]
    ply: npt.NDArray[np.uint16]


class Verdict(IntEnum):
    """What arrays say about a position, seen from the side to move."""

    LOSS = -1
    """It is being mated, or has no legal move."""
    NO_MATE = 0
    """Neither, proven without limits."""
    WIN = 1
    """It mates."""
    UNKNOWN = 2
    """The search stopped before it knew."""
    SKIPPED = 3
    """It is in check, of which nothing was asked."""


class Solutions(NamedTuple):
    """Answers on many positions: `verdicts` [N] as `Verdict`, `plies` [N] of the mates, -1 where there is none, `nodes` [N]."""

    verdicts: npt.NDArray[np.int8]
    plies: npt.NDArray[np.int16]
    nodes: npt.NDArray[np.uint64]
