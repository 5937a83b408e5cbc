#!/usr/bin/env python3
"""Compares the search of Kyokumen with cshogi's DfPn: time for equal verdicts, on the same core in turns.

Reads sets of positions, one a file: an SFEN in the first column and, if known, `mate`, `none` or `open` in
the second; or draws them by `--seed`. Both programs answer one question, whether the side to move mates. What
they mean by a node differs, so that equal limits compare nothing; what counts is the time after which a
program knows as much: so many mates found, so many positions left unknown. Ours that stopped at the depth
limit are shown apart, because cshogi calls those `none`.

The programs and their limits take turns on every set, and the median of the rounds counts. Neither the
start of a process nor the reading of files is in the figures: of Kyokumen the sum of `elapsed_ms` of its
answers, of cshogi the time around `search`.

Prints Markdown: the curve of both programs, the time for equal verdicts, and each set alone at equal limits.
`--svg FILE` draws the curve.

Exit status 0: no known verdict is wrong, 1: one is, 2: something is missing.

    python3 -m venv .venv && .venv/bin/pip install -r tests/interop/requirements.txt
    cargo build --release && .venv/bin/python benches/compare_cshogi.py FILE.tsv…

The table and the picture of the README:

    … --limits 1000,2000,4600,10000,20000,40000,100000,200000,300000,500000,1000000 --svg docs/curve.svg

Sets that nothing was tuned on: `--seed 202` draws 500 positions of games, 300 of engine games and 300 of random play
(`draw_positions.py`), from files of the data folder, none of which stands in its `bench_*.tsv`. The time for equal
verdicts is then that for what cshogi knows.

    … --seed 202,303
"""

import argparse
import collections
import dataclasses
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import time

from curve_svg import Curve, draw

ROOT = pathlib.Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data"
NAMES = ("games", "engine", "random")
# What `--seed` draws: name of the set, file of the data folder or random play, positions.
DRAWN = list(zip(NAMES, ("dev.sfen.zst", "dev_engine.sfen.zst", None), (500, 300, 300)))

OURS, THEIRS = "Kyokumen", "cshogi"
OUR_LIMITS = [1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000]
THEIR_LIMITS = [1_000, 3_000, 10_000, 30_000, 100_000]
# Limits at which the sets are compared alone, and to which the time for equal verdicts is compared.
NAMED_LIMITS = [10_000, 100_000]
# At least so many mates and at most so many unknown, on all sets of files together.
GOALS = [(112, 110), (120, 58), (122, 35)]
# Further limits between the one that misses a goal and the next, which reaches it.
STEPS_BETWEEN = 5

# What either program may say about a position.
MATE, NO_MATE, DEPTH, UNKNOWN = "mate", "none", "depth", "unknown"


def main():
    args = arguments()
    sets = drawn_sets(args) if args.seed else {file.stem: read(file) for file in args.files}
    pin_to_one_core()
    measured = Measured()
    measure(args, sets, measured, args.limits, args.cshogi_limits)
    wanted = goals(args, sets, measured)
    reached = [(goal, closest_limit(args, sets, measured, goal)) for goal in wanted]
    print(report(args, sets, measured, reached))
    if args.svg:
        args.svg.write_text(draw(curves(sets, measured)))
    return 1 if any(result.wrong for result in measured.of(OURS)) else 0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=pathlib.Path, metavar="FILE.tsv")
    parser.add_argument("--seed", type=seeds, default=[], help="draw sets by this seed, or these")
    parser.add_argument("--keep-sets", type=pathlib.Path, metavar="DIR", help="folder to leave them in")
    parser.add_argument("--data", type=pathlib.Path, default=DATA, help="folder to read by default")
    parser.add_argument("--depth", type=int, default=31, help="limit of depth, in plies")
    parser.add_argument("--limits", type=limits, default=OUR_LIMITS, help="of nodes, ours")
    parser.add_argument("--cshogi-limits", type=limits, help="cshogi's; each is in all tables then")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--svg", type=pathlib.Path, help="where to draw the curve")
    parser.add_argument("--kyokumen", type=pathlib.Path, default=ROOT / "target/release/kyokumen")
    args = parser.parse_args()
    if args.seed and args.files:
        parser.error("expected either files or --seed")
    if args.keep_sets and not args.seed:
        parser.error("--keep-sets keeps what --seed draws")
    # Those that somebody chose are all of interest.
    args.named_limits = args.cshogi_limits or NAMED_LIMITS
    args.cshogi_limits = args.cshogi_limits or THEIR_LIMITS
    if args.seed:
        check_sources(args)
    elif not args.files:
        args.files = bench_files(args.data)
        if not args.files:
            missing(f"no files given and no bench_*.tsv in {args.data}")
    if not args.kyokumen.is_file():
        missing(f"{args.kyokumen}: build it with cargo build --release")
    return args


def limits(text):
    return sorted(int(part) for part in text.split(","))


def seeds(text):
    return [int(part) for part in text.split(",")]


def bench_files(data):
    """The sets of the data folder that are compared by default, and that `--seed` leaves out."""
    return [path for path in (data / f"bench_{name}.tsv" for name in NAMES) if path.is_file()]


