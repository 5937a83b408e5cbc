"""Reads, filters and converts shogi training data, solves mates, and makes network inputs.

    import kyokumen
    archive = kyokumen.open("training.psv")
    archive.numpy()["score"]        # the memory-mapped file, with the field names of cshogi

The package imports numpy when it makes the first array.
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
    decode,
    encode,
    has_legal_move,
    in_check,
    keys,
    legal_move_mask,
    open,
    solve_many,
    to_sfens,
)
from kyokumen._operations import (
    convert,
    dataset,
    dedup,
    gen_filter,
    generate,
    inspect,
    interleave,
    merge,
    relabel,
    sample,
    selfplay,
    shuffle,
    split,
    stats,
    status,
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
    "dataset",
    "decode",
    "dedup",
    "encode",
    "features",
    "gen_filter",
    "generate",
    "has_legal_move",
    "in_check",
    "inspect",
    "interleave",
    "keys",
    "legal_move_mask",
    "merge",
    "open",
    "relabel",
    "sample",
    "selfplay",
    "shuffle",
    "solve_many",
    "split",
    "stats",
    "status",
    "to_sfens",
    "verify",
]
