#!/usr/bin/env python3
"""Compares the figures of `kyokumen stats` with counts by numpy and cshogi.

The records are `data/sample.psv`, also with random evaluations that fit its results, and, if it exists,
`dev_engine.psv` of a data folder. The scale of the win rates is compared with a fit by numpy, squares with cshogi.

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


SQUARES = ("own_king", "opponent_king", "black_king", "white_king", "moves_to", "drops_to")


def scale(evals, outcomes):
    """The figures of the scale, by iteratively reweighted least squares over the records one by one."""
    used = np.abs(evals) < 29000
    x, y = evals[used].astype(float), (outcomes[used] + 1) / 2
    yield "eval_scale.records", int(used.sum())
    yield "eval_scale.mates", int((~used).sum())
    yield "eval_scale.eval_0", int((x == 0).sum())
    if not x.any():
        yield "eval_scale.why_none", "no_evals"
        return
    coefficient = 0.0
    for _ in range(50):
        rate = 1 / (1 + np.exp(-coefficient * x))
        weight = rate * (1 - rate)
        # The working response of a logistic regression, without dividing by weights that are nearly 0.
        coefficient = (coefficient * (weight * x * x).sum() + (x * (y - rate)).sum()) / (weight * x * x).sum()
    error = 1 / np.sqrt((weight * x * x).sum())
    yield "eval_scale.scale_cp", float(1 / coefficient)
    yield "eval_scale.low_cp", float(1 / (coefficient + 1.959963984540054 * error))
    if coefficient > 1.959963984540054 * error:
        yield "eval_scale.high_cp", float(1 / (coefficient - 1.959963984540054 * error))
    loss = -(y * np.log(rate) + (1 - y) * np.log1p(-rate)).mean()
    yield "eval_scale.log_loss", float(loss)


def expected(records):
    """The names of the figures with their expected values."""
    evals, plies = records["score"].astype(int), records["gamePly"].astype(int)
    outcomes = records["game_result"]
    board, check, captures, drops, promotions = cshogi.Board(), 0, 0, 0, 0
    in_hand = np.zeros(7, int)
    squares = {name: np.zeros(81, int) for name in SQUARES}
    for record in records:
        board.set_psfen(record["sfen"])
        check += board.is_check()
        move = board.move_from_psv(int(record["move"]))
        drops += cshogi.move_is_drop(move)
        promotions += cshogi.move_is_promotion(move)
        captures += not cshogi.move_is_drop(move) and board.piece(cshogi.move_to(move)) != 0
        for hand in board.pieces_in_hand:
            in_hand += np.array(hand)
        kings = [board.king_square(color) for color in (cshogi.BLACK, cshogi.WHITE)]
        squares["black_king"][kings[0]] += 1
        squares["white_king"][kings[1]] += 1
        seen = (lambda square: square) if board.turn == cshogi.BLACK else (lambda square: 80 - square)
        squares["own_king"][seen(kings[board.turn])] += 1
        squares["opponent_king"][seen(kings[1 - board.turn])] += 1
        kind = "drops_to" if cshogi.move_is_drop(move) else "moves_to"
        squares[kind][seen(cshogi.move_to(move))] += 1
    for name, counts in squares.items():
        yield f"squares.{name}", counts.tolist()
    yield from scale(evals, outcomes)
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
    records = np.fromfile(path, cshogi.PackedSfenValue)
    failures = compare_records(kyokumen, path, records)
    if (records["score"] == 0).all():
        random = np.random.default_rng(1)
        records["score"] = random.normal(300 * records["game_result"].astype(float), 800)
        records["score"][::97] = 29_000
        records["score"][1::97] = -32_000
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "with_evaluations.psv"
            records.tofile(path)
            failures += compare_records(kyokumen, path, records)
    return failures


def compare_records(kyokumen, path, records):
    command = [kyokumen, "stats", path, "--json", "--progress", "none"]
    report = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    failures = 0
    for name, value in expected(records):
        found = report
        for part in name.split("."):
            found = found[part]
        is_equal = np.isclose(found, value, rtol=1e-9) if isinstance(value, float) else found == value
        failures += not is_equal
        print(f"{'equal  ' if is_equal else 'DIFFERS'} {path.name} {name}: {found}, expected {value}")
    return failures


if __name__ == "__main__":
    sys.exit(compare_files(__doc__, compare, "figures"))