def check_sources(args):
    lacking = [source for _, source, _ in DRAWN if source and not (args.data / source).is_file()]
    if lacking:
        missing(
            f"--seed draws from {' and '.join(lacking)}, which {args.data} does not hold: name a folder"
            " with --data, or draw from a file of your own with benches/draw_positions.py"
        )


def drawn_sets(args):
    """The sets of each seed, also as files where that is asked for."""
    import draw_positions

    sets = {}
    try:
        excluded = draw_positions.positions_of(bench_files(args.data))
        for seed in args.seed:
            generator = random.Random(seed)
            for name, source, count in DRAWN:
                if source:
                    file = args.data / source
                    drawn = draw_positions.draw_from_file(generator, file, count, excluded)
                else:
                    drawn = draw_positions.draw_random_play(generator, count, excluded)
                sets[f"{name}-{seed}"] = [(sfen, "open") for sfen in drawn]
                if args.keep_sets:
                    args.keep_sets.mkdir(parents=True, exist_ok=True)
                    draw_positions.write(args.keep_sets / f"{name}-{seed}.tsv", drawn)
    except (draw_positions.CannotDraw, OSError) as error:
        missing(str(error))
    return sets


def missing(what):
    print(what, file=sys.stderr)
    sys.exit(2)


def read(file):
    """Rows of SFEN and what is known about it."""
    lines = file.read_text().splitlines()
    columns = (line.split("\t") for line in lines if line.strip() and not line.startswith("#"))
    return [(row[0], row[1] if len(row) > 1 else "open") for row in columns]


