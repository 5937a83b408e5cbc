#!/usr/bin/env python3
"""Compares Kyokumen's mate search with other mate solvers: time for equal verdicts, in turns on the same core.

The other solvers are the DfPn classes of cshogi and nshogi. A solver that is not installed is left out with a warning.

Reads sets of positions, one set per file. A line has an SFEN and optionally a second column: `mate`, `none` or `open`.
`--seed` draws sets instead. All programs search whether the side to move mates. They define nodes differently, so equal
node limits are not comparable. Instead, the script compares the times until the programs have equal verdicts: the same
number of mates found and of positions left unknown. Searches of Kyokumen that stopped at the depth limit are counted
separately, because cshogi reports them as `none`. nshogi does not distinguish `none` from unknown, so only its mates
count.

The programs and their limits take turns on each set. The result is the median of the rounds. The times exclude process
start and file reading: for Kyokumen, the sum of `elapsed_ms`; for the others, the time of the search call.

Prints Markdown: the curve of each program, the time for equal verdicts, and each set alone at equal limits. `--svg
FILE` draws the curves.

Exit status: 0 if no known verdict is wrong, 1 if a verdict of Kyokumen is wrong, 2 if something is missing.

    python3 -m venv .venv && .venv/bin/pip install -r tests/interop/requirements.txt
    cargo build --release && .venv/bin/python benches/compare_solvers.py FILE.tsv…

The picture of docs/speed.md:

    … --limits 1000,2000,4600,10000,20000,40000,100000,200000,300000,500000 --svg docs/curve.svg

Sets that were not used for tuning: `--seed 202` draws 500 positions from games, 300 from engine games and 300 from
random play, with `draw_positions.py`, from files of the data folder. It excludes the positions of `bench_*.tsv`.

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

# Node limits of the peers that define goals, and limits of the comparison of each set alone.
NAMED_LIMITS = [10_000, 100_000]
# Goals for the sets of the data folder: minimum of mates, maximum of unknown, and the limit of cshogi to compare with.
GOALS = [(112, 110, 10_000), (120, 58, 100_000), (122, 35, None)]
# Number of further limits between the limit that misses a goal and the next limit, which reaches it.
STEPS_BETWEEN = 5


class Goal(typing.NamedTuple):
    """Minimum of mates, maximum of unknown (None if any), and the run of a peer to compare with."""

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
    all_goals = goals(args, sets, measured)
    reached = [(goal, closest_limit(args, sets, measured, goal)) for goal in all_goals]
    print(report(args, sets, measured, reached))
    if args.svg:
        args.svg.write_text(draw(curves(args, sets, measured)))
    return 1 if any(result.wrong for result in measured.by_program(args.ours)) else 0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=pathlib.Path, metavar="FILE.tsv")
    parser.add_argument("--seed", type=seeds, default=[], help="draw sets by this seed or these seeds")
    parser.add_argument("--keep-sets", type=pathlib.Path, metavar="DIR", help="write the drawn sets to this folder")
    parser.add_argument("--data", type=pathlib.Path, default=DATA, help="folder of the default sets")
    parser.add_argument("--depth", type=int, default=31, help="depth limit in plies")
    parser.add_argument("--limits", type=limits, default=Kyokumen.limits, help="node limits of Kyokumen")
    parser.add_argument("--peers", type=names_of_peers, default=PEER_NAMES, help=",".join(PEER_NAMES))
    parser.add_argument(
        "--peer-limits", type=limits_of_peer, action="append", default=[], metavar="[NAME=]N,…",
        help="node limits of one peer or of all; every limit is then in all tables",
    )  # fmt: skip
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--svg", type=pathlib.Path, help="file for the curves")
    parser.add_argument("--kyokumen", type=pathlib.Path, default=ROOT / "target/release/kyokumen")
    args = parser.parse_args()
    if args.seed and args.files:
        parser.error("expected either files or --seed")
    if args.keep_sets and not args.seed:
        parser.error("--keep-sets requires --seed")
    if args.seed:
        check_sources(args.data)
    elif not args.files:
        args.files = bench_files(args.data)
        if not args.files:
            missing(f"there are no files bench_*.tsv in {args.data}: name files to read")
    if not args.kyokumen.is_file():
        missing(f"{args.kyokumen} does not exist: run cargo build --release")
    add_programs(args)
    return args


def add_programs(args):
    """Adds the programs, all their limits, and the limits of peers that are in all tables."""
    chosen = {name: limits for names, limits in args.peer_limits for name in names}
    args.ours, args.peers = Kyokumen(args.kyokumen), installed(args.peers)
    args.runs = {args.ours: args.limits}
    args.runs |= {peer: chosen.get(peer.name, peer.limits) for peer in args.peers}
    # Limits set with --peer-limits are all in the tables.
    args.named_limits = {
        peer: chosen.get(peer.name, [limit for limit in NAMED_LIMITS if limit in peer.limits])
        for peer in args.peers
    }


def limits(text):
    return sorted(int(part) for part in text.split(","))


def limits_of_peer(text):
    """Parses the names of peers and their limits."""
    name, equals, numbers = text.rpartition("=")
    return names_of_peers(name) if equals else PEER_NAMES, limits(numbers)


def seeds(text):
    return [int(part) for part in text.split(",")]


def goals(args, sets, measured):
    """The goals of Kyokumen: the verdicts of peers at their named limits, and GOALS for the sets of the data folder."""
    result = []
    for peer in args.peers:
        for limit in args.named_limits[peer]:
            theirs = measured.get(peer, limit, sets)
            result.append(Goal(theirs.mates, theirs.unknown, peer, limit))
    if not args.seed and args.files == bench_files(args.data):
        cshogi = next((peer for peer in args.peers if peer.name == "cshogi"), None)
        for mates, unknown, limit in GOALS:
            is_measured = cshogi and limit in measured.limits(cshogi)
            result.append(Goal(mates, unknown, *((cshogi, limit) if is_measured else ())))
    return result


def closest_limit(args, sets, measured, goal):
    """Kyokumen's lowest limit that reaches a goal. Also measures limits between those of the curve."""
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
