#!/usr/bin/env python3
"""Drives `kyokumen usi` with cshogi's USI client, and checks its answers by cshogi's rules.

Mates must be mates by cshogi's legal moves, with a check by each move of the attacker. For positions of random games,
the answer is compared with cshogi's mate search: if the engine answers that there is no mate, cshogi must not find one
within a few plies.

Exit status 0: all correct, 1: a wrong answer (the first ones are printed), 2: something is missing.

    python3 -m venv .venv && .venv/bin/pip install -r tests/interop/requirements.txt
    cargo build --release && .venv/bin/python tests/interop/cshogi_usi.py
"""

import argparse
import pathlib
import random
import shlex
import signal
import sys
import tempfile
import threading
import time

import cshogi
from cshogi.usi import Engine

ROOT = pathlib.Path(__file__).resolve().parents[2]

# The client waits forever for an engine that has ended.
PATIENCE_S = 300

# Tadao Yamaoka's example of dominance; three mates from issues of cshogi and dlshogi.
MATES = [
    "1n1g3+Pl/k1p1s4/1ng5p/pSP1p1pp1/1n3p3/P1K3P1P/1P7/9/L1G5L b 2R2BG2SL5Pn 161",
    "+L4kp2/9/2gs1pB+R1/n1pgp4/6P2/S2G3r1/P3+b1G2/2P6/+lP1K1+n3 w 2SN2L4Pn6p 130",
    "ln1g1s2l/1r3k1p1/p1p+B1Ns1p/5ppPg/1p7/3PPBP2/PP1S1P2P/6S2/LN1GKG2L b 2Prnp 73",
    "l5p1k/3+R1p3/3p1g+N2/p1S1p2S1/1p5Kp/5PP2/PP2P1sPP/2P2GG2/L5+r1L b L2P2bgs3np 1",
]
# Microcosmos, 1525 plies: not solvable with a table of 1 MiB.
ENDLESS = "g1+P1k1+P+P+L/1p3P3/+R+p2pp1pl/1NNsg+p2+R/+b+nL+P1+p3/1P3ssP1/2P1+Ps2N/4+P1P1L/+B5G1g b - 1"

# The plies of the mates that cshogi searches for.
CSHOGI_PLIES = 5
GO_MATE_MS = 60_000
LONGEST_GAME = 200
# A lance protects the pawn, so both its promotion and the drop of a gold mate.
TWO_MATES = "4k4/9/4P4/4L4/9/9/9/9/9 b G2r2b3g4s4n3l14p 1"
STOPS = 9
# The limit of the median answer to `stop`. Single answers may be slower on a busy machine.
STOP_MS = 50
FIRST_FAILURES = 5


