#!/usr/bin/env python3
"""Compares the search of Kyokumen with other mate solvers: time for equal verdicts, on the same core in turns.

The others are cshogi's DfPn and nshogi's; one that is not installed is left out, and that is said.

Reads sets of positions, one a file: an SFEN in the first column and, if known, `mate`, `none` or `open` in
the second; or draws them by `--seed`. All programs answer one question, whether the side to move mates. What
they mean by a node differs, so that equal limits compare nothing; what counts is the time after which a
program knows as much: so many mates found, so many positions left unknown. Ours that stopped at the depth
limit are shown apart, because cshogi calls those `none`. nshogi does not say whether it found that there is no mate
or gave up, so that of it only mates count.

The programs and their limits take turns on every set, and the median of the rounds counts. Neither the
start of a process nor the reading of files is in the figures: of Kyokumen the sum of `elapsed_ms` of its
answers, of the others the time around the call that searches.

Prints Markdown: the curve of each program, the time for equal verdicts, and each set alone at equal limits.
`--svg FILE` draws the curve.

Exit status 0: no known verdict is wrong, 1: one of ours is, 2: something is missing.

    python3 -m venv .venv && .venv/bin/pip install -r tests/interop/requirements.txt
    cargo build --release && .venv/bin/python benches/compare_solvers.py FILE.tsv…

The table and the picture of the README:

    … --limits 1000,2000,4600,10000,20000,40000,100000,200000,300000,500000,1000000 --svg docs/curve.svg

Sets that nothing was tuned on: `--seed 202` draws 500 positions of games, 300 of engine games and 300 of random play
(`draw_positions.py`), from files of the data folder, none of which stands in its `bench_*.tsv`.

    … --seed 202,303
"""

import argparse
import pathlib
import sys
import typing

from curve_svg import draw
from measuring import pin_to_one_core
from position_sets import bench_files, check_sources, drawn_sets, read
from solver_results import Measured, measure
from solver_tables import curves, report
from solvers import PEER_NAMES, Kyokumen, installed, missing, names_of_peers

ROOT = pathlib.Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data"

# Limits at which the sets are compared alone, and at which a peer says what it asks of us.
NAMED_LIMITS = [10_000, 100_000]
# What is asked of the sets of the data folder: mates at least, unknown at most, and cshogi's limit beside it.
GOALS = [(112, 110, 10_000), (120, 58, 100_000), (122, 35, None)]
# Further limits between the one that misses a goal and the next, which reaches it.
STEPS_BETWEEN = 5


class Goal(typing.NamedTuple):
    """Mates at least, unknown at most if anything is asked of it, and the run of a peer that it is compared with."""

    mates: int
    unknown: int | None
    peer: object = None
    limit: int | None = None


def main():
    args = arguments()
    if args.seed:
        sets = drawn_sets(args.seed, args.data, args.keep_sets)
    else:
        sets = {file.stem: read(file) for file in args.files}
    pin_to_one_core()
    measured = Measured()
    runs = [(program, limit) for program, limits in args.runs.items() for limit in limits]
    measure(args, sets, measured, runs)
    wanted = goals(args, sets, measured)
    reached = [(goal, closest_limit(args, sets, measured, goal)) for goal in wanted]
    print(report(args, sets, measured, reached))
    if args.svg:
        args.svg.write_text(draw(curves(args, sets, measured)))
    return 1 if any(result.wrong for result in measured.of(args.ours)) else 0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=pathlib.Path, metavar="FILE.tsv")
    parser.add_argument("--seed", type=seeds, default=[], help="draw sets by this seed, or these")
    parser.add_argument("--keep-sets", type=pathlib.Path, metavar="DIR", help="folder to leave them in")
    parser.add_argument("--data", type=pathlib.Path, default=DATA, help="folder to read by default")
    parser.add_argument("--depth", type=int, default=31, help="limit of depth, in plies")
    parser.add_argument("--limits", type=limits, default=Kyokumen.limits, help="of nodes, ours")
    parser.add_argument("--peers", type=names_of_peers, default=PEER_NAMES, help=",".join(PEER_NAMES))
    parser.add_argument(
        "--peer-limits", type=limits_of_peer, action="append", default=[], metavar="[NAME=]N,…",
        help="limits of one peer, or of all; each is in all tables then",
    )  # fmt: skip
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--svg", type=pathlib.Path, help="where to draw the curve")
    parser.add_argument("--kyokumen", type=pathlib.Path, default=ROOT / "target/release/kyokumen")
    args = parser.parse_args()
    if args.seed and args.files:
        parser.error("expected either files or --seed")
    if args.keep_sets and not args.seed:
        parser.error("--keep-sets keeps what --seed draws")
    if args.seed:
        check_sources(args.data)
    elif not args.files:
        args.files = bench_files(args.data)
        if not args.files:
            missing(f"no files given and no bench_*.tsv in {args.data}")
    if not args.kyokumen.is_file():
        missing(f"{args.kyokumen}: build it with cargo build --release")
    add_programs(args)
    return args


def add_programs(args):
    """The programs, and their limits: all, and those that are named in all tables."""
    chosen = {name: limits for names, limits in args.peer_limits for name in names}
    args.ours, args.peers = Kyokumen(args.kyokumen), installed(args.peers)
    args.runs = {args.ours: args.limits}
    args.runs |= {peer: chosen.get(peer.name, peer.limits) for peer in args.peers}
    # Those that somebody chose are all of interest.
    args.named_limits = {
        peer: chosen.get(peer.name, [limit for limit in NAMED_LIMITS if limit in peer.limits])
        for peer in args.peers
    }


def limits(text):
    return sorted(int(part) for part in text.split(","))


def limits_of_peer(text):
    """The peers, and their limits."""
    name, equals, numbers = text.rpartition("=")
    return names_of_peers(name) if equals else PEER_NAMES, limits(numbers)


def seeds(text):
    return [int(part) for part in text.split(",")]


def goals(args, sets, measured):
    """What is asked of our program: what each peer knows at its named limits, and of the sets of the data folder
    what was asked before."""
    wanted = []
    for peer in args.peers:
        for limit in args.named_limits[peer]:
            result = measured.get(peer, limit, sets)
            wanted.append(Goal(result.mates, result.unknown, peer, limit))
    if not args.seed and args.files == bench_files(args.data):
        cshogi = next((peer for peer in args.peers if peer.name == "cshogi"), None)
        for mates, unknown, limit in GOALS:
            is_measured = cshogi and limit in measured.limits(cshogi)
            wanted.append(Goal(mates, unknown, *((cshogi, limit) if is_measured else ())))
    return wanted


def closest_limit(args, sets, measured, goal):
    """The least of our limits that reaches a goal, looked for between those of the curve as well."""
    least = least_limit(args, sets, measured, goal)
    if least is None:
        return None
    below = [limit for limit in measured.limits(args.ours) if limit < least]
    if below:
        ratio = (least / below[-1]) ** (1 / (STEPS_BETWEEN + 1))
        between = {round(below[-1] * ratio**step) for step in range(1, STEPS_BETWEEN + 1)}
        measure(args, sets, measured, [(args.ours, limit) for limit in between - {below[-1], least}])
    return least_limit(args, sets, measured, goal)


def least_limit(args, sets, measured, goal):
    limits = measured.limits(args.ours)
    return next((n for n in limits if measured.get(args.ours, n, sets).reaches(goal.mates, goal.unknown)), None)


if __name__ == "__main__":
    sys.exit(main())
