#!/usr/bin/env python3
"""Games between two processes of `kyokumen usi --model`, run by cshogi's USI client and checked by its rules.

Every move must be legal. A side that resigns must be mated, and a side that declares a win must be allowed to. One side
has a node limit, the other one a time limit.

Exit status 0: all correct, 1: a fault, 2: something is missing.
"""

import argparse
import pathlib
import shlex
import signal
import sys
import tempfile

import cshogi
from cshogi.usi import Engine

ROOT = pathlib.Path(__file__).resolve().parents[2]

# The client waits forever for an engine that has ended.
PATIENCE_S = 600
MAX_MOVES = 320
NODES = 60
BYOYOMI_MS = 60


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kyokumen", type=pathlib.Path, default=ROOT / "target/release/kyokumen")
    parser.add_argument("--models", nargs=2, default=["hashed", "uniform"])
    parser.add_argument("--games", type=int, default=2)
    options = parser.parse_args()
    if not options.kyokumen.is_file():
        print(f"{options.kyokumen} is missing", file=sys.stderr)
        return 2
    signal.alarm(PATIENCE_S)
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        players = [
            player(pathlib.Path(folder) / f"player{number}", options.kyokumen, model)
            for number, model in enumerate(options.models)
        ]
        for number in range(options.games):
            end, moves, faults = play(players if number % 2 == 0 else players[::-1])
            print(f"game {number}: {len(moves)} moves, {end}")
            for fault in faults:
                print(f"WRONG   {fault}")
            failures += len(faults)
        for engine in players:
            engine.quit()
    print("all correct" if failures == 0 else f"{failures} faults")
    return 1 if failures else 0


def player(script, kyokumen, model):
    """Starts an engine through a script, because the client starts programs without arguments."""
    words = [str(kyokumen.resolve()), "usi", "--model", str(pathlib.Path(model).resolve() if "/" in model else model)]
    script.write_text(f"#!/bin/sh\nexec {shlex.join(words)}\n")
    script.chmod(0o755)
    engine = Engine(str(script))
    engine.setoption("ByoyomiMargin", 10)
    engine.setoption("Mate_Root_Nodes", 10_000)
    engine.isready()
    return engine


def play(players):
    """Plays a game. Returns its ending, its moves and the faults."""
    board, moves, faults = cshogi.Board(), [], []
    for engine in players:
        engine.usinewgame()
    while len(moves) < MAX_MOVES:
        if board.is_draw() in (cshogi.REPETITION_DRAW, cshogi.REPETITION_WIN, cshogi.REPETITION_LOSE):
            return "repetition", moves, faults
        engine = players[len(moves) % 2]
        infos = []
        engine.position(moves=moves)
        limits = {"nodes": NODES} if len(moves) % 2 == 0 else {"byoyomi": BYOYOMI_MS}
        best, _ = engine.go(**limits, listener=infos.append)
        if best == "resign":
            if list(board.legal_moves):
                faults.append(f"resigned after {' '.join(moves)}")
            return "mate", moves, faults
        if best == "win":
            if not board.is_nyugyoku():
                faults.append(f"declared after {' '.join(moves)}")
            return "declaration", moves, faults
        legal = {cshogi.move_to_usi(move) for move in board.legal_moves}
        if best not in legal:
            faults.append(f"{best} after {' '.join(moves)}")
            return "an illegal move", moves, faults
        faults += faults_of_infos(board, infos)
        board.push_usi(best)
        moves.append(best)
    return "move limit", moves, faults


def faults_of_infos(board, infos):
    """The `info` lines whose variation contains an illegal move."""
    for line in infos:
        if not line.startswith("info ") or " pv " not in line:
            continue
        variation = cshogi.Board(board.sfen())
        for move in line.split(" pv ")[1].split():
            if move not in {cshogi.move_to_usi(m) for m in variation.legal_moves}:
                yield f"{line} at {board.sfen()}"
                break
            variation.push_usi(move)


if __name__ == "__main__":
    sys.exit(main())
