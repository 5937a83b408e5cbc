"""Types of `kyokumen._native`. The docstrings of the functions have more detail: `help(kyokumen)`."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal, TypeAlias, final, overload, type_check_only

import numpy as np
import numpy.typing as npt
from typing_extensions import Self, Unpack

from kyokumen._options import (
    LoaderOptions,
    _Path,
    _Paths,
)
from kyokumen._results import Boards, Solutions

__all__ = [
    "Archive", "Batch", "Batches", "Game", "GameIterator", "GameMove", "Loader", "Move", "Position", "Proof", "Record",
    "Solution", "Solver", "Writer", "__version__", "call", "create", "decode", "dlshogi", "dlshogi_labels", "encode",
    "games", "halfka_hm", "halfkp", "has_legal_move", "in_check", "keys", "legal_move_mask", "open", "options",
    "run_command_line", "solve_many", "to_sfens",
]
__version__: str

_bytes: TypeAlias = bytes
_Result: TypeAlias = Literal["black", "white", "draw"]
_Verdict: TypeAlias = Literal["win", "loss", "no_mate", "unknown"]
_Dialect: TypeAlias = Literal["apery", "yaneuraou", "rshogi"]
_InCheck: TypeAlias = Literal["both", "and", "or", "skip"]
_WhenHopeless: TypeAlias = Literal["give-up", "go-on"]
_OnError: TypeAlias = Literal["stop", "skip"]
_Numbers: TypeAlias = Literal["float32", "float16", "bits"]
_Records: TypeAlias = Archive | npt.NDArray[Any]
"""An archive of fixed-size records, or an array with a dtype of `kyokumen.dtypes`."""
_PositionLike: TypeAlias = Position | Record | str
"""A position, a record, an SFEN, or a position of the USI protocol, such as "startpos moves 7g7f"."""
_Positions: TypeAlias = _Records | Iterable[_PositionLike]

def open(path: _Path, *, format: str | None = None, dialect: _Dialect | None = None) -> Archive:
    """Opens a file of records in any format. `format` and `dialect` are detected by default."""

@final
class Archive:
    """The records of a file, or a slice of them. Files of fixed-size records are memory-mapped."""

    @property
    def name(self) -> str: ...
    @property
    def format(self) -> str: ...
    @property
    def dialect(self) -> _Dialect: ...
    @property
    def fields(self) -> list[str]: ...
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, index: int, /) -> Record: ...
    @overload
    def __getitem__(self, index: slice, /) -> Archive: ...
    def __iter__(self) -> Iterator[Record]: ...
    def numpy(self) -> npt.NDArray[Any]:
        """The records as a read-only structured array. It is the memory-mapped file if the file is not compressed."""
    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]: ...
    def sfens(self, *, on_error: _OnError = "stop") -> Iterator[str]:
        """Iterates over the positions as SFENs."""
    def to_arrow(
        self,
        *,
        columns: Sequence[str] | None = None,
        batch_size: int = 65536,
        on_error: _OnError = "stop",
        threads: int = 0,
    ) -> Batches:
        """The records as an Arrow stream."""
    def read_batches(
        self,
        *,
        columns: Sequence[str] | None = None,
        batch_size: int = 65536,
        on_error: _OnError = "stop",
        threads: int = 0,
    ) -> Batches:
        """Like to_arrow, for iteration over batches."""
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def _repr_html_(self) -> str: ...

@final
class Batches:
    """Arrow batches of records. The stream can be read once, as a whole or batch by batch."""

    @property
    def columns(self) -> list[str]: ...
    def __iter__(self) -> Iterator[Batch]: ...
    def __next__(self) -> Batch: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...

@final
class Batch:
    """Several records as Arrow columns."""

    def __len__(self) -> int: ...
    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]: ...

@final
class Record:
    """One record. Fields that the format or the record does not have are None."""

    def __new__(
        cls,
        position: _PositionLike,
        *,
        move: Move | str | None = None,
        eval_cp: int | None = None,
        ply: int | None = None,
        result: _Result | None = None,
        ending: str | None = None,
        end_ply: int | None = None,
        candidates: Sequence[tuple[Move | str, int]] = ...,
        for_training: bool = True,
    ) -> Self: ...
    def _located(self, index: int, bytes: bytes) -> Record: ...
    @property
    def index(self) -> int: ...
    @property
    def position(self) -> Position: ...
    @property
    def sfen(self) -> str: ...
    @property
    def move(self) -> Move | None: ...
    @property
    def eval_cp(self) -> int | None: ...
    @property
    def ply(self) -> int | None: ...
    @property
    def result(self) -> _Result | None: ...
    @property
    def ending(self) -> str | None: ...
    @property
    def end_ply(self) -> int | None: ...
    @property
    def candidates(self) -> list[tuple[Move, int]]: ...
    @property
    def for_training(self) -> bool: ...
    @property
    def bytes(self) -> _bytes: ...
    def _repr_svg_(self) -> str: ...
    def _repr_html_(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]

@final
class Game:
    """A game with its headers, comments and times."""

    @property
    def start(self) -> Position: ...
    @property
    def moves(self) -> list[GameMove]: ...
    @property
    def headers(self) -> dict[str, str]: ...
    @property
    def comments(self) -> list[str]: ...
    @property
    def end_comments(self) -> list[str]: ...
    @property
    def end_elapsed_ms(self) -> int | None: ...
    @property
    def result(self) -> _Result | None: ...
    @property
    def ending(self) -> str | None: ...
    @property
    def error(self) -> str | None: ...
    def __len__(self) -> int: ...
    def _repr_svg_(self) -> str: ...
    def _repr_html_(self) -> str: ...

@final
class GameMove:
    """A move of a game, with what the file states about it."""

    @property
    def move(self) -> Move: ...
    @property
    def eval_cp(self) -> int | None: ...
    @property
    def elapsed_ms(self) -> int | None: ...
    @property
    def comments(self) -> list[str]: ...
    @property
    def variations(self) -> list[list[GameMove]]: ...

@final
class GameIterator:
    """The games of a file, in order. It ends after an error."""

    def __iter__(self) -> GameIterator: ...
    def __next__(self) -> Game: ...

def games(path: _Path) -> GameIterator:
    """Iterates over the games of a file, such as KIF, CSA or hcpe3. Use `open` for their positions."""

def create(path: _Path, *, fill: str | Mapping[str, object] | None = None, force: bool = False) -> Writer:
    """Creates a file of records or games, whose name shows the format. Use it in a `with` block. If an exception ends the
    block, the file is removed."""

@final
class Writer:
    """A file that is being written. Without `close` or a `with` block, it never gets its name. `lost` names what the format
    cannot hold."""

    def write(self, content: Record | Game) -> None: ...
    @property
    def lost(self) -> list[str]: ...
    def close(self) -> None: ...
    def __enter__(self) -> Writer: ...
    def __exit__(self, kind: object, _error: object, _traceback: object) -> None: ...

@final
class Move:
    """A shogi move in USI notation."""

    def __new__(cls, usi: str) -> Self: ...
    @staticmethod
    def from_bits(bits: int, dialect: _Dialect = "apery") -> Move | None: ...
    def bits(self, dialect: _Dialect = "apery") -> int: ...
    @property
    def usi(self) -> str: ...
    @property
    def to_square(self) -> int: ...
    @property
    def from_square(self) -> int | None: ...
    @property
    def dropped(self) -> str | None: ...
    @property
    def is_promotion(self) -> bool: ...
    def mirrored(self) -> Move: ...
    def label(self, turn: int) -> int: ...
    def __hash__(self) -> int: ...

@final
class Position:
    """A shogi position and the moves that were pushed."""

    def __new__(cls, sfen: str | None = None) -> Self: ...
    @staticmethod
    def from_hcp(hcp: bytes, ply: int = 1) -> Position: ...
    @staticmethod
    def from_psfen(psfen: bytes, ply: int = 1) -> Position: ...
    @staticmethod
    def from_psv(psv: bytes) -> Position: ...
    def to_hcp(self) -> bytes: ...
    def to_psfen(self) -> bytes: ...
    @property
    def sfen(self) -> str: ...
    @property
    def turn(self) -> int: ...
    @property
    def ply(self) -> int: ...
    @property
    def key(self) -> bytes: ...
    @property
    def pieces(self) -> list[str | None]: ...
    @property
    def hands(self) -> tuple[tuple[int, ...], tuple[int, ...]]: ...
    @property
    def legal_moves(self) -> list[Move]: ...
    @property
    def checking_moves(self) -> list[Move]: ...
    @property
    def is_check(self) -> bool: ...
    @property
    def is_mate(self) -> bool: ...
    @property
    def can_declare(self) -> bool: ...
    @property
    def repetition(self) -> Literal["draw", "win", "loss"] | None: ...
    @property
    def moves(self) -> list[Move]: ...
    def is_legal(self, move: Move | str) -> bool: ...
    def gives_check(self, move: Move | str) -> bool: ...
    def push(self, move: Move | str) -> None: ...
    def push_usi(self, usi: str) -> Move: ...
    def push_kif(self, text: str) -> Move: ...
    def push_csa(self, text: str) -> Move: ...
    def to_kif(self, move: Move | str) -> str: ...
    def to_ki2(self, move: Move | str) -> str: ...
    def to_csa(self, move: Move | str) -> str: ...
    def mate_in_one(self) -> Move | None: ...
    def pop(self) -> Move: ...
    def copy(self) -> Position: ...
    def mirrored(self) -> Position: ...
    def to_kanji(self) -> str: ...
    def to_svg(
        self,
        *,
        last_move: Move | str | None = None,
        arrow: Move | str | None = None,
        seen_from: Literal[0, 1] = 0,
    ) -> str:
        """A diagram of the board, as the text of an SVG file."""
    def _repr_svg_(self) -> str: ...
    def _repr_html_(self) -> str: ...

def decode(records: _Positions, *, threads: int = 0) -> Boards:
    """The boards, hands, sides to move and plies of records, as arrays."""

def encode(
    positions: _Positions, *, format: Literal["hcp", "psfen"] = "hcp", threads: int = 0
) -> npt.NDArray[Any]:
    """Packs positions."""

def to_sfens(records: _Positions, *, threads: int = 0) -> list[str]:
    """The positions of records as SFENs."""

def keys(records: _Positions, *, threads: int = 0) -> npt.NDArray[np.uint8]:
    """Keys of positions [N, 16]. Equal boards, hands and sides to move have equal keys in all formats."""

def in_check(records: _Positions, *, threads: int = 0) -> npt.NDArray[np.bool_]:
    """Whether the side to move is in check [N]."""

def legal_move_mask(records: _Positions, *, threads: int = 0) -> npt.NDArray[np.bool_]:
    """Marks the legal moves among dlshogi's move labels [N, 2187]."""

