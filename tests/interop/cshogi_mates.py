#!/usr/bin/env python3
"""Compares mate searches of Kyokumen and of cshogi's DfPn, and settles every contradiction.

The questions are whether the side to move mates and, if it is in check, whether it is being mated. Both programs get
the same limits of depth and nodes. cshogi also answers `none` if the depth limit stopped it, so `none` from cshogi and
`unknown` from Kyokumen do not contradict each other. If one program finds a mate and the other one none:

- A mate by Kyokumen: its line is replayed by cshogi's rules. Then every defence is tried, until cshogi finds each mate
  with more nodes and depth.
- A mate by cshogi: Kyokumen searches with more nodes and depth and must find no mate again. Then cshogi's proof is
  followed to a defence after which cshogi finds no mate.

The positions come from the first column of the given files, else from the data folder if it exists, else from
`kyokumen generate`.

Exit status 0: every contradiction is settled in favour of Kyokumen, 1: one is not, 2: something is missing.

    python3 -m venv .venv && .venv/bin/pip install -r tests/interop/requirements.txt
    cargo build --release && .venv/bin/python tests/interop/cshogi_mates.py
"""

import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

import cshogi
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Files of the data folder and the bytes of a record, which begins with the position.
DATA_FILES = [("dev.hcp", 32), ("dev_engine.hcpe", 38)]
HCP_BYTES = 32

MATE, NONE, NODES = "mate", "none", "unknown/nodes"

# Contradictions are examined with this multiple of the nodes and plies of the comparison.
MORE_NODES, MORE_PLIES = 100, 4
# The most positions of a proof that are examined before a case counts as not settled.
MOST_POSITIONS = 2_000


def main():
    args = arguments()
    if not args.kyokumen.is_file():
        print(f"{args.kyokumen} is missing; build it with cargo build --release", file=sys.stderr)
        return 2
    sfens = positions(args)
    settled = [settled for question in QUESTIONS for settled in compare(args, question, sfens)]
    open_cases = settled.count(False)
    print(f"{len(settled)} contradictions, {open_cases} of them not settled")
    return 1 if open_cases else 0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=pathlib.Path, metavar="FILE.tsv")
    parser.add_argument("--kyokumen", type=pathlib.Path, default=ROOT / "target/release/kyokumen")
    parser.add_argument("--data", type=pathlib.Path, default=ROOT / "../shared/data")
    parser.add_argument("--positions", type=int, default=10_000)
    parser.add_argument("--generate", action="store_true", help="do not look for the data folder")
    parser.add_argument("--seed", type=int, default=1, help="seed of generated positions")
    parser.add_argument("--depth", type=int, default=31, help="depth limit in plies")
    parser.add_argument("--nodes", type=int, default=10_000, help="node limit of one search")
    return parser.parse_args()


def positions(args):
    """SFENs of the given files, or spread over the data folder, or generated."""
    if args.files:
        print(f"positions of {', '.join(path.name for path in args.files)}")
        return [
            line.split("\t")[0]
            for path in args.files
            for line in path.read_text().splitlines()
            if line.strip() and not line.startswith("#")
        ]
    files = [(args.data / name, length) for name, length in DATA_FILES]
    files = [(path, length) for path, length in files if path.is_file()]
    if args.generate or not files:
        print(f"{args.positions} positions of random games, seed {args.seed}")
        return generated(args)
    records = [
        np.fromfile(path, np.uint8).reshape(-1, length)[:, :HCP_BYTES] for path, length in files
    ]
    together = np.concatenate(records)
    chosen = np.linspace(0, len(together) - 1, min(args.positions, len(together))).astype(int)
    print(f"{len(chosen)} positions of {', '.join(path.name for path, _ in files)}")
    board = cshogi.Board()
    sfens = []
    for record in together[chosen]:
        board.set_hcp(np.ascontiguousarray(record).view(cshogi.HuffmanCodedPos))
        sfens.append(board.sfen())
    return sfens


def generated(args):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "generated.sfen"
        options = ["--count", args.positions, "--seed", args.seed, "--every", 3]
        command = [args.kyokumen, "generate", *map(str, options), "-o", file]
        subprocess.run(command, check=True, capture_output=True)
        return [line.split("\t")[0] for line in file.read_text().splitlines()]


class Question:
    """Whether a side mates: the side to move (`or`), or the other side, which gives check (`and`)."""

    def __init__(self, mode, words, text):
        self.mode, self.words, self.text = mode, words, text

    def concerns(self, board):
        return board.is_check() if self.mode == "and" else not board.is_game_over()

    def search(self, solver, board):
        return solver.search_andnode(board) if self.mode == "and" else solver.search(board)


WORDS = {"no_mate": NONE, "loss": NONE, "win": NONE}
QUESTIONS = [
    Question("or", WORDS | {"win": MATE}, "does the side to move mate?"),
    Question("and", WORDS | {"loss": MATE}, "is the side to move, in check, being mated?"),
]


def compare(args, question, sfens):
    """Compares all answers. Returns for each contradiction whether it could be settled."""
    board = cshogi.Board()
    relevant = []
    for sfen in sfens:
        board.set_sfen(sfen)
        if question.concerns(board):
            relevant.append(sfen)
    if not relevant:
        print(f"{question.text}\n    no position for this question")
        return []
    ours = kyokumen(args, question, relevant)
    solver = DfPn(args.depth, args.nodes)
    counts, contradictions = collections.Counter(), []
    for sfen, answer in zip(relevant, ours):
        board.set_sfen(sfen)
        theirs = solver.answer_to(question, board)
        kind = contradiction(args, answer, theirs)
        counts[answer["outcome"], theirs, kind] += 1
        if kind is not None:
            contradictions.append((sfen, answer, kind))
    print_counts(question, counts)
    return [settle(args, question, *case) for case in contradictions]


