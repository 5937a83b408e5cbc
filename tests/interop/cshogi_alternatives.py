#!/usr/bin/env python3
"""Compares every first move in the output of `kyokumen solve --all` with cshogi.

The first moves must be all checks by cshogi's rules. After each check, cshogi's DfPn searches whether the defender is
being mated. If one program finds a mate and the other one none, the case is settled as in `cshogi_mates.py`. Every line
is replayed to its mate by cshogi's rules.

The positions are mates from random games, or the first column of the given files.

Exit status 0: no contradiction, 1: a contradiction, 2: something is missing.

    cargo build --release && .venv/bin/python tests/interop/cshogi_alternatives.py
"""

import argparse
import collections
import json
import pathlib
import subprocess
import sys

import cshogi
import cshogi_mates as mates

ROOT = mates.ROOT
VERDICTS = {"win": mates.MATE, "no_mate": mates.NONE}


def main():
    args = arguments()
    if not args.kyokumen.is_file():
        print(f"{args.kyokumen} is missing; build it with cargo build --release", file=sys.stderr)
        return 2
    sfens = mates.positions(args)
    if not args.files:
        answers = mates.kyokumen(args, mates.QUESTIONS[0], sfens, nodes=2_000, depth=7)
        wins = [sfen for sfen, answer in zip(sfens, answers) if answer["outcome"] == mates.MATE]
        # Mates spread over all games, at most `--mates`.
        sfens = wins[:: max(len(wins) // args.mates, 1)]
    counts, faults = collections.Counter(), 0
    solver = mates.DfPn(args.depth, args.nodes)
    for sfen, answer in zip(sfens, all_moves(args, sfens)):
        counts[answer["uniqueness"]] += 1
        faults += compare(args, solver, sfen, answer["positions"][0]["moves"], counts)
    for what, count in sorted(counts.items(), key=str):
        print(f"{count:>7}  {what if isinstance(what, str) else ' / '.join(what)}")
    print(f"{len(sfens)} positions, {faults} faults")
    return 1 if faults or not sfens else 0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=pathlib.Path, metavar="FILE.tsv")
    parser.add_argument("--kyokumen", type=pathlib.Path, default=ROOT / "target/release/kyokumen")
    parser.add_argument("--positions", type=int, default=6_000, help="positions of random games")
    parser.add_argument("--mates", type=int, default=40, help="number of mates among them to compare")
    parser.add_argument("--seed", type=int, default=5, help="seed of generated positions")
    parser.add_argument("--depth", type=int, default=31, help="depth limit in plies")
    parser.add_argument("--nodes", type=int, default=10_000, help="node limit of one search of cshogi")
    parser.add_argument("--all-nodes", type=int, default=60_000, help="node limit of Kyokumen for one position")
    parser.set_defaults(generate=True, data=ROOT)
    return parser.parse_args()


def all_moves(args, sfens):
    options = ["--all", "--json", "--in-check", "or", "--depth", args.depth, "--all-nodes", args.all_nodes]
    command = [args.kyokumen, "solve", "-", *map(str, options)]
    text = "".join(f"{sfen}\n" for sfen in sfens)
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def compare(args, solver, sfen, moves, counts):
    """The number of faults in the moves of one position."""
    board = cshogi.Board(sfen)
    attack, defence = mates.QUESTIONS
    checks = {cshogi.move_to_usi(m) for m in board.legal_moves if mates.gives_check(board, m)}
    faults = 0
    if checks != {found["move"] for found in moves}:
        print(f"{sfen}: other checks than {sorted(checks)}")
        faults += 1
    for found in moves:
        outcome = VERDICTS.get(found["verdict"], f"unknown/{found['stop']}")
        fault = mates.fault_of_line(attack, board, found["line"]) if outcome == mates.MATE else None
        if fault:
            print(f"{sfen}: {found['move']}: {fault}")
            faults += 1
        board.push(board.move_from_usi(found["move"]))
        theirs = solver.answer_to(defence, board)
        counts["a move", outcome, theirs] += 1
        answer = {"outcome": outcome, "plies": (found["plies"] or 1) - 1, "line": found["line"][1:]}
        kind = mates.contradiction(args, answer, theirs)
        if kind and not mates.settle(args, defence, board.sfen(), answer, kind):
            faults += 1
        board.pop()
    return faults


if __name__ == "__main__":
    sys.exit(main())
