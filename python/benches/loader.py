#!/usr/bin/env python3
"""Measures the data loader on an archive larger than memory, and compares it with torch's DataLoader over
numpy.memmap with cshogi's functions.

    python python/benches/loader.py games.psv --records 20000000 [--torch PYTHON] [--seconds 20]

The package repeats and shuffles the records into a temporary file. Each row is a separate process that reads one epoch
with two threads or workers and batches of 4,096. A row has the positions per second of wall-clock time and of CPU time
(all cores together), the anonymous memory of the process after a tenth, a half and all of the epoch, and the peak
memory that the system counts (VmHWM, with pages of the mapped file). Run it in a control group to limit the memory.

`--torch` is a Python interpreter with PyTorch, cshogi and numpy. Its row ends after `--seconds`.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

BATCH = 4096
FEATURES: dict[str, dict[str, Any]] = {
    "bits": {"dtype": "bits"},
    "f16": {"dtype": "float16"},
    "f32": {},
    "halfka_hm": {"features": "halfka_hm"},
    "halfkp": {"features": "halfkp"},
}


def memory(field: str) -> int:
    """A memory field of this process in MiB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) >> 10 for line in lines if line.startswith(field + ":"))


def measured(batches: Generator[int], records: int, seconds: float | None) -> dict[str, Any]:
    seen, own, next_look = 0, [], 0.1
    started, cpu = time.monotonic(), time.process_time()
    for size in batches:
        seen += size
        if seen >= next_look * records:
            own.append(memory("RssAnon"))
            next_look += 0.1
        if seconds is not None and time.monotonic() - started > seconds:
            break
    taken = time.monotonic() - started
    # CPU time of workers is counted only after they have ended.
    batches.close()
    cpu = time.process_time() - cpu + sum(os.times()[2:4])
    return {"seen": seen, "rate": seen / taken, "cpu_rate": seen / cpu, "own": own, "most": memory("VmHWM")}


def by_kyokumen(path: Path, options: dict[str, Any]) -> dict[str, Any]:
    import kyokumen

    loader = kyokumen.DataLoader(path, BATCH, threads=2, **options)
    return measured((len(batch["index"]) for batch in loader), loader.records, None)


def by_torch(path: Path, seconds: float) -> dict[str, Any]:
    import cshogi
    import numpy as np
    import torch
    from cshogi import dlshogi

    class Batches(torch.utils.data.Dataset):  # type: ignore[misc]
        """Returns whole batches, which is the fastest way."""

        def __init__(self) -> None:
            self.records = np.memmap(path, cshogi.PackedSfenValue, "r")

        def __len__(self) -> int:
            return len(self.records)

        def __getitem__(self, numbers: list[int]) -> tuple[Any, ...]:
            board, records = cshogi.Board(), self.records[numbers]
            f1 = np.zeros((len(records), 62, 9, 9), np.float32)
            f2 = np.zeros((len(records), 57, 9, 9), np.float32)
            moves = np.empty(len(records), np.int64)
            for i, record in enumerate(records):
                board.set_psfen(record["sfen"])
                dlshogi.make_input_features(board, f1[i], f2[i])
                moves[i] = dlshogi.make_move_label(board.move_from_psv(int(record["move"])), board.turn)
            values = 1 / (1 + np.exp(-records["score"] / 756.0864962951762))
            return f1, f2, moves, records["game_result"] / 2 + 0.5, values

    dataset = Batches()
    # With replacement, because a permutation of all records would be a list of Python numbers of about 700 MB.
    numbers = torch.utils.data.RandomSampler(dataset, replacement=True)
    sampler = torch.utils.data.BatchSampler(numbers, BATCH, drop_last=False)
    loader = torch.utils.data.DataLoader(dataset, batch_size=None, sampler=sampler, num_workers=2)
    return measured((len(batch[0]) for batch in loader), len(dataset), seconds)


def row(name: str, command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        print(f"{name:12} failed with {done.returncode}: {done.stderr.strip().splitlines()[-1:]}", flush=True)
        return
    result = json.loads(done.stdout)
    own = result["own"]
    spread = f"{own[0]} / {own[len(own) // 2]} / {own[-1]}" if own else "–"
    print(
        f"{name:12} {result['seen']:12,} positions {result['rate']:12,.0f}/s {result['cpu_rate']:12,.0f} per CPU second   "
        f"anonymous memory {spread} MiB   peak {result['most']} MiB",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive", type=Path, help="psv")
    parser.add_argument("--records", type=int, default=20_000_000)
    parser.add_argument("--torch", type=Path, metavar="PYTHON")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--tmp-dir", type=Path)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        works: dict[str, Callable[[], dict[str, Any]]] = {"torch": lambda: by_torch(args.archive, args.seconds)}
        work = works.get(args.one, lambda: by_kyokumen(args.archive, FEATURES[args.one]))
        print(json.dumps(work()))
        return
    import kyokumen

    with tempfile.TemporaryDirectory(dir=args.tmp_dir) as folder:
        large = Path(folder) / "large.psv"
        copies = -(-args.records // len(kyokumen.open(args.archive)))
        started = time.monotonic()
        report = kyokumen.shuffle([args.archive] * copies, large, seed=1, memory="256M", tmp_dir=folder)
        print(f"{report.counts.written:,} records shuffled in {time.monotonic() - started:.1f} s", flush=True)
        for name in FEATURES:
            row(name, [sys.executable, __file__, str(large), "--one", name])
        if args.torch:
            command = [str(args.torch), __file__, str(large), "--one", "torch", "--seconds", str(args.seconds)]
            row("torch", command)


if __name__ == "__main__":
    main()