def contradiction(args, answer, theirs):
    if answer["outcome"] == MATE and theirs == NONE and answer["plies"] <= args.depth:
        return "cshogi finds no mate where Kyokumen does"
    if answer["outcome"] == NONE and theirs == MATE:
        return "Kyokumen finds no mate where cshogi does"
    return None


def print_counts(question, counts):
    print(f"{question.text}\n    {'kyokumen':<14} {'cshogi':<14} positions")
    for (ours, theirs, kind), count in sorted(counts.items(), key=str):
        if kind is None and {ours, theirs} == {MATE, NONE}:
            kind = "longer than the depth limit"
        print(f"    {ours:<14} {theirs:<14} {count:>9}  {kind or ''}".rstrip())


def kyokumen(args, question, sfens, nodes=None, depth=None):
    """Answers of Kyokumen: `outcome`, and for mates `plies` and `line`."""
    limits = ["--depth", depth or args.depth, "--nodes", nodes or args.nodes]
    options = ["--json", "--in-check", question.mode, *map(str, limits)]
    text = "".join(f"{sfen}\n" for sfen in sfens)
    command = [args.kyokumen, "solve", "-", *options]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["index"] for answer in answers] == list(range(len(sfens)))
    for answer in answers:
        stop = answer["stop"]
        answer["outcome"] = f"unknown/{stop}" if stop else question.words[answer["verdict"]]
    return answers


class DfPn:
    """cshogi's solver. A search without a mate is `none` only if it stayed below its node limit."""

    def __init__(self, depth, nodes):
        self.nodes = nodes
        self.solver = cshogi.DfPn(depth=depth, nodes=nodes)

    def answer_to(self, question, board):
        if question.search(self.solver, board):
            return MATE
        return NODES if self.solver.searched_node >= self.nodes else NONE


def settle(args, question, sfen, answer, kind):
    """Prints a contradiction. Returns whether it is settled in favour of Kyokumen."""
    board = cshogi.Board(sfen)
    deeper = DfPn(args.depth * MORE_PLIES, args.nodes * MORE_NODES)
    if answer["outcome"] == MATE:
        fault = fault_of_line(question, board, answer["line"])
        reason = "the line is not a mate: " + fault if fault else None
        is_settled = fault is None and Proof(args, deeper).holds(question, board)
        reason = reason or ("every defence is mated" if is_settled else "cshogi finds no mate")
    else:
        again = kyokumen(
            args, question, [sfen], args.nodes * MORE_NODES, args.depth * MORE_PLIES
        )[0]
        refutation = refute(question, board, deeper)
        is_settled = again["outcome"] == NONE and refutation is not None
        reason = refutation or f"with a deeper search, Kyokumen finds {again['outcome']}"
    print(f"{'settled' if is_settled else 'OPEN   '} {kind}: {sfen}\n        {question.text} {reason}")
    return is_settled


def fault_of_line(question, board, line):
    """Why a line is not a mate by the rules of cshogi, or None. The board is restored."""
    by_attacker = question.mode == "or"
    played = 0
    fault = None
    for usi in line:
        move = board.move_from_usi(usi)
        if not board.is_legal(move):
            fault = f"{usi} is illegal"
            break
        board.push(move)
        played += 1
        if by_attacker and not board.is_check():
            fault = f"{usi} gives no check"
            break
        by_attacker = not by_attacker
    if fault is None and not (board.is_game_over() and board.is_check()):
        fault = "it ends before the mate"
    for _ in range(played):
        board.pop()
    return fault


class Proof:
    """Follows a mate by Kyokumen through every defence, until cshogi finds each mate itself."""

    def __init__(self, args, deeper):
        self.args, self.deeper = args, deeper
        self.positions_left = MOST_POSITIONS

    def holds(self, question, board):
        self.positions_left -= 1
        if self.positions_left < 0:
            return False
        if self.deeper.answer_to(question, board) == MATE:
            return True
        attack, defence = QUESTIONS
        if question is defence:
            return all(self.holds_after(attack, board, move) for move in list(board.legal_moves))
        limits = (self.args.nodes * MORE_NODES, self.args.depth * MORE_PLIES)
        answer = kyokumen(self.args, attack, [board.sfen()], *limits)[0]
        if answer["outcome"] != MATE:
            return False
        move = board.move_from_usi(answer["line"][0])
        return board.is_legal(move) and self.holds_after(defence, board, move)

    def holds_after(self, question, board, move):
        board.push(move)
        holds = (question.mode == "or" or board.is_check()) and self.holds(question, board)
        board.pop()
        return holds


def refute(question, board, deeper):
    """Where cshogi's own proof fails, or None if every defence is mated. The board is restored."""
    attack, defence = QUESTIONS
    line = []
    refutation = None
    while len(line) < MOST_POSITIONS:
        if question is attack:
            wanted, question = MATE, defence
            moves = (move for move in board.legal_moves if gives_check(board, move))
        else:
            wanted, question = NONE, attack
            moves = board.legal_moves
        answers = ((move, answer_after(question, board, move, deeper)) for move in moves)
        move = next((move for move, answer in answers if answer == wanted), None)
        if move is None:
            if question is defence:
                refutation = f"cshogi finds no mate after {' '.join(line) or 'more nodes'}"
            break
        line.append(cshogi.move_to_usi(move))
        board.push(move)
    for _ in line:
        board.pop()
    return refutation


def gives_check(board, move):
    board.push(move)
    is_check = board.is_check()
    board.pop()
    return is_check


def answer_after(question, board, move, solver):
    board.push(move)
    answer = solver.answer_to(question, board)
    board.pop()
    return answer


if __name__ == "__main__":
    sys.exit(main())
