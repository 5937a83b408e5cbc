"""numpy dtypes of records, with the field names, order and types of cshogi."""

import numpy as np

hcp = np.dtype([("hcp", "u1", 32)])
"""Apery's packed position."""

hcpe = np.dtype(
    [("hcp", "u1", 32), ("eval", "<i2"), ("bestMove16", "<i2"), ("gameResult", "i1"), ("dummy", "u1")]
)
"""Apery's packed position with evaluation, move and result (38 bytes): `cshogi.HuffmanCodedPosAndEval`."""

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
"""Like `hcpe`, with the ply and the length of the game (42 bytes), as written by Apery."""

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
"""YaneuraOu's packed position with evaluation, move, ply and result (40 bytes): `cshogi.PackedSfenValue`."""
