#!/usr/bin/env python3
"""Checks repetitions in `examples/loop/match.py`: the fourth occurrence of a position ends a game, not the second.

    .venv/bin/python tests/interop/loop_match.py
"""

import pathlib
import sys

import cshogi

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples" / "loop"))
from match import DRAW, LOSS, WIN, History

KINGS = ("8k/9/9/9/9/9/9/9/K8 b - 1", "9i8i 1a2a 8i9i 2a1a")
PERPETUAL_CHECK = ("4k4/R8/9/9/9/9/9/9/4K4 b - 1", "9b9a 5a5b 9a9b 5b5a")


def results(sfen, moves):
    """The result after each move."""
    board = cshogi.Board(sfen)
    history = History(board)
    for move in moves.split():
        board.push_usi(move)
        history.add(board)
        yield history.repetition()


def main():
    # The start is the first occurrence, three rounds later is the fourth.
    for (sfen, round_), score in ((KINGS, DRAW), (PERPETUAL_CHECK, LOSS)):
        found = list(results(sfen, f"{round_} " * 3))
        assert found == [None] * 11 + [score], found
    sfen, round_ = PERPETUAL_CHECK
    # After a check by Black, White is to move and wins.
    assert list(results(sfen, f"{round_} " * 3 + "9b9a"))[-1] == WIN
    # A move without check in between makes it a draw.
    with_pause = f"{round_} 9b8b 5a4a 8b9b 4a5a {round_} {round_} {round_}"
    first = next(score for score in results(sfen, with_pause) if score is not None)
    assert first == DRAW, first
    print("repetitions follow the rules")


if __name__ == "__main__":
    main()
