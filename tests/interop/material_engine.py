#!/usr/bin/env python3
"""A USI engine that counts pieces with cshogi and fails at random, for `relabel.py`.

With `--fail N` it exits, hangs or answers without a score for about one in N positions, but never for its first
position, so a restarted engine answers.
"""

import argparse
import random
import sys
import time

import cshogi

VALUES = [0, 90, 315, 405, 495, 855, 990, 540, 0, 540, 540, 540, 540, 945, 1395]
HAND = [90, 315, 405, 495, 540, 855, 990]
MATE_PLIES = 7


def material(board):
    """Points of the side to move minus points of the other side, including promoted pieces and pieces in hand."""
    points = 0
    for piece in board.pieces:
        if piece:
            points += VALUES[piece & 15] if piece < 16 else -VALUES[piece & 15]
    black, white = board.pieces_in_hand
    points += sum(v * (b - w) for v, b, w in zip(HAND, black, white, strict=True))
    return points if board.turn == cshogi.BLACK else -points


def answer(board):
    """The answer for a position: a score, and the first legal move by name or a mate in 1."""
    moves = sorted(cshogi.move_to_usi(m) for m in board.legal_moves)
    if not moves:
        return "mate -0", "resign"
    if board.mate_move_in_1ply():
        return f"mate +{MATE_PLIES}", cshogi.move_to_usi(board.mate_move_in_1ply())
    return f"cp {material(board)}", moves[0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fail", type=int, default=0)
    options = parser.parse_args()
    numbers = random.Random(time.time_ns())
    board, expected_nodes, answered = cshogi.Board(), "100", 0
    for line in sys.stdin:
        match line.split():
            case ["usi"]:
                print("id name Material\nid author nobody\noption name Level type spin default 1 min 1 max 9\nusiok")
            case ["setoption", "name", "Level", "value", level] if level != "3":
                sys.exit(f"Level {level}")
            case ["isready"]:
                print("readyok")
            case ["position", "sfen", *sfen]:
                board.set_sfen(" ".join(sfen))
            case ["go", "nodes", nodes] if nodes == expected_nodes:
                if options.fail and answered and numbers.randrange(options.fail) == 0:
                    match numbers.randrange(3):
                        case 0:
                            sys.exit(1)
                        case 1:
                            time.sleep(3600)
                        case 2:
                            print("bestmove 7g7f", flush=True)
                            continue
                answered += 1
                score, move = answer(board)
                print(f"info depth 1 score cp 1 pv {move}\ninfo depth 2 nodes 100 score {score} pv {move}")
                print(f"info string score cp 5\nbestmove {move}")
            case ["quit"]:
                return
        sys.stdout.flush()


if __name__ == "__main__":
    main()
