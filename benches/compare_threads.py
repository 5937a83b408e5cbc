#!/usr/bin/env python3
"""Compares the search of one position on several threads with that on one, in turns.

Reads positions, an SFEN in the first column of each line, and searches each to any depth, without a limit of nodes that
matters: choose such as have a mate. What several threads do depends on chance, so each is searched again in every round;
nodes and times are geometric means of the rounds. Nothing else should run meanwhile.

Prints Markdown: for each position the nodes of one thread; those of several, as a multiple, and the least and the most;
how many times as fast they are by the clock; and the time of a node and thread, as a multiple. Below it the same for all
together, by sums, and the geometric means.

Exit status 0: done, 1: a position is not decided or is decided in two ways, 2: something is missing.

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
COLUMNS = ["nodes of one thread", "of several", "least and most", "speed by the clock", "time of a node and thread"]


class Run(typing.NamedTuple):
    """One search."""

    verdict: str
    nodes: int
    seconds: float


def main():
    args = arguments()
    sfens = [row[0] for row in columns(args.file)]
    if not sfens:
        missing(f"{args.file}: no position in it")
    figures, extremes = [], []
    for number, sfen in enumerate(sfens, 1):
        alone, together = in_turns(args, sfen, f"position {number} of {len(sfens)}")
        verdicts = {run.verdict for run in alone + together}
        if verdicts not in ({"win"}, {"loss"}, {"no_mate"}):
            print(f"not decided, or in two ways: {sfen}: {', '.join(sorted(verdicts))}", file=sys.stderr)
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
    parser.add_argument("--threads", type=int, default=2, help="compared with one [%(default)s]")
    parser.add_argument("--rounds", type=int, default=6, help="of each position [%(default)s]")
    parser.add_argument("--hash-mb", type=int, default=256, metavar="MIB", help="size of the table [%(default)s]")
    parser.add_argument("--nodes", type=int, default=10**9, help="limit of nodes [%(default)s]")
    parser.add_argument("--kyokumen", type=pathlib.Path, default=ROOT / "target/release/kyokumen")
    args = parser.parse_args()
    if not args.kyokumen.exists():
        missing(f"{args.kyokumen}: build it with `cargo build --release`")
    return args


def in_turns(args, sfen, title):
    """The runs on one thread, and those on several."""
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
    answer = json.loads(done.stdout)
    # A mate in one takes no node.
    return Run(answer["verdict"], max(answer["nodes"], 1), answer["elapsed_ms"] / 1000)


def means(runs):
    """Nodes and seconds."""
    return [statistics.geometric_mean(column) for column in ([run.nodes for run in runs], [run.seconds for run in runs])]


def ratios_of(nodes_alone, alone, nodes_together, together, threads):
    """Nodes of several threads ÷ those of one, speed, time of a node and thread ÷ that of a node."""
    nodes, speed = nodes_together / nodes_alone, alone / together
    return nodes, speed, threads / (speed * nodes)


def cells(ratios, extremes=""):
    nodes, speed, node = (f"× {ratio:.2f}" for ratio in ratios)
    return [nodes, extremes, speed, node]


if __name__ == "__main__":
    sys.exit(main())
