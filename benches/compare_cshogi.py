#!/usr/bin/env python3
"""Compares the search of Kyokumen with cshogi's DfPn: the same positions, limits, core and minutes.

Reads files with an SFEN in the first column and, if known, `mate`, `none` or `open` in the second. Both
programs answer one question, whether the side to move mates, with the same limits of depth and nodes and
one thread. They take turns on every file; the median of the rounds counts. Neither the start of a process
nor the reading of files is in the figures: of Kyokumen the sum of `elapsed_ms` of its answers, of cshogi the
time around `search`. What they mean by a node differs, so the limits are alike and not equal.

Exit status 0: no known verdict is wrong, 1: one is, 2: something is missing.

    python3 -m venv .venv && .venv/bin/pip install -r tests/interop/requirements.txt
    cargo build --release && .venv/bin/python benches/compare_cshogi.py FILE.tsv…
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data"
DEFAULT_FILES = [DATA / f"bench_{name}.tsv" for name in ("games", "engine", "random")]

# What either program may say about a position.
MATE, NO_MATE, UNKNOWN = "mate", "none", "unknown"


def main():
    args = arguments()
    files = args.files or [path for path in DEFAULT_FILES if path.is_file()]
    if not files:
        sys.exit(missing("no files given and none in ../shared/data"))
    programs = {
        "kyokumen": lambda rows: kyokumen(args, rows),
        "cshogi": lambda rows: cshogi_df_pn(args, rows),
    }
    print(f"depth {args.depth}, {args.nodes} nodes, median of {args.rounds} rounds, one core")
    header = f"{'positions/s':>11} {'mates':>6} {'unknown':>8} {'wrong':>6} {'ratio':>6}"
    print(f"{'file':<20} {'program':<9} {header}")
    wrong = 0
    for file in files:
        rows = read(file)
        seconds, verdicts = compare(programs, rows, args.rounds)
        for name in programs:
            counts = count(verdicts[name], rows)
            wrong += counts["wrong"] if name == "kyokumen" else 0
            ratio = seconds["cshogi"] / seconds[name]
            print(
                f"{file.stem:<20} {name:<9} {len(rows) / seconds[name]:>11.1f} {counts['mates']:>6}"
                f" {counts['unknown']:>8} {counts['wrong']:>6} {ratio:>6.2f}"
            )
    return 1 if wrong else 0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=pathlib.Path, metavar="FILE.tsv")
    parser.add_argument("--depth", type=int, default=31, help="limit of depth, in plies")
    parser.add_argument("--nodes", type=int, default=100_000, help="limit of nodes of one search")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kyokumen", type=pathlib.Path, default=ROOT / "target/release/kyokumen")
    args = parser.parse_args()
    if not args.kyokumen.is_file():
        sys.exit(missing(f"{args.kyokumen}: build it with cargo build --release"))
    return args


def missing(what):
    print(what, file=sys.stderr)
    return 2


def read(file):
    """Rows of SFEN and what is known about it."""
    lines = file.read_text().splitlines()
    columns = (line.split("\t") for line in lines if line.strip() and not line.startswith("#"))
    return [(row[0], row[1] if len(row) > 1 else "open") for row in columns]


def compare(programs, rows, rounds):
    """Median seconds and verdicts of each program; they take turns, so that both see the same machine."""
    seconds = {name: [] for name in programs}
    verdicts = {}
    for _ in range(rounds):
        for name, solve in programs.items():
            elapsed, verdicts[name] = solve(rows)
            seconds[name].append(elapsed)
    return {name: statistics.median(times) for name, times in seconds.items()}, verdicts


def kyokumen(args, rows):
    """Sum of the times of all searches, and the verdicts."""
    limits = ["--depth", args.depth, "--nodes", args.nodes, "--in-check", "or", "--threads", 1]
    command = [args.kyokumen, "solve", "-", "--json", *map(str, limits)]
    text = "".join(f"{sfen}\n" for sfen, _ in rows)
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["index"] for answer in answers] == list(range(len(rows)))
    words = {"win": MATE, "loss": NO_MATE, "no_mate": NO_MATE, "unknown": UNKNOWN}
    elapsed = sum(answer["elapsed_ms"] for answer in answers) / 1000
    return elapsed, [words[answer["verdict"]] for answer in answers]


def cshogi_df_pn(args, rows):
    """Time within `search`, and the verdicts. A search that found nothing and stayed below its limit of
    nodes says that there is no mate, though the depth may have been in its way."""
    import cshogi

    board = cshogi.Board()
    solver = cshogi.DfPn(depth=args.depth, nodes=args.nodes)
    elapsed, verdicts = 0.0, []
    for sfen, _ in rows:
        board.set_sfen(sfen)
        started = time.perf_counter()
        found = solver.search(board)
        elapsed += time.perf_counter() - started
        gave_up = solver.searched_node >= args.nodes
        verdicts.append(MATE if found else UNKNOWN if gave_up else NO_MATE)
    return elapsed, verdicts


def count(verdicts, rows):
    wrong = ({verdict, known} == {MATE, NO_MATE} for verdict, (_, known) in zip(verdicts, rows))
    return {
        "mates": verdicts.count(MATE),
        "unknown": verdicts.count(UNKNOWN),
        "wrong": sum(wrong),
    }


if __name__ == "__main__":
    sys.exit(main())
