#!/usr/bin/env python3
"""Compares the packed codecs of Kyokumen and cshogi on positions of random games, in turns on the same core.

`kyokumen-bench formats` measures Kyokumen. The times of cshogi include the calls from Python, the only way to use it.

Prints Markdown, medians of the rounds in millions of records per second.

    python3 -m venv .venv && .venv/bin/pip install -r tests/interop/requirements.txt
    cargo build --release && cargo build --release -p kyokumen-benches
    .venv/bin/python benches/compare_formats.py
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile
import time

import cshogi
import numpy as np

from measuring import pin_to_one_core

ROOT = pathlib.Path(__file__).resolve().parents[1]


def main():
    args = arguments()
    pin_to_one_core()
    with tempfile.TemporaryDirectory() as folder:
        hcp, psv = (generated(args, pathlib.Path(folder) / name) for name in ("positions.hcp", "positions.psv"))
    hcps = np.frombuffer(hcp, cshogi.HuffmanCodedPos)
    sfens = np.frombuffer(psv, cshogi.PackedSfenValue)["sfen"]
    ours, theirs = [], []
    for _ in range(args.rounds):
        ours.append(measure_ours(args))
        theirs.append(measure_theirs(hcps, sfens))
    print("| 10⁶ records/s | Kyokumen | cshogi | |\n|---|--:|--:|--:|")
    for work in ours[0]:
        a, b = (statistics.median(figures[work] for figures in all_rounds) for all_rounds in (ours, theirs))
        print(f"| {work} | {a / 1e6:.2f} | {b / 1e6:.2f} | {a / b:.1f} × |")


def generated(args, path):
    command = [args.kyokumen, "generate", "--count", str(args.count), "--seed", "1", "-o", path]
    subprocess.run(command, check=True, capture_output=True)
    return path.read_bytes()


def measure_ours(args):
    command = [args.bench, "formats", "--formats", "hcp,psv", "--json", "--count", str(args.count)]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    figures = {}
    for figure in map(json.loads, lines):
        # Compared with the decoding to a legal position, because cshogi's boards have the same content.
        figures[f"{figure['format']} to a position"] = figure["legal_per_s"]
        figures[f"{figure['format']} of a position"] = figure["encode_per_s"]
    return figures


def measure_theirs(hcps, sfens):
    board = cshogi.Board()
    boards = []
    hcps, sfens = (np.split(records, len(records)) for records in (hcps, sfens))
    for hcp in hcps[:: max(1, len(hcps) // 10_000)]:
        position = cshogi.Board()
        position.set_hcp(hcp)
        boards.append(position)
    hcp, sfen = np.zeros(1, cshogi.HuffmanCodedPos), np.zeros(1, cshogi.PackedSfenValue)
    return {
        "hcp to a position": per_second(board.set_hcp, hcps),
        "hcp of a position": per_second(lambda position: position.to_hcp(hcp), boards),
        "psv to a position": per_second(board.set_psfen, sfens),
        "psv of a position": per_second(lambda position: position.to_psfen(sfen["sfen"]), boards),
    }


def per_second(work, items):
    begin = time.perf_counter()
    for item in items:
        work(item)
    return len(items) / (time.perf_counter() - begin)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--kyokumen", default=ROOT / "target" / "release" / "kyokumen")
    parser.add_argument("--bench", default=ROOT / "target" / "release" / "kyokumen-bench")
    parser.add_argument("--count", type=int, default=200_000, help="positions [%(default)s]")
    parser.add_argument("--rounds", type=int, default=3, help="rounds; the median counts [%(default)s]")
    return parser.parse_args()


if __name__ == "__main__":
    main()
