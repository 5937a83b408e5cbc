#!/usr/bin/env python3
"""Compares the filters of `kyokumen convert` with the same conditions in a few lines of Python.

The kept records must be copied byte for byte, and their number must equal the report. cshogi evaluates conditions on
positions. The records are `data/sample.psv` and, if it exists, `dev_engine.psv` of a data folder.

Exit status 0: all equal, 1: a difference, 2: something is missing.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import cshogi
import numpy as np

from comparing import compare_files


def sample(records, probability, seed):
    """For each record, whether its number of SplitMix64 after the seed is below the probability times 2^64."""
    mask, taken = 2**64 - 1, []
    for n in range(len(records)):
        z = (seed + (n + 1) * 0x9E3779B97F4A7C15) & mask
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & mask
        z = (z ^ z >> 27) * 0x94D049BB133111EB & mask
        taken.append((z ^ z >> 31) < int(probability * 2**64))
    return np.array(taken, bool)


def conditions(records):
    """Options, each with the records that it must keep."""
    evals, plies = records["score"].astype(int), records["gamePly"]
    white = records["sfen"][:, 0] & 1 == 1
    winner = records["game_result"] * np.where(white, -1, 1)  # 1 black, -1 white
    check, legal, quiet, captures, promotes, checks = (np.zeros(len(records), bool) for _ in range(6))
    board = cshogi.Board()
    for i, record in enumerate(records):
        board.set_psfen(record["sfen"])
        check[i] = board.is_check()
        move = board.move_from_psv(int(record["move"]))
        legal[i] = record["move"] != 0 and board.is_legal(move)
        if legal[i]:
            captures[i] = not cshogi.move_is_drop(move) and board.piece(cshogi.move_to(move)) != cshogi.NONE
            promotes[i] = cshogi.move_is_promotion(move)
            board.push(move)
            checks[i] = board.is_check()
            board.pop()
            quiet[i] = not (check[i] or captures[i] or promotes[i] or checks[i])
    first = np.zeros(len(records), bool)
    first[np.unique(records["sfen"], axis=0, return_index=True)[1]] = True
    numbers = np.arange(len(records))
    yield ["--max-abs-eval", "499"], abs(evals) < 500
    yield ["--min-abs-eval", "500"], abs(evals) >= 500
    contradicts = (abs(evals) >= 300) & (np.sign(evals) * records["game_result"] < 0)
    assert quiet.any()
    yield ["--drop-contradictions", "300"], ~contradicts
    yield ["--quiet"], quiet
    yield ["--drop-captures"], legal & ~captures
    yield ["--drop-promotions"], legal & ~promotes
    yield ["--drop-checks"], legal & ~checks
    yield ["--min-ply", "20", "--max-ply", "60"], (plies >= 20) & (plies <= 60)
    yield ["--result", "black"], winner == 1
    yield ["--result", "white,draw"], winner != 1
    yield ["--has-move"], records["move"] != 0
    yield ["--legal-move"], legal
    yield ["--drop-in-check"], ~check
    yield ["--every", "7"], numbers % 7 == 0
    yield ["--sample", "0.3", "--seed", "11"], sample(records, 0.3, 11)
    yield ["--dedup"], first
    yield (
        ["--max-abs-eval", "800", "--result", "black,white", "--drop-in-check", "--sample", "0.5"],
        (abs(evals) <= 800) & (winner != 0) & ~check & sample(records, 0.5, 1),
    )


def compare(kyokumen, path):
    """The number of filters that keep other records than expected."""
    records = np.fromfile(path, cshogi.PackedSfenValue)
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for i, (options, expected) in enumerate(conditions(records)):
            made = pathlib.Path(folder) / f"{i}.psv"
            command = [kyokumen, "convert", path, "-o", made, "--json", "--progress", "none"]
            done = subprocess.run(command + options, capture_output=True, text=True, check=False)
            counts = json.loads(done.stdout)["counts"] if done.returncode == 0 else done.stderr
            is_equal = (
                done.returncode == 0
                and made.read_bytes() == records[expected].tobytes()
                and counts["written"] == expected.sum()
                and sum(counts["filtered"].values()) == (~expected).sum()
            )
            failures += not is_equal
            name = f"{path.name} {' '.join(options)}: {expected.sum()} of {len(records)}"
            print(f"equal   {name}" if is_equal else f"DIFFERS {name}\n    {counts}")
    return failures


if __name__ == "__main__":
    sys.exit(compare_files(__doc__, compare, "filters"))
