#!/usr/bin/env python3
"""Plays a match between two networks and reports the Elo difference with its confidence interval.

    python3 examples/loop/match.py new.onnx old.onnx --openings openings.sfen --games 200

Each side is a process of `kyokumen usi --model`. Each opening is played twice with sides exchanged. This script applies
the rules, with cshogi as the board. Exit status: 0 if the first network is significantly stronger (the whole interval
is above 0), 1 if not, 2 if something is missing.
"""

import argparse
import collections
import concurrent.futures
import math
import pathlib
import shlex
import sys
import tempfile
import threading

import cshogi
from cshogi.usi import Engine

MAX_MOVES = 256
# Number of standard deviations on each side of a 95 % confidence interval.
DEVIATIONS = 1.96
WIN, DRAW, LOSS = 1.0, 0.5, 0.0


class Players:
    """The two engines of one thread."""

    def __init__(self, kyokumen, networks, nodes):
        self.nodes = nodes
        self.folder = tempfile.TemporaryDirectory()
        self.engines = []
        for number, network in enumerate(networks):
            # cshogi's client cannot pass arguments to a program.
            script = pathlib.Path(self.folder.name) / f"player{number}"
            command = [kyokumen, "usi", "--batch", 1, "--model", pathlib.Path(network).resolve()]
            script.write_text(f"#!/bin/sh\nexec {shlex.join(str(argument) for argument in command)}\n")
            script.chmod(0o755)
            engine = Engine(str(script))
            engine.setoption("Mate_Root_Nodes", 2000)
            engine.isready()
            self.engines.append(engine)

    def play(self, opening, first_is_black):
        """Plays a game and returns the score of the first network."""
        board = cshogi.Board(opening)
        moves = []
        history = History(board)
        while len(moves) < MAX_MOVES:
            is_first = (board.turn == cshogi.BLACK) == first_is_black
            won, lost = (WIN, LOSS) if is_first else (LOSS, WIN)
            score = history.repetition()
            if score is not None:
                return {WIN: won, DRAW: DRAW, LOSS: lost}[score]
            engine = self.engines[0 if is_first else 1]
            engine.position(sfen=f"sfen {opening}", moves=moves)
            best, _ = engine.go(nodes=self.nodes)
            if best == "resign":
                return lost
            if best == "win":
                return won
            board.push_usi(best)
            moves.append(best)
            history.add(board)
        return DRAW


class History:
    """The positions of a game, for the repetition rule: the fourth occurrence of a position ends the game."""

    def __init__(self, board):
        self.positions = []
        self.checks = []
        self.add(board)

    def add(self, board):
        # Without the move number.
        self.positions.append(board.sfen().rsplit(" ", 1)[0])
        self.checks.append(board.is_check())

    def repetition(self):
        """The score of the side to move if the last position occurred for the fourth time, otherwise `None`. The game
        is a draw, except that a side loses if it has given check with every move since the first occurrence."""
        last = self.positions[-1]
        if self.positions.count(last) < 4:
            return None
        since = self.checks[self.positions.index(last) + 1 :]
        if all(since[-1::-2]):
            return WIN
        return LOSS if all(since[-2::-2]) else DRAW


def play_all(options, openings):
    local = threading.local()

    def play(number):
        if not hasattr(local, "players"):
            networks = [options.network, options.other]
            local.players = Players(options.kyokumen.resolve(), networks, options.nodes)
        return local.players.play(openings[number // 2 % len(openings)], number % 2 == 0)

    with concurrent.futures.ThreadPoolExecutor(options.threads) as pool:
        return list(pool.map(play, range(options.games)))


def elo(score):
    """The Elo difference for a score between 0 and 1."""
    score = min(max(score, 1e-4), 1 - 1e-4)
    return -400 * math.log10(1 / score - 1)


def interval(scores):
    """The mean score and its confidence interval. It uses the variance of pairs of games with the same opening, because
    the two games of a pair are not independent."""
    pairs = [(a + b) / 2 for a, b in zip(scores[::2], scores[1::2], strict=True)]
    mean = sum(pairs) / len(pairs)
    variance = sum((pair - mean) ** 2 for pair in pairs) / max(len(pairs) - 1, 1)
    width = DEVIATIONS * math.sqrt(variance / len(pairs))
    return mean, mean - width, mean + width


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("network")
    parser.add_argument("other")
    parser.add_argument("--openings", type=pathlib.Path, required=True, help="file with one SFEN per line")
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--nodes", type=int, default=64)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--kyokumen", type=pathlib.Path, default="target/release/kyokumen")
    options = parser.parse_args()
    if not options.kyokumen.is_file():
        print(f"{options.kyokumen} does not exist", file=sys.stderr)
        return 2
    options.games += options.games % 2
    lines = options.openings.read_text().splitlines()
    openings = [line.split("\t")[0] for line in lines if line]
    scores = play_all(options, openings)
    counts = collections.Counter(scores)
    score, low, high = interval(scores)
    print(
        f"{options.games} games: {counts[WIN]} won, {counts[DRAW]} drawn, {counts[LOSS]} lost; "
        f"Elo {elo(score):+.0f} (from {elo(low):+.0f} to {elo(high):+.0f}, 95 % interval)"
    )
    return 0 if low > 0.5 else 1


if __name__ == "__main__":
    sys.exit(main())
