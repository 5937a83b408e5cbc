"""Archives of shogi training positions, mates, features and a data loader: the library Kyokumen with arrays.

    import kyokumen
    archive = kyokumen.open("training.psv")
    archive.numpy()["score"]        # the file itself, as an array with cshogi's field names

numpy is imported when the first array is made, not with the package.
"""

from kyokumen import features
from kyokumen._errors import (
    BadRecordError,
    KyokumenError,
    NotFoundError,
    PositionError,
    FileError,
    UsageError,
)
from kyokumen._loader import DataLoader
from kyokumen._native import (
    Archive,
    Batch,
    Batches,
    Move,
    Position,
    Proof,
    Record,
    Solution,
    Solver,
    __version__,
    convert,
    decode,
    dedup,
    encode,
    gen_filter,
    has_legal_move,
    in_check,
    keys,
    legal_move_mask,
    open,
    shuffle,
    solve_many,
    split,
    stats,
    to_sfens,
    verify,
)
from kyokumen._report import Report
from kyokumen._results import Boards, Solutions, Verdict

__all__ = [
    "Archive",
    "BadRecordError",
    "Batch",
    "Batches",
    "Boards",
    "DataLoader",
    "KyokumenError",
    "Move",
    "NotFoundError",
    "Position",
    "PositionError",
    "Proof",
    "FileError",
    "Record",
    "Report",
    "Solution",
    "Solutions",
    "Solver",
    "UsageError",
    "Verdict",
    "__version__",
    "convert",
    "decode",
    "dedup",
    "encode",
    "features",
    "gen_filter",
    "has_legal_move",
    "in_check",
    "keys",
    "legal_move_mask",
    "open",
    "shuffle",
    "solve_many",
    "split",
    "stats",
    "to_sfens",
    "verify",
]
