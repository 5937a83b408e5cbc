#!/usr/bin/env python3
"""Replays the games of `kyokumen selfplay` with cshogi and checks them by its rules.

Every move and every candidate must be legal. No game may continue after its end. The result must follow from the last
position or from the moves. The default model `hashed` gives all kinds of endings; `--model NET.onnx` uses a network.

Exit status 0: all correct, 1: a fault, 2: something is missing.
"""

import argparse
import collections
import pathlib
import subprocess
import sys
import tempfile

import cshogi
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]

HEADER = np.dtype(
    [("hcp", cshogi.dtypeHcp), ("moves", np.uint16), ("result", np.uint8), ("opponent", np.uint8)]
)
MOVE = np.dtype(
    [("move", cshogi.dtypeMove16), ("eval", cshogi.dtypeEval), ("candidates", np.uint16)]
)
CANDIDATE = np.dtype([("move", cshogi.dtypeMove16), ("visits", np.uint16)])

DRAW, BLACK_WON, WHITE_WON = 0, 1, 2
REPETITION, DECLARATION, MOVE_LIMIT = 4, 8, 16
NAMES = {0: "mate", REPETITION: "repetition", DECLARATION: "declaration", MOVE_LIMIT: "move limit"}
MAX_MOVES = 320


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kyokumen", type=pathlib.Path, default=ROOT / "target/release/kyokumen")
    parser.add_argument("--model", default="hashed")
    parser.add_argument("--games", type=int, default=300)
    options = parser.parse_args()
    if not options.kyokumen.is_file():
        print(f"{options.kyokumen} is missing", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        words = [options.kyokumen, "selfplay", "--model", options.model, "-o", folder, "--resign", 1]
        words += ["--games", options.games, "--playouts", 24, "--max-moves", MAX_MOVES]
        subprocess.run([str(word) for word in words], check=True)
        data = (pathlib.Path(folder) / "selfplay.hcpe3").read_bytes()
    endings = collections.Counter()
    failures = played = 0
    for number, (header, moves) in enumerate(games(data)):
        played += 1
        endings[NAMES[int(header["result"]) & ~3]] += 1
        for fault in faults(header, moves):
            print(f"game {number}: {fault}")
            failures += 1
    if played != options.games:
        print(f"{played} games instead of {options.games}")
        failures += 1
    print(f"{played} games, ended by {dict(endings)}")
    print("all by the rules" if failures == 0 else f"{failures} faults")
    return 1 if failures else 0


def games(data):
    """The header of each game, and for each move the move, its evaluation and the candidates."""
    offset = 0

    def take(dtype, count):
        nonlocal offset
        taken = np.frombuffer(data, dtype, count, offset)
        offset += taken.nbytes
        return taken

    while offset < len(data):
        header = take(HEADER, 1)[0]
        moves = []
        for _ in range(header["moves"]):
            move = take(MOVE, 1)[0]
            moves.append((int(move["move"]), take(CANDIDATE, int(move["candidates"]))))
        yield header, moves


def faults(header, moves):
    """The faults of a game."""
    board = cshogi.Board()
    board.set_hcp(np.ascontiguousarray(header["hcp"]))
    positions = [key(board)]
    checks = []
    for ply, (move16, candidates) in enumerate(moves):
        if board.is_nyugyoku():
            yield f"ply {ply}: a declaration was missed"
        if positions.count(positions[-1]) == 4:
            yield f"ply {ply}: a repetition was missed"
        for candidate in candidates["move"]:
            if not board.is_legal(board.move_from_move16(int(candidate))):
                yield f"ply {ply}: a candidate is illegal"
        move = board.move_from_move16(move16)
        if not board.is_legal(move):
            yield f"ply {ply}: the move is illegal"
            return
        board.push(move)
        positions.append(key(board))
        checks.append(board.is_check())
    result, ending = int(header["result"]) & 3, int(header["result"]) & ~3
    mover, other = (BLACK_WON, WHITE_WON) if board.turn == cshogi.BLACK else (WHITE_WON, BLACK_WON)
    if board.is_game_over():
        expected = (other, 0)
    elif positions.count(positions[-1]) == 4:
        expected = (by_repetition(positions, checks, mover, other), REPETITION)
    elif board.is_nyugyoku():
        expected = (mover, DECLARATION)
    elif len(moves) == MAX_MOVES:
        expected = (DRAW, MOVE_LIMIT)
    else:
        yield "the game stops without an ending"
        return
    if (result, ending) != expected:
        yield f"result and ending are {(result, ending)}, expected {expected}"


def by_repetition(positions, checks, mover, other):
    """A draw, unless one side gave check with every move since the first occurrence of the position."""
    since = checks[positions.index(positions[-1]) :]
    # The last move was the other side's.
    if all(since[-1::-2]):
        return mover
    if all(since[-2::-2]):
        return other
    return DRAW


def key(board):
    """The position without the number of the move."""
    return board.sfen().rsplit(" ", 1)[0]


if __name__ == "__main__":
    sys.exit(main())
