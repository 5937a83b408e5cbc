#!/usr/bin/env python3
"""Compares the search of one position on several threads with the search on one thread, in turns.

Reads positions, with an SFEN in the first column of each line. The searches have practically no limits of depth and
nodes, so choose positions with a mate. A search on several threads depends on chance and is therefore repeated in each
round. Nodes and times are geometric means of the rounds. No other program should run at the same time.

Prints Markdown: for each position the nodes of one thread; the nodes of several threads as a multiple, with minimum and
maximum; the speedup in wall-clock time; and the time per node and thread as a multiple. The last rows have the sums
over all positions and the geometric means.

Exit status: 0 if done, 1 if a position is undecided or has contradictory verdicts, 2 if something is missing.

    cargo build --release && python3 benches/compare_threads.py FILE.tsv
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import typing

from measuring import table
from position_sets import columns
from solvers import missing

ROOT = pathlib.Path(__file__).resolve().parents[1]
COLUMNS = ["nodes of one thread", "of several", "minimum and maximum", "wall-clock speedup", "time per node and thread"]


class Run(typing.NamedTuple):
    """The result of one search."""

    verdict: str
    nodes: int
    seconds: float


def main():
    args = arguments()
    sfens = [row[0] for row in columns(args.file)]
    if not sfens:
        missing(f"{args.file} contains no positions")
    figures, extremes = [], []
    for number, sfen in enumerate(sfens, 1):
        alone, together = in_turns(args, sfen, f"position {number} of {len(sfens)}")
        verdicts = {run.verdict for run in alone + together}
        if verdicts not in ({"win"}, {"loss"}, {"no_mate"}):
            print(f"undecided or contradictory: {sfen}: {', '.join(sorted(verdicts))}", file=sys.stderr)
            return 1
        figures.append([*means(alone), *means(together)])
        ratios = [run.nodes / figures[-1][0] for run in together]
        extremes.append(f"{min(ratios):.2f}–{max(ratios):.2f}")
    sums = [sum(column) for column in zip(*figures)]
    each = [ratios_of(*row, args.threads) for row in figures]
    rows = [[f"{row[0]:,.0f}", *cells(ratios, least)] for row, ratios, least in zip(figures, each, extremes)]
    rows.append([f"{sums[0]:,.0f} (all)", *cells(ratios_of(*sums, args.threads))])
    rows.append(["geometric mean", *cells([statistics.geometric_mean(column) for column in zip(*each)])])
    print(f"{args.threads} threads, table of {args.hash_mb} MiB, geometric means of {args.rounds} rounds.")
    print(f"\n{table(COLUMNS, rows)}")
    return 0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--threads", type=int, default=2, help="number of threads to compare with one [%(default)s]")
    parser.add_argument("--rounds", type=int, default=6, help="rounds of each position [%(default)s]")
    parser.add_argument("--hash-mb", type=int, default=256, metavar="MIB", help="size of the table [%(default)s]")
    parser.add_argument("--nodes", type=int, default=10**9, help="node limit [%(default)s]")
    parser.add_argument("--kyokumen", type=pathlib.Path, default=ROOT / "target/release/kyokumen")
    args = parser.parse_args()
    if not args.kyokumen.exists():
        missing(f"{args.kyokumen} does not exist: run cargo build --release")
    return args


def in_turns(args, sfen, title):
    """Returns the runs on one thread and the runs on several threads."""
    alone, together = [], []
    for number in range(args.rounds):
        print(f"{title}, round {number + 1}", file=sys.stderr)
        alone.append(search(args, sfen, 1))
        together.append(search(args, sfen, args.threads))
    return alone, together


def search(args, sfen, threads):
    options = ["--threads", threads, "--hash-mb", args.hash_mb, "--nodes", args.nodes, "--when-hopeless", "go-on"]
    command = [args.kyokumen, "solve", sfen, "--json", "--progress", "none", *map(str, options)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not done.stdout:
        sys.exit(done.stderr)
    solution = json.loads(done.stdout)
    # A mate in one needs no nodes.
    return Run(solution["verdict"], max(solution["nodes"], 1), solution["elapsed_ms"] / 1000)


def means(runs):
    """Geometric means of nodes and seconds."""
    return [statistics.geometric_mean(column) for column in ([run.nodes for run in runs], [run.seconds for run in runs])]


def ratios_of(nodes_alone, alone, nodes_together, together, threads):
    """Ratios of several threads to one thread: nodes, speed, and time per node and thread."""
    nodes, speed = nodes_together / nodes_alone, alone / together
    return nodes, speed, threads / (speed * nodes)


def cells(ratios, extremes=""):
    nodes, speed, node = (f"× {ratio:.2f}" for ratio in ratios)
    return [nodes, extremes, speed, node]


if __name__ == "__main__":
    sys.exit(main())