def has_legal_move(records: _Records, *, threads: int = 0) -> npt.NDArray[np.bool_]:
    """Whether the stored move is legal [N]."""

@final
class Solver:
    """A mate solver with a transposition table and search limits."""

    def __new__(
        cls,
        hash_mb: int = 64,
        *,
        depth: int | None = None,
        nodes: int | None = None,
        in_check: _InCheck | None = None,
        when_hopeless: _WhenHopeless | None = None,
    ) -> Self: ...
    def solve(
        self,
        position: _PositionLike,
        *,
        depth: int | None = None,
        nodes: int | None = None,
        in_check: _InCheck | None = None,
        when_hopeless: _WhenHopeless | None = None,
        shortest: bool = False,
        tsume_plies: bool = False,
    ) -> Solution: ...

@final
class Solution:
    """The verdict of a search, with the mating line, its length, the nodes and the proof."""

    @property
    def verdict(self) -> _Verdict: ...
    @property
    def stop(self) -> Literal["nodes", "depth", "memory", "cancelled"] | None: ...
    @property
    def line(self) -> list[Move]: ...
    @property
    def plies(self) -> int | None: ...
    @property
    def tsume_plies(self) -> int | None: ...
    @property
    def is_shortest(self) -> bool | None: ...
    @property
    def nodes(self) -> int: ...
    @property
    def elapsed_ms(self) -> float: ...
    @property
    def proof(self) -> Proof | None: ...
    def _repr_html_(self) -> str: ...
    @staticmethod
    def _restored(stored: Any) -> Solution: ...

