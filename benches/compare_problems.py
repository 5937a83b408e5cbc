#!/usr/bin/env python3
"""Compares the search of Kyokumen with other mate solvers on problems by length, on the same core in turns.

Reads problems: SFEN, length in plies as stated or `?`, source; without files those of the data folder. Those of no
stated length are left out, and those that Kyokumen refuses as positions. So are those without the attacker's king,
unless `--one-king` asks for them: nshogi finds few of their mates of 9 and 11 plies.

All programs get the same limit of nodes, which is meant to be enough for all: what counts is the time until they are
solved. The time is that of the searches, as in `compare_solvers.py`. Of the few microseconds that a problem of one ply
takes, some are the call from Python in the time of the others.

Prints Markdown: for each length the seconds of each program, how many it solved, and ours ÷ those of the best peer,
the one that solved most and of these the quickest; and what a program left unsolved. Of each problem the median of
the rounds counts, so that one interruption of a thousand times its length does not.

Exit status 0: done, 1: we say that there is no mate where one is stated, 2: something is missing.

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
# Unsolved problems of a program that are named; of the others the number is.
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
    parser.add_argument("--source", default="", metavar="SUBSTRING", help="only problems whose source has it")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth of them")
    parser.add_argument("--one-king", action="store_true", help="also those without the attacker's king")
    parser.add_argument("--nodes", type=int, default=1_000_000, help="limit of nodes [%(default)s]")
    parser.add_argument("--depth", type=int, default=31, help="limit of depth, in plies [%(default)s]")
    parser.add_argument("--peers", type=names_of_peers, default=PEER_NAMES, help=",".join(PEER_NAMES))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kyokumen", type=pathlib.Path, default=ROOT / "target/release/kyokumen")
    args = parser.parse_args()
    if not args.kyokumen.is_file():
        missing(f"{args.kyokumen}: build it with cargo build --release")
    return args


def chosen(args, ours):
    """The problems to solve, and how many were left out for what reason, in words."""
    rows = [problem for file in args.files for problem in read_problems(file)]
    rows = [problem for problem in rows if args.source in problem.source][:: args.every]
    problems, reasons = [], collections.Counter()
    accepted = set(ours.accepted([problem.sfen for problem in rows]))
    for problem in rows:
        if problem.plies is None:
            reasons["of no stated length"] += 1
        elif problem.sfen not in accepted:
            reasons["no position with a king to mate"] += 1
        elif not args.one_king and not {"K", "k"} <= set(problem.sfen.split()[0]):
            reasons["without the attacker's king"] += 1
        else:
            problems.append(problem)
    if not problems:
        missing(f"none of {len(rows)} problems can be compared: {dict(reasons)}")
    parts = [f"{count} {reason}" for reason, count in reasons.items()]
    return problems, f"{len(problems)} problems, left out {', '.join(parts) or 'none'}"


def measure(args, programs, problems):
    """Seconds of each problem and its verdicts, by program."""
    sfens = [problem.sfen for problem in problems]
    rounds, verdicts = collections.defaultdict(list), {}
    for program, limit in in_turns(args.rounds, [(program, args.nodes) for program in programs], "problems"):
        answers = program.solve(sfens, limit, args.depth)
        rounds[program].append([answer.seconds for answer in answers])
        verdicts[program] = [answer.verdict for answer in answers]
    return {by: list(map(statistics.median, zip(*seconds))) for by, seconds in rounds.items()}, verdicts


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
    """A paragraph with what a program left unsolved, nothing if it solved all."""
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
