#!/usr/bin/env python3
"""Compares the figures of `kyokumen stats` with those that numpy and cshogi count in the same records.

`data/sample.psv` is always compared, the `dev_engine.psv` of a data folder if it is there.

Exit status 0: all equal, 1: a difference, 2: something is missing.
"""

import json
import subprocess
import sys

import cshogi
import numpy as np

from comparing import compare_files


def expected(records):
    """Names of figures with their values."""
    evals, plies = records["score"].astype(int), records["gamePly"].astype(int)
    outcomes = records["game_result"]
    board, check, captures, drops, promotions = cshogi.Board(), 0, 0, 0, 0
    in_hand = np.zeros(7, int)
    for record in records:
        board.set_psfen(record["sfen"])
        check += board.is_check()
        move = board.move_from_psv(int(record["move"]))
        drops += cshogi.move_is_drop(move)
        promotions += cshogi.move_is_promotion(move)
        captures += not cshogi.move_is_drop(move) and board.piece(cshogi.move_to(move)) != 0
        for hand in board.pieces_in_hand:
            in_hand += np.array(hand)
    # cshogi orders hands P L N S G B R.
    yield "pieces.in_hand", dict(zip("PLNSGBR", map(int, in_hand)))
    yield "records", len(records)
    yield "distinct.positions", len(np.unique(records["sfen"], axis=0))
    yield "in_check", check
    yield "moves.captures", captures
    yield "moves.drops", drops
    yield "moves.promotions", promotions
    yield "outcomes", {
        "win": int((outcomes == 1).sum()),
        "draw": int((outcomes == 0).sum()),
        "loss": int((outcomes == -1).sum()),
    }
    for name, numbers in (("evals", evals), ("plies", plies)):
        yield f"{name}.least", int(numbers.min())
        yield f"{name}.most", int(numbers.max())
        yield f"{name}.mean", float(numbers.mean())
        yield f"{name}.deviation", float(numbers.std())
        for percent in (1, 25, 50, 99):
            value = np.percentile(numbers, percent, method="inverted_cdf")
            yield f"{name}.percentiles.p{percent}", int(value)


def compare(kyokumen, path):
    """The number of figures that differ."""
    command = [kyokumen, "stats", path, "--json", "--progress", "none"]
    report = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    failures = 0
    for name, value in expected(np.fromfile(path, cshogi.PackedSfenValue)):
        told = report
        for part in name.split("."):
            told = told[part]
        is_equal = np.isclose(told, value) if isinstance(value, float) else told == value
        failures += not is_equal
        print(f"{'equal  ' if is_equal else 'DIFFERS'} {path.name} {name}: {told}, expected {value}")
    return failures


if __name__ == "__main__":
    sys.exit(compare_files(__doc__, compare, "figures"))
