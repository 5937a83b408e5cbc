#!/usr/bin/env python3
"""Measures the speed figures of docs/python.md: compares the package with numpy and cshogi, in turns, in CPU time of
one core.

    pip install kyokumen cshogi && python python/benches/compare.py games.psv [--program target/release/kyokumen]

Each figure is the median of several turns, and each ratio is a ratio of medians. `loader.py` measures the data loader.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import cshogi
import kyokumen
import numpy as np
from cshogi import dlshogi
from kyokumen import features

TURNS = 7
BATCH = 4096


def in_turns(*works: Callable[[], object]) -> list[float]:
    """The median CPU seconds of each work."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(TURNS):
        for work, taken in zip(works, times, strict=True):
            started = time.process_time()
            work()
            taken.append(time.process_time() - started)
    return [statistics.median(taken) for taken in times]


def report(work: str, amount: float, unit: str, mine: float, theirs: float | None = None, name: str = "") -> None:
    line = f"{work:34} {amount / mine:14,.0f} {unit}"
    if theirs is not None:
        line += f"   {name} {amount / theirs:12,.0f}   {theirs / mine:6.2f} x"
    print(line, flush=True)


def arrays(path: Path) -> None:
    # Opening an archive also detects its move encoding and is therefore measured in a separate row.
    with tempfile.TemporaryDirectory() as folder:
        large = Path(folder) / "large.psv"
        large.write_bytes(40 * path.read_bytes())
        archive = kyokumen.open(large)
        dtype, records = archive.numpy().dtype, len(archive)
        mine, theirs, opened = in_turns(
            lambda: archive.numpy()["score"].sum(dtype=np.int64),
            lambda: np.memmap(large, dtype, "r")["score"].sum(dtype=np.int64),
            lambda: kyokumen.open(large),
        )
    report("array of psv, and a sum over it", records, "records/s", mine, theirs, "numpy.memmap")
    print(f"{'opening it':34} {1000 * opened:14.1f} ms")


def by_cshogi(records: np.ndarray, f1: np.ndarray, f2: np.ndarray, moves: np.ndarray, values: np.ndarray) -> None:
    board = cshogi.Board()
    f1.fill(0)
    f2.fill(0)
    for i, record in enumerate(records):
        board.set_psfen(record["sfen"])
        dlshogi.make_input_features(board, f1[i], f2[i])
        moves[i] = dlshogi.make_move_label(board.move_from_psv(int(record["move"])), board.turn)
        values[i] = 1 / (1 + np.exp(-record["score"] / 756.0864962951762))


def planes(path: Path) -> None:
    records = kyokumen.open(path).numpy()
    records = records[np.random.default_rng(1).choice(len(records), BATCH, replace=False)]
    dlshogi.use_nyugyoku_features(False)
    theirs = (
        np.empty((BATCH, 62, 9, 9), np.float32),
        np.empty((BATCH, 57, 9, 9), np.float32),
        np.empty(BATCH, np.int64),
        np.empty(BATCH, np.float32),
    )
    out32 = (np.empty_like(theirs[0]), np.empty_like(theirs[1]))
    out16 = (theirs[0].astype(np.float16), theirs[1].astype(np.float16))

    def encode(**options: object) -> None:
        features.dlshogi(records, threads=1, **options)
        features.dlshogi_labels(records, threads=1)

    f32, f16, bits, cshogis = in_turns(
        lambda: encode(out=out32),
        lambda: encode(out=out16),
        lambda: encode(dtype="bits"),
        lambda: by_cshogi(records, *theirs),
    )
    assert (theirs[0] == out32[0]).all() and (theirs[1] == out32[1]).all(), "planes differ"
    for name, mine in (("f32", f32), ("f16", f16), ("bits", bits)):
        report(f"planes + label + value, {name}", BATCH, "positions/s", mine, cshogis, "cshogi")
    halfkp, halfka = in_turns(
        lambda: features.halfkp(records, threads=1), lambda: features.halfka_hm(records, threads=1)
    )
    report("HalfKP, both sides", BATCH, "positions/s", halfkp)
    report("HalfKA_hm, both sides", BATCH, "positions/s", halfka)


def legal_moves(path: Path) -> None:
    sfens = list(kyokumen.open(path)[:20000].sfens())[::10]
    mine = [kyokumen.Position(sfen) for sfen in sfens]
    theirs = [cshogi.Board(sfen) for sfen in sfens]
    ours, cshogis = in_turns(
        lambda: [position.legal_moves for position in mine for _ in range(5)],
        lambda: [list(board.legal_moves) for board in theirs for _ in range(5)],
    )
    report("Position.legal_moves", 5 * len(sfens), "calls/s", ours, cshogis, "cshogi")


def imports() -> None:
    code = "import time; t = time.process_time(); import kyokumen; print(time.process_time() - t)"
    times = [float(subprocess.run([sys.executable, "-c", code], capture_output=True).stdout) for _ in range(15)]
    print(f"{'import kyokumen':34} {1000 * statistics.median(times):14.1f} ms")


def solving(path: Path, program: Path) -> None:
    import resource

    with tempfile.TemporaryDirectory() as folder:
        few = Path(folder) / "few.psv"
        kyokumen.convert(path, few, limit=2000)
        options = ["--nodes", "20000", "--threads", "1", "--hash-mb", "64", "--json"]

        def outside() -> float:
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([program, "solve", few, *options], check=True, stdout=subprocess.DEVNULL)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

        def inside() -> float:
            started = time.process_time()
            kyokumen.solve_many(kyokumen.open(few), nodes=20000, threads=1, hash_mb=64)
            return time.process_time() - started

        pairs = [(inside(), outside()) for _ in range(5)]
        mine, theirs = (statistics.median(times) for times in zip(*pairs, strict=True))
        report("solve_many", 2000, "positions/s", mine, theirs, "kyokumen solve")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive", type=Path, help="psv")
    parser.add_argument("--program", type=Path, help="kyokumen program, to compare with solve_many")
    args = parser.parse_args()
    imports()
    arrays(args.archive)
    planes(args.archive)
    legal_moves(args.archive)
    if args.program:
        solving(args.archive, args.program)


if __name__ == "__main__":
    main()