def pin_to_one_core():
    """Both programs inherit it, where the system lets a program choose."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


@dataclasses.dataclass
class Result:
    """What one program knew about some positions at one limit, and how long it took."""

    seconds: float
    positions: int
    mates: int
    unknown: int
    depth: int
    wrong: int

    def __add__(self, other):
        pairs = zip(dataclasses.astuple(self), dataclasses.astuple(other))
        return Result(*(a + b for a, b in pairs))

    def reaches(self, goal):
        mates, unknown = goal
        return self.mates >= mates and self.unknown <= unknown


class Measured:
    """Results by program, limit and set."""

    def __init__(self):
        self.results = {}

    def add(self, program, limit, name, result):
        self.results[program, limit, name] = result

    def of(self, program):
        return [result for (by, _, _), result in self.results.items() if by == program]

    def limits(self, program):
        return sorted({limit for by, limit, _ in self.results if by == program})

    def get(self, program, limit, names):
        """The result on some sets together."""
        first, *rest = (self.results[program, limit, name] for name in names)
        return sum(rest, start=first)


def measure(args, sets, measured, our_limits, their_limits):
    """Measures both programs at their limits, in turns, on each set."""
    runs = [(OURS, limit) for limit in our_limits] + [(THEIRS, limit) for limit in their_limits]
    runs.sort(key=lambda run: run[1])
    solve = {OURS: kyokumen, THEIRS: cshogi_df_pn}
    for name, rows in sets.items():
        seconds, verdicts = collections.defaultdict(list), {}
        for number in range(args.rounds):
            for program, limit in runs:
                print(f"{name}, round {number + 1}: {program} {limit}", file=sys.stderr)
                elapsed, verdicts[program, limit] = solve[program](args, rows, limit)
                seconds[program, limit].append(elapsed)
        for program, limit in runs:
            median = statistics.median(seconds[program, limit])
            measured.add(program, limit, name, judged(median, verdicts[program, limit], rows))


def judged(seconds, verdicts, rows):
    contradictions = ({verdict, known} == {MATE, NO_MATE} for verdict, (_, known) in zip(verdicts, rows))
    counts = collections.Counter(verdicts)
    return Result(
        seconds, len(rows), counts[MATE], counts[UNKNOWN], counts[DEPTH], sum(contradictions)
    )


def kyokumen(args, rows, nodes):
    """Sum of the times of all searches, and the verdicts."""
    options = ["--depth", args.depth, "--nodes", nodes, "--in-check", "or", "--threads", 1]
    command = [args.kyokumen, "solve", "-", "--json", *map(str, options)]
    text = "".join(f"{sfen}\n" for sfen, _ in rows)
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["index"] for answer in answers] == list(range(len(rows)))
    elapsed = sum(answer["elapsed_ms"] for answer in answers) / 1000
    return elapsed, [verdict(answer) for answer in answers]


def verdict(answer):
    if answer["stop"] == "depth":
        return DEPTH
    return {"win": MATE, "loss": NO_MATE, "no_mate": NO_MATE, "unknown": UNKNOWN}[answer["verdict"]]


def cshogi_df_pn(args, rows, nodes):
    """Time within `search`, and the verdicts. A search that found nothing and stayed below its limit of
    nodes says that there is no mate, though the depth may have been in its way."""
    import cshogi

    board = cshogi.Board()
    solver = cshogi.DfPn(depth=args.depth, nodes=nodes)
    elapsed, verdicts = 0.0, []
    for sfen, _ in rows:
        board.set_sfen(sfen)
        started = time.perf_counter()
        found = solver.search(board)
        elapsed += time.perf_counter() - started
        gave_up = solver.searched_node >= nodes
        verdicts.append(MATE if found else UNKNOWN if gave_up else NO_MATE)
    return elapsed, verdicts


def goals(args, sets, measured):
    """What is asked of our program: of files the same every time, of drawn sets what cshogi knows."""
    if not args.seed:
        return GOALS
    theirs = (measured.get(THEIRS, limit, sets) for limit in args.named_limits)
    return [(result.mates, result.unknown) for result in theirs]


def closest_limit(args, sets, measured, goal):
    """The least of our limits that reaches a goal, looked for between those of the curve as well."""
    least = least_limit(sets, measured, goal)
    if least is None:
        return None
    below = [limit for limit in measured.limits(OURS) if limit < least]
    if below:
        ratio = (least / below[-1]) ** (1 / (STEPS_BETWEEN + 1))
        between = {round(below[-1] * ratio**step) for step in range(1, STEPS_BETWEEN + 1)}
        measure(args, sets, measured, sorted(between - {below[-1], least}), [])
    return least_limit(sets, measured, goal)


def least_limit(sets, measured, goal):
    reaching = (n for n in measured.limits(OURS) if measured.get(OURS, n, sets).reaches(goal))
    return next(reaching, None)


def report(args, sets, measured, reached):
    """All tables, in Markdown."""
    total = sum(len(rows) for rows in sets.values())
    head = f"One core, depth {args.depth}, median of {args.rounds} rounds; {total} positions."
    parts = [head, *curve_tables(args, sets, measured)]
    parts.append(goal_table(args, sets, measured, reached))
    parts.append(set_table(args, sets, measured))
    return "\n\n".join(part for part in parts if part)


def curve_tables(args, sets, measured):
    """Seconds against mates and unknowns, on all sets together and on each."""
    groups = [("All positions", list(sets))]
    if len(sets) > 1:
        groups += [(name, [name]) for name in sets]
    for title, names in groups:
        rows = [
            curve_row(program, limit, measured.get(program, limit, names))
            for program, limits in ((OURS, args.limits), (THEIRS, args.cshogi_limits))
            for limit in limits
        ]
        columns = ["program", "nodes", "seconds", "mates", "unknown", "stopped by depth", "wrong"]
        yield f"**{title}**\n\n{table(columns, rows)}"


def curve_row(program, limit, result):
    depth = result.depth if program == OURS else "–"
    return [
        program, f"{limit:,}", figure(result.seconds), result.mates, result.unknown, depth, result.wrong
    ]


def goal_table(args, sets, measured, reached):
    """Our time for as many verdicts, against cshogi's at the named limits."""
    theirs = {limit: measured.get(THEIRS, limit, sets) for limit in args.named_limits}
    columns = ["mates at least", "unknown at most", "our nodes", "seconds", "mates", "unknown"]
    columns += [
        f"cshogi {limit:,}: {figure(result.seconds)} s, {result.mates}/{result.unknown}"
        for limit, result in theirs.items()
    ]
    rows = []
    for (mates, unknown), limit in reached:
        if limit is None:
            rows.append([mates, unknown, "not reached"] + ["–"] * (3 + len(theirs)))
            continue
        ours = measured.get(OURS, limit, sets)
        ratios = [f"{result.seconds / ours.seconds:.1f} ×" for result in theirs.values()]
        rows.append(
            [mates, unknown, f"{limit:,}", figure(ours.seconds), ours.mates, ours.unknown, *ratios]
        )
    return f"**Time for equal verdicts**\n\n{table(columns, rows)}"


def set_table(args, sets, measured):
    """Each set alone, both programs at the same limits."""
    rows = []
    for name in sets:
        for limit in args.named_limits:
            if all(limit in measured.limits(program) for program in (OURS, THEIRS)):
                ours, theirs = (measured.get(program, limit, [name]) for program in (OURS, THEIRS))
                ratio = f"{theirs.seconds / ours.seconds:.1f} ×"
                rows.append([name, f"{limit:,}", rate(ours), rate(theirs), ratio])
    columns = ["set", "nodes", f"{OURS}: positions/s · mates/unknown", f"{THEIRS}", "ratio"]
    return f"**Each set alone**\n\n{table(columns, rows)}" if rows else ""


def rate(result):
    return f"{result.positions / result.seconds:.0f} · {result.mates}/{result.unknown}"


def figure(seconds):
    """Three digits that count."""
    return f"{seconds:.3g}" if seconds < 100 else f"{seconds:.0f}"


def table(columns, rows):
    lines = [columns, ["---"] + ["--:"] * (len(columns) - 1), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def curves(sets, measured):
    """The points of the plot: seconds, mates and unknowns of each program at each limit."""
    for program in (OURS, THEIRS):
        results = [(n, measured.get(program, n, sets)) for n in measured.limits(program)]
        yield Curve(program, [(r.seconds, r.mates, r.unknown, n) for n, r in results])


if __name__ == "__main__":
    sys.exit(main())
