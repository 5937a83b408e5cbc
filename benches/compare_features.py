#!/usr/bin/env python3
"""Compares the speed of input planes with cshogi.dlshogi, in positions per second on one core, in turns.

    cargo build --release -p kyokumen-network --features half --examples
    .venv/bin/python benches/compare_features.py

cshogi is called from Python and writes into numpy arrays. Its boards are set up before the time is measured.
"""

import argparse
import pathlib
import random
import statistics
import subprocess
import sys
import time

import cshogi
import numpy as np
from cshogi import dlshogi

ROOT = pathlib.Path(__file__).resolve().parents[1]


def boards(count):
    numbers = random.Random(18)
    board = cshogi.Board()
    boards = []
    while len(boards) < count:
        moves = list(board.legal_moves)
        if not moves or board.move_number > 200:
            board = cshogi.Board()
            continue
        board.push(numbers.choice(moves))
        boards.append(cshogi.Board(board.sfen()))
    return boards


def theirs(positions, planes, rounds):
    dlshogi.use_nyugyoku_features(planes == 119)
    input1 = np.zeros((62, 9, 9), np.float32)
    input2 = np.zeros((planes, 9, 9), np.float32)
    start = time.perf_counter()
    for _ in range(rounds):
        for board in positions:
            # make_input_features clears only the first 57 planes.
            if planes == 119:
                input2.fill(0)
            dlshogi.make_input_features(board, input1, input2)
    return rounds * len(positions) / (time.perf_counter() - start)


def ours(program, planes):
    done = subprocess.run([program, "400000", str(planes)], check=True, capture_output=True, text=True)
    return {kind: float(rate) for kind, rate in (line.split() for line in done.stdout.splitlines())}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--program", type=pathlib.Path, default=ROOT / "target/release/examples/features_speed"
    )
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    positions = boards(2048)
    for planes in (57, 119):
        rates = {}
        for _ in range(options.rounds):
            rates.setdefault("cshogi", []).append(theirs(positions, planes, 10))
            for kind, rate in ours(options.program, planes).items():
                rates.setdefault(kind, []).append(rate)
        medians = {kind: statistics.median(values) for kind, values in rates.items()}
        for kind in medians.keys() - {"cshogi"}:
            ratio = statistics.median(a / b for a, b in zip(rates[kind], rates["cshogi"]))
            print(
                f"{planes} planes, {kind}: {medians[kind]:,.0f} positions/s, "
                f"cshogi {medians['cshogi']:,.0f}: {ratio:.1f} times"
            )


if __name__ == "__main__":
    sys.exit(main())
