#!/usr/bin/env python3
"""Compares Kyokumen's mate search with other mate solvers on tsume problems by length, in turns on the same core.

Reads problems: SFEN, stated length in plies or `?`, source. The default is a file of the data folder. Problems without
a stated length and positions that Kyokumen rejects are left out. Problems without the attacker's king are left out
unless `--one-king` is set, because nshogi finds few of their mates of 9 and 11 plies.

All programs have the same node limit, which should be large enough for all problems. The script compares the search
times, measured as in `compare_solvers.py`. A problem of one ply takes a few microseconds, and for the other programs
the call from Python is part of them.

Prints Markdown: for each length the seconds of each program, the number of solved problems, and the time of Kyokumen
divided by the time of the best peer, which solved the most problems in the least time. Then lists the unsolved problems
of each program. The time of a problem is the median of the rounds, so a single interruption does not distort it.

Exit status: 0 if done, 1 if Kyokumen reports no mate for a problem with a stated mate, 2 if something is missing.

    python3 -m venv .venv && .venv/bin/pip install -r tests/interop/requirements.txt
    cargo build --release && .venv/bin/python benches/compare_problems.py FILE.tsv…
"""

import argparse
import collections
import pathlib
import statistics
import sys

from measuring import figure, in_turns, pin_to_one_core, table
from position_sets import read_problems
from solvers import MATE, NO_MATE, PEER_NAMES, Kyokumen, installed, missing, names_of_peers

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROBLEMS = ROOT.parent / "shared" / "data" / "tsume_dev.tsv"
# Maximum number of unsolved problems to list for a program.
NAMED = 10


def main():
    args = arguments()
    ours = Kyokumen(args.kyokumen)
    programs = [ours, *installed(args.peers)]
    problems, left_out = chosen(args, ours)
    pin_to_one_core()
    seconds, verdicts = measure(args, programs, problems)
    print(f"One core, depth {args.depth}, {args.nodes:,} nodes, median of {args.rounds} rounds; {left_out}.")
    print(f"\n{length_table(programs, problems, seconds, verdicts)}")
    for program in programs:
        print(unsolved(program, problems, verdicts[program]), end="")
    return 1 if NO_MATE in verdicts[ours] else 0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=pathlib.Path, default=[PROBLEMS], metavar="FILE.tsv")
    parser.add_argument("--source", default="", metavar="SUBSTRING", help="only problems whose source contains this text")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth problem")
    parser.add_argument("--one-king", action="store_true", help="include problems without the attacker's king")
    parser.add_argument("--nodes", type=int, default=1_000_000, help="node limit [%(default)s]")
    parser.add_argument("--depth", type=int, default=31, help="depth limit in plies [%(default)s]")
    parser.add_argument("--peers", type=names_of_peers, default=PEER_NAMES, help=",".join(PEER_NAMES))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kyokumen", type=pathlib.Path, default=ROOT / "target/release/kyokumen")
    args = parser.parse_args()
    if not args.kyokumen.is_file():
        missing(f"{args.kyokumen} does not exist: run cargo build --release")
    return args


def chosen(args, ours):
    """Returns the problems to solve, and a text with the numbers of problems and the reasons for leaving some out."""
    rows = [problem for file in args.files for problem in read_problems(file)]
    rows = [problem for problem in rows if args.source in problem.source][:: args.every]
    problems, reasons = [], collections.Counter()
    accepted = set(ours.accepted([problem.sfen for problem in rows]))
    for problem in rows:
        if problem.plies is None:
            reasons["without a stated length"] += 1
        elif problem.sfen not in accepted:
            reasons["without a legal position or a king to mate"] += 1
        elif not args.one_king and not {"K", "k"} <= set(problem.sfen.split()[0]):
            reasons["without the attacker's king"] += 1
        else:
            problems.append(problem)
    if not problems:
        missing(f"none of the {len(rows)} problems can be compared: {dict(reasons)}")
    parts = [f"{count} {reason}" for reason, count in reasons.items()]
    return problems, f"{len(problems)} problems, left out {', '.join(parts) or 'none'}"


def measure(args, programs, problems):
    """Returns the seconds and the verdict of each problem, by program."""
    sfens = [problem.sfen for problem in problems]
    rounds, verdicts = collections.defaultdict(list), {}
    for program, limit in in_turns(args.rounds, [(program, args.nodes) for program in programs], "problems"):
        solutions = program.solve(sfens, limit, args.depth)
        rounds[program].append([solution.seconds for solution in solutions])
        verdicts[program] = [solution.verdict for solution in solutions]
    medians = {program: list(map(statistics.median, zip(*seconds))) for program, seconds in rounds.items()}
    return medians, verdicts


def length_table(programs, problems, seconds, verdicts):
    ours, *peers = programs
    heads = [head for program in programs for head in (f"{program.name}, s", "solved")]
    rows, lengths = [], sorted({problem.plies for problem in problems})
    for title, group in [*((plies, [plies]) for plies in lengths), ("all", lengths)]:
        numbers = [number for number, problem in enumerate(problems) if problem.plies in group]
        times = {program: sum(seconds[program][number] for number in numbers) for program in programs}
        solved = {program: sum(verdicts[program][n] == MATE for n in numbers) for program in programs}
        best = max(peers, key=lambda peer: (solved[peer], -times[peer]))
        row = [title, len(numbers)]
        for program in programs:
            row += [figure(times[program]), solved[program]]
        rows.append([*row, f"{times[ours] / times[best]:.2f} ({best.name})"])
    return table(["plies", "problems", *heads, "ours ÷ best peer"], rows)


def unsolved(program, problems, verdicts):
    """A paragraph that lists the unsolved problems of a program. Empty if it solved all."""
    left = [(problem, verdict) for problem, verdict in zip(problems, verdicts) if verdict != MATE]
    if not left:
        return ""
    lines = [
        f"- {problem.plies} {'ply' if problem.plies == 1 else 'plies'}, {verdict}: `{problem.sfen}` ({problem.source})"
        for problem, verdict in left[:NAMED]
    ]
    if len(left) > NAMED:
        lines.append(f"- and {len(left) - NAMED} more")
    return "\n".join([f"\n**Not solved by {program.name}: {len(left)}**\n", *lines, ""])


if __name__ == "__main__":
    sys.exit(main())