def main():
    options = parse_arguments()
    if not options.kyokumen.is_file():
        print(f"{options.kyokumen} is missing; build it with cargo build --release", file=sys.stderr)
        return 2
    signal.alarm(PATIENCE_S)
    with tempfile.TemporaryDirectory() as folder:
        engine = Engine(str(launcher(pathlib.Path(folder), options.kyokumen)))
        try:
            failures = check(engine, options)
        finally:
            engine.quit()
    for failure in failures[:FIRST_FAILURES]:
        print(f"WRONG   {failure}")
    print("all correct" if not failures else f"{len(failures)} answers are wrong")
    return 1 if failures else 0


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kyokumen", type=pathlib.Path, default=ROOT / "target/release/kyokumen")
    parser.add_argument("--positions", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def launcher(folder, kyokumen):
    """A script that starts the engine, because the client starts programs without arguments."""
    script = folder / "kyokumen-usi"
    script.write_text(f"#!/bin/sh\nexec {shlex.quote(str(kyokumen.resolve()))} usi\n")
    script.chmod(0o755)
    return script


def check(engine, options):
    failures = handshake(engine)
    failures += known_mates(engine)
    failures += searches_that_do_not_decide(engine)
    failures += several_threads(engine)
    failures += several_first_moves(engine)
    failures += stops(engine)
    failures += random_games(engine, options.positions, random.Random(options.seed))
    return failures


def handshake(engine):
    print(f"engine  {engine.name}")
    offered = engine.usi()
    engine.setoption("USI_Hash", 16)
    engine.isready()
    engine.usinewgame()
    failures = []
    if not engine.name.startswith("Kyokumen "):
        failures.append(f"the name {engine.name}")
    if not any(line.startswith("option name USI_Hash type spin ") for line in offered):
        failures.append("no option USI_Hash")
    if engine.go(byoyomi=100) != ("resign", None):
        failures.append("a move without a mate")
    return failures


def known_mates(engine):
    failures = []
    for sfen in MATES:
        infos = []
        engine.position(sfen=f"sfen {sfen}")
        answer = engine.go_mate(GO_MATE_MS, listener=infos.append)
        board = cshogi.Board(sfen)
        if not is_mate(board, answer.split(" ")):
            failures.append(f"{answer} for {sfen}")
        elif f" pv {answer}" not in infos[-2]:
            failures.append(f"{infos[-2]} before {infos[-1]}")
    print(f"solved  {len(MATES)} known mates")
    return failures


def searches_that_do_not_decide(engine):
    failures = []
    engine.setoption("USI_Hash", 1)
    engine.position(sfen=f"sfen {ENDLESS}")
    answer = engine.go_mate(1500)
    if answer != "timeout":
        failures.append(f"{answer} instead of a timeout")
    engine.setoption("USI_Hash", 16)
    engine.position(sfen="startpos", moves=["7g7f", "7g7f"])
    answer = engine.go_mate(1000)
    if answer != "notimplemented":
        failures.append(f"{answer} after an illegal move")
    engine.position()
    answer = engine.go_mate()
    if answer != "nomate":
        failures.append(f"{answer} for the start position")
    return failures


def several_threads(engine):
    failures = []
    for threads in (1, 2, 4, 0):
        engine.setoption("Threads", threads)
        failures += [f"{threads} threads: {failure}" for failure in known_mates(engine)]
    return failures


def several_first_moves(engine):
    infos = []
    engine.setoption("MultiPV", 4)
    engine.position(sfen=f"sfen {TWO_MATES}")
    engine.go_mate(GO_MATE_MS, listener=infos.append)
    engine.setoption("MultiPV", 1)
    lines = [line.split(" pv ")[1].split(" ") for line in infos if " pv " in line]
    firsts = sorted(line[0] for line in lines)
    if firsts != ["5c5b+", "G*5b"] or not all(is_mate(cshogi.Board(TWO_MATES), line) for line in lines):
        return [f"{infos} where two moves mate"]
    return []


def stops(engine):
    """Measures how long a search on all cores takes to answer `stop`. A `ponderhit` before it must have no effect."""
    waited_ms = []
    failures = []
    engine.position(sfen=f"sfen {ENDLESS}")
    for number in range(STOPS):
        stopped_at = []

        def stop():
            engine.ponderhit()
            stopped_at.append(time.monotonic())
            engine.stop()

        timer = threading.Timer(0.2 + 0.1 * number, stop)
        timer.start()
        answer = engine.go_mate()
        waited_ms.append(1000 * (time.monotonic() - stopped_at[0]))
        timer.join()
        if answer != "timeout":
            failures.append(f"{answer} for a search that was stopped")
    waited_ms.sort()
    print(f"stopped {STOPS} searches, answered after {waited_ms[STOPS // 2]:.1f} ms (median), {waited_ms[-1]:.1f} at most")
    if waited_ms[STOPS // 2] > STOP_MS:
        failures.append(f"{waited_ms} ms after stop")
    return failures


def random_games(engine, positions, random_source):
    """Checks positions of random games, which are sent as moves."""
    failures = []
    answers = {"mate": 0, "nomate": 0, "timeout": 0}
    engine.setoption("NodesLimit", 20_000)
    while sum(answers.values()) < positions:
        board = cshogi.Board()
        moves = []
        for _ in range(LONGEST_GAME):
            legal = list(board.legal_moves)
            if not legal:
                break
            move = random_source.choice(legal)
            moves.append(cshogi.move_to_usi(move))
            board.push(move)
            if len(moves) % 8 == 0 and not board.is_check():
                engine.position(moves=moves)
                answer = engine.go_mate(GO_MATE_MS)
                answers[answer if answer in answers else "mate"] += 1
                if not is_correct(board, answer):
                    failures.append(f"{answer} for {board.sfen()}")
    engine.setoption("NodesLimit", 0)
    print(f"solved  positions of random games: {answers}")
    if not answers["mate"] or not answers["nomate"]:
        failures.append("the same answer for all random games")
    return failures


def is_correct(board, answer):
    """Whether cshogi agrees, within the plies of its search."""
    if answer in ("nomate", "timeout"):
        return answer == "timeout" or board.mate_move(CSHOGI_PLIES) == 0
    return is_mate(board.copy(), answer.split(" "))


def is_mate(board, moves):
    """Whether the moves are legal, give check if the attacker moves, and end in mate."""
    for ply, usi in enumerate(moves):
        move = board.move_from_usi(usi)
        if not board.is_legal(move):
            return False
        board.push(move)
        if ply % 2 == 0 and not board.is_check():
            return False
    return len(moves) % 2 == 1 and not list(board.legal_moves)


if __name__ == "__main__":
    sys.exit(main())