@final
class Proof:
    """A proof of a mate. `verify` checks it with an independent, deliberately simple move generator."""

    @staticmethod
    def from_bytes(data: bytes) -> Proof: ...
    def to_bytes(self) -> bytes: ...
    def verify(self) -> None: ...
    @property
    def position(self) -> Position: ...
    @property
    def verdict(self) -> Literal["win", "loss"]: ...
    @property
    def plies(self) -> int: ...
    def __len__(self) -> int: ...

def solve_many(
    records: _Positions,
    *,
    threads: int = 0,
    depth: int | None = None,
    nodes: int | None = None,
    hash_mb: int | None = None,
    in_check: _InCheck | None = None,
    when_hopeless: _WhenHopeless | None = None,
    progress: Callable[[int], object] | None = None,
) -> Solutions:
    """Solves all positions on all threads. Equal positions are searched once."""

def dlshogi(
    records: _Positions,
    *,
    planes: Literal[57, 119] = 57,
    dtype: _Numbers = "float32",
    mirror: bool = False,
    out: tuple[npt.NDArray[Any], npt.NDArray[Any]] | None = None,
    threads: int = 0,
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Input planes of dlshogi: features1 [N, 62, 9, 9], features2 [N, planes, 9, 9]. With "bits": [N, 628] and
    [N, 8 or 15]."""

def dlshogi_labels(
    records: _Records, *, scale: float = ..., mirror: bool = False, threads: int = 0
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Labels for training a dlshogi network: move [N], result [N], value [N]."""

def halfkp(
    records: _Positions, *, mirror: bool = False, out: npt.NDArray[np.int32] | None = None, threads: int = 0
) -> npt.NDArray[np.int32]:
    """Active features of HalfKP [N, 2, 38], seen from the side to move and from the opponent."""

def halfka_hm(
    records: _Positions, *, mirror: bool = False, out: npt.NDArray[np.int32] | None = None, threads: int = 0
) -> npt.NDArray[np.int32]:
    """Active features of HalfKA_hm2 [N, 2, 40], seen from the side to move and from the opponent."""

def call(command: str, positional: Sequence[_Path], given: Mapping[str, object], progress: object) -> Any:
    """Runs a command. `positional` has its inputs. `given` has its options, by their names in Python."""

def options() -> dict[str, list[tuple[str, str, str]]]:
    """The names, values and descriptions of the options of each command."""

def run_command_line(arguments: Sequence[str]) -> int:
    """Runs the command line with `arguments`, without the name of the program. Returns the exit status. Invalid
    arguments end the process."""

@final
class Loader:
    def __new__(cls, paths: _Paths, *, batch_size: int = 4096, **options: Unpack[LoaderOptions]) -> Self: ...
    @property
    def records(self) -> int: ...
    @property
    def batches(self) -> int: ...
    @property
    def identity(self) -> str: ...
    def batches_of(self, epoch: int, window: int = 0, record: int = 0, batch: int = 0) -> LoaderIterator: ...

@final
@type_check_only
class LoaderIterator:
    def __iter__(self) -> Iterator[dict[str, npt.NDArray[Any]]]: ...
    def __next__(self) -> dict[str, npt.NDArray[Any]]: ...
    @property
    def place(self) -> tuple[int, int]: ...
