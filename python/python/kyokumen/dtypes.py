"""The dtypes of records: names, order and types of the fields are those of cshogi."""

import numpy as np

hcp = np.dtype([("hcp", "u1", 32)])
"""Apery's packed position."""

hcpe = np.dtype(
    [("hcp", "u1", 32), ("eval", "<i2"), ("bestMove16", "<i2"), ("gameResult", "i1"), ("dummy", "u1")]
)
"""Apery's packed position with evaluation, move and result: `cshogi.HuffmanCodedPosAndEval`."""

hcpe42 = np.dtype(
    [
        ("hcp", "u1", 32),
        ("gamePly", "<u2"),
        ("eval", "<i2"),
        ("bestMove16", "<i2"),
        ("endPly", "<u2"),
        ("gameResult", "i1"),
        ("dummy", "u1"),
    ]
)
"""The same with ply and length of the game, 42 bytes, as Apery itself writes it."""

psfen = np.dtype([("sfen", "u1", 32)])
"""YaneuraOu's packed position: `cshogi.PackedSfen`."""

psv = np.dtype(
    [
        ("sfen", "u1", 32),
        ("score", "<i2"),
        ("move", "<u2"),
        ("gamePly", "<u2"),
        ("game_result", "i1"),
        ("padding", "u1"),
    ]
)
"""YaneuraOu's `PackedSfenValue`: `cshogi.PackedSfenValue`."""
