#!/usr/bin/env python3
"""Reads archives of records with numpy, prints statistics and writes selected records.

    python3 examples/recipes/numpy_records.py data/sample.psv
    python3 examples/recipes/numpy_records.py data/sample.hcpe --max-abs-eval 2000 --drop-draws -o few.hcpe

A file may be larger than memory, because it is memory-mapped and processed in blocks. Arrays from `kyokumen convert
a.psv -o a.npz` are loaded as a whole.
"""

import argparse
import json

import numpy as np

# The layouts of docs/formats/psv.md and docs/formats/hcpe.md. Evaluations are seen from the side to move.
PSV = np.dtype(
    [
        ("packed_sfen", "u1", 32),
        ("eval_cp", "<i2"),
        ("move_yaneuraou", "<u2"),
        ("ply", "<u2"),
        ("result", "i1"),  # for the side to move: 1 win, 0 draw, -1 loss
        ("padding", "u1"),
    ]
)
HCPE = np.dtype(
    [
        ("hcp", "u1", 32),
        ("eval_cp", "<i2"),
        ("move_apery", "<u2"),
        ("result", "u1"),  # two lowest bits: 0 draw, 1 Black won, 2 White won
        ("padding", "u1"),
    ]
)
BLOCK = 1 << 20  # records in a block


def open_records(path):
    """Memory-maps the records of a file."""
    layout = PSV if str(path).endswith(".psv") else HCPE
    return np.memmap(path, layout, mode="r")


def blocks(records):
    """Iterates over blocks of records."""
    for start in range(0, len(records), BLOCK):
        yield records[start : start + BLOCK]


def white_to_move(records):
    """Whether White is to move. It is the first bit of both kinds of packed positions."""
    position = records["packed_sfen"] if "packed_sfen" in records.dtype.names else records["hcp"]
    return (position[:, 0] & 1).astype(bool)


def outcome(records):
    """The result for the side to move: 1 for a win, -1 for a loss, 0 for a draw."""
    if records.dtype.names == PSV.names:
        return records["result"].astype(np.int8)
    winner = np.array([0, 1, -1, 0], np.int8)[records["result"] & 3]  # seen from Black
    return np.where(white_to_move(records), -winner, winner)


def is_wanted(records, max_abs_eval, drop_draws):
    """Marks the records to keep. Evaluations are compared in 32 bits, because abs(-32768) does not fit into 16 bits."""
    wanted = np.ones(len(records), bool)
    if max_abs_eval is not None:
        wanted &= np.abs(records["eval_cp"].astype(np.int32)) <= max_abs_eval
    if drop_draws:
        wanted &= outcome(records) != 0
    return wanted


def load_arrays(path):
    """Converts arrays of `kyokumen convert` to psv or hcpe records. A field without an array is 0."""
    with np.load(path) as arrays:
        layout = PSV if "packed_sfen" in arrays else HCPE
        position = arrays[layout.names[0]]
        records = np.zeros(len(position), layout)
        for name in arrays.files:
            if name in layout.names:
                records[name] = arrays[name]
        if layout is HCPE and "result" in arrays:
            # The arrays have the result for the side to move, hcpe has the winner.
            for_black = np.where(white_to_move(records), -arrays["result"], arrays["result"])
            records["result"] = np.array([0, 1, 2], np.uint8)[for_black]
    return records


def statistics(records):
    """Some statistics of `kyokumen stats --json`, with the same keys."""
    evals, outcomes, white = [], [], 0
    for block in blocks(records):
        evals.append(np.array(block["eval_cp"], np.int64))
        outcomes.append(outcome(block))
        white += int(white_to_move(block).sum())
    evals, outcomes = np.concatenate(evals), np.concatenate(outcomes)
    return {
        "records": len(records),
        "to_move": {"black": len(records) - white, "white": white},
        "evals": {"least": int(evals.min()), "most": int(evals.max()), "mean": float(evals.mean())},
        "outcomes": {
            name: int((outcomes == value).sum()) for name, value in (("win", 1), ("draw", 0), ("loss", -1))
        },
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", help=".psv, .hcpe, or .npz from kyokumen convert")
    parser.add_argument("-o", "--output", help="file for the selected records")
    parser.add_argument("--max-abs-eval", type=int)
    parser.add_argument("--drop-draws", action="store_true")
    options = parser.parse_args()

    records = load_arrays(options.file) if options.file.endswith(".npz") else open_records(options.file)
    print(json.dumps(statistics(records)))
    if options.output:
        with open(options.output, "wb") as output:
            for block in blocks(records):
                wanted = is_wanted(block, options.max_abs_eval, options.drop_draws)
                block[wanted].tofile(output)


if __name__ == "__main__":
    main()
