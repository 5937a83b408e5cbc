#!/usr/bin/env python3
"""Reads archives of records with numpy, says what is in them, and writes those that are wanted.

    python3 examples/recipes/numpy_records.py data/sample.psv
    python3 examples/recipes/numpy_records.py data/sample.hcpe --max-abs-eval 2000 --drop-draws -o few.hcpe

A file may be larger than memory: it is mapped, and looked at a piece at a time. Arrays that `kyokumen convert a.psv -o a.npz`
wrote are loaded as a whole.
"""

import argparse
import json

import numpy as np

# The layouts of docs/formats/psv.md and docs/formats/hcpe.md; evaluations are seen from the side to move.
PSV = np.dtype(
    [
        ("packed_sfen", "u1", 32),
        ("eval_cp", "<i2"),
        ("move_yaneuraou", "<u2"),
        ("ply", "<u2"),
        ("result", "i1"),  # of the side to move: 1, 0, -1
        ("padding", "u1"),
    ]
)
HCPE = np.dtype(
    [
        ("hcp", "u1", 32),
        ("eval_cp", "<i2"),
        ("move_apery", "<u2"),
        ("result", "u1"),  # 0 draw, 1 Black won, 2 White won, in the two lowest bits
        ("padding", "u1"),
    ]
)
PIECE = 1 << 20  # records looked at at a time


def open_records(path):
    """The records of a file, none of which is read before it is looked at."""
    layout = PSV if str(path).endswith(".psv") else HCPE
    return np.memmap(path, layout, mode="r")


def pieces(records):
    """The records, so many at a time."""
    for start in range(0, len(records), PIECE):
        yield records[start : start + PIECE]


def white_to_move(records):
    """Both families of packed positions begin with a bit that says whose turn it is."""
    position = records["packed_sfen"] if "packed_sfen" in records.dtype.names else records["hcp"]
    return (position[:, 0] & 1).astype(bool)


def outcome(records):
    """1 where the side to move won the game, -1 where it lost, 0 for a draw."""
    if records.dtype.names == PSV.names:
        return records["result"].astype(np.int8)
    winner = np.array([0, 1, -1, 0], np.int8)[records["result"] & 3]  # as Black sees it
    return np.where(white_to_move(records), -winner, winner)


def is_wanted(records, max_abs_eval, drop_draws):
    """Which of the records to keep. The magnitude of -32768 has no place in 16 bits: compare in 32."""
    wanted = np.ones(len(records), bool)
    if max_abs_eval is not None:
        wanted &= np.abs(records["eval_cp"].astype(np.int32)) <= max_abs_eval
    if drop_draws:
        wanted &= outcome(records) != 0
    return wanted


def of_arrays(path):
    """The same as records of psv or hcpe, for arrays that `kyokumen convert` wrote: a field without an array is 0."""
    with np.load(path) as arrays:
        layout = PSV if "packed_sfen" in arrays else HCPE
        position = arrays[layout.names[0]]
        records = np.zeros(len(position), layout)
        for name in arrays.files:
            if name in layout.names:
                records[name] = arrays[name]
        if layout is HCPE and "result" in arrays:
            # Who won, where arrays say whether the side to move did.
            won = np.where(white_to_move(records), -arrays["result"], arrays["result"])
            records["result"] = np.array([0, 1, 2], np.uint8)[won]
    return records


def figures(records):
    """Some of what `kyokumen stats --json` says, in its words."""
    evals, outcomes, white = [], [], 0
    for piece in pieces(records):
        evals.append(np.array(piece["eval_cp"], np.int64))
        outcomes.append(outcome(piece))
        white += int(white_to_move(piece).sum())
    evals, outcomes = np.concatenate(evals), np.concatenate(outcomes)
    return {
        "records": len(records),
        "to_move": {"black": len(records) - white, "white": white},
        "evals": {"least": int(evals.min()), "most": int(evals.max()), "mean": float(evals.mean())},
        "outcomes": {
            word: int((outcomes == value).sum()) for word, value in (("win", 1), ("draw", 0), ("loss", -1))
        },
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", help=".psv, .hcpe, or .npz from kyokumen convert")
    parser.add_argument("-o", "--output", help="write the records that are wanted")
    parser.add_argument("--max-abs-eval", type=int)
    parser.add_argument("--drop-draws", action="store_true")
    options = parser.parse_args()

    records = of_arrays(options.file) if options.file.endswith(".npz") else open_records(options.file)
    print(json.dumps(figures(records)))
    if options.output:
        with open(options.output, "wb") as output:
            for piece in pieces(records):
                wanted = is_wanted(piece, options.max_abs_eval, options.drop_draws)
                piece[wanted].tofile(output)


if __name__ == "__main__":
    main()
