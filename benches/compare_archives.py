#!/usr/bin/env python3
"""Compares `kyokumen shuffle` and `dedup` with numpy on the same file, in turns.

numpy holds the whole file in memory and uses one thread. Kyokumen uses all cores. Some runs have a memory limit of a
quarter of the file size. All outputs are flushed to disk. TMPDIR is the folder of the files: use a folder in memory to
measure the work, because the disk often limits the speed.

Prints Markdown, medians of the rounds in millions of records per second.

    python3 -m venv .venv && .venv/bin/pip install -r tests/interop/requirements.txt
    cargo build --release && .venv/bin/python benches/compare_archives.py
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
RECORD = np.dtype("V32")
OUTPUTS = ["out.hcp", "out.hcp.manifest.json", "numpy.hcp"]


def main():
    args = arguments()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        subprocess.run(
            [args.kyokumen, "generate", "--count", str(args.count), "-o", folder / "in.hcp"],
            check=True, capture_output=True,
        )
        quarter = str(args.count * RECORD.itemsize // 4)
        works = {
            "shuffle": [("Kyokumen", by_kyokumen("shuffle")), ("numpy", by_numpy(shuffled))],
            "shuffle, a quarter of the memory": [("Kyokumen", by_kyokumen("shuffle", "--memory", quarter))],
            "dedup --key bytes": [("Kyokumen", by_kyokumen("dedup", "--key", "bytes")), ("numpy", by_numpy(unique))],
            "dedup --key bytes, a quarter": [("Kyokumen", by_kyokumen("dedup", "--key", "bytes", "--memory", quarter))],
            "dedup --key position": [("Kyokumen", by_kyokumen("dedup"))],
            "dedup --key position, a quarter": [("Kyokumen", by_kyokumen("dedup", "--memory", quarter))],
        }
        times = {}
        for _ in range(args.rounds):
            for work, programs in works.items():
                for name, do in programs:
                    times.setdefault((work, name), []).append(timed(do, args, folder))
        print("| 10\u2076 records/s | Kyokumen | numpy | |\n|---|--:|--:|--:|")
        for work in works:
            ours, theirs = (rate(args.count, times.get((work, name))) for name in ("Kyokumen", "numpy"))
            peer = f"{theirs:.1f} | {ours / theirs:.1f} \u00d7" if theirs else " | "
            print(f"| {work} | {ours:.1f} | {peer} |")


def rate(count, times):
    return count / statistics.median(times) / 1e6 if times else None


def timed(do, args, folder):
    # Removing the outputs of an earlier round is not measured.
    for name in OUTPUTS:
        (folder / name).unlink(missing_ok=True)
    started = time.perf_counter()
    do(args, folder)
    return time.perf_counter() - started


def by_kyokumen(command, *more):
    def do(args, folder):
        line = [args.kyokumen, command, "in.hcp", "-o", "out.hcp", "--tmp-dir", ".", *more]
        subprocess.run(line, cwd=folder, check=True, capture_output=True)

    return do


def by_numpy(make):
    def do(_, folder):
        records = make(np.fromfile(folder / "in.hcp", RECORD))
        with open(folder / "numpy.hcp", "wb") as file:
            records.tofile(file)
            file.flush()
            os.fsync(file.fileno())

    return do


def shuffled(records):
    return records[np.random.default_rng(1).permutation(len(records))]


def unique(records):
    _, first = np.unique(records, return_index=True)
    return records[np.sort(first)]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--kyokumen", default=ROOT / "target/release/kyokumen", type=pathlib.Path)
    parser.add_argument("--count", default=5_000_000, type=int)
    parser.add_argument("--rounds", default=5, type=int)
    return parser.parse_args()


if __name__ == "__main__":
    main()
