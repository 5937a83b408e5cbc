#!/usr/bin/env python3
"""Draws random positions that are not in check, for tests of a mate search on positions that it was not tuned on.

The source is a file with an SFEN in the first column of each line, optionally compressed as `.zst`, or random play.
Games of random play have at most 220 plies; 60 % of the moves are captures if a capture is possible. Each game
contributes two positions with 15 to 36 pieces on the board. No position is drawn twice, and positions of `--exclude`
files are not drawn. Positions are equal if board, side to move and hands are equal.

Writes lines of SFEN, tab and `open` for `compare_solvers.py` and `kyokumen-bench solve`. The same seed draws the same
positions with the same versions of Python and cshogi.

    python3 -m venv .venv && .venv/bin/pip install -r tests/interop/requirements.txt
    .venv/bin/python benches/draw_positions.py games.sfen.zst --count 500 --seed 202 -o games.tsv
    .venv/bin/python benches/draw_positions.py --random-play --count 300 --seed 202 -o random.tsv

Exit status: 0 if done, 2 if a file is missing or contains too few positions.
"""

import argparse
import pathlib
import random
import re
import sys

import cshogi

MAX_PLIES = 220
CAPTURES = 0.6
PIECES_ON_BOARD = range(15, 37)
POSITIONS_OF_A_GAME = 2
RANK = r"(\+?[PLNSGBRKplnsgbrk]|[1-9])+"
SFEN = re.compile(rf"{RANK}(/{RANK}){{8}} [bw] (-|(\d*[PLNSGBRplnsgbr])+)( \d+)?")


class CannotDraw(Exception):
    """The requested positions cannot be drawn."""


def main():
    args = arguments()
    try:
        excluded = positions_of(args.exclude)
        generator = random.Random(args.seed)
        if args.random_play:
            drawn = draw_random_play(generator, args.count, excluded)
        else:
            drawn = draw_from_file(generator, args.source, args.count, excluded)
        write(args.output, drawn)
    except CannotDraw as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", nargs="?", type=pathlib.Path, metavar="FILE.sfen")
    parser.add_argument("--random-play", action="store_true", help="draw from games of random moves")
    parser.add_argument("--count", type=int, required=True, help="number of positions")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument(
        "--exclude", action="append", default=[], type=pathlib.Path, metavar="FILE.tsv",
        help="do not draw positions of this file; repeatable",
    )  # fmt: skip
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True, metavar="FILE.tsv")
    args = parser.parse_args()
    if (args.source is None) != args.random_play:
        parser.error("expected either a file or --random-play")
    return args


def draw_from_file(generator, source, count, excluded):
    """Draws `count` SFENs from a file, unchanged."""
    sfens = read_sfens(source)
    generator.shuffle(sfens)
    drawn, seen, board = [], set(excluded), cshogi.Board()
    for sfen in sfens:
        if len(drawn) == count:
            break
        position = set_position(board, sfen, source)
        if position not in seen and not board.is_check():
            seen.add(position)
            drawn.append(sfen)
    if len(drawn) < count:
        raise CannotDraw(
            f"{source}: {count} positions requested, but only {len(drawn)} of {len(sfens)} are not in check, not"
            " excluded and not repeated"
        )
    return drawn


def draw_random_play(generator, count, excluded):
    """Draws `count` SFENs from games of random moves."""
    drawn, seen = [], set(excluded)
    while len(drawn) < count:
        candidates = random_game(generator)
        for sfen in generator.sample(candidates, min(POSITIONS_OF_A_GAME, len(candidates))):
            if len(drawn) < count and without_ply(sfen) not in seen:
                seen.add(without_ply(sfen))
                drawn.append(sfen)
    return drawn


def random_game(generator):
    """Plays a game and returns the SFENs that may be drawn."""
    board, candidates = cshogi.Board(), []
    for _ in range(MAX_PLIES):
        moves = list(board.legal_moves)
        if not moves:
            break
        captures = [move for move in moves if is_capture(board, move)]
        prefers_captures = captures and generator.random() < CAPTURES
        board.push(generator.choice(captures if prefers_captures else moves))
        sfen = board.sfen()
        pieces = sum(character.isalpha() for character in sfen.split()[0])
        if pieces in PIECES_ON_BOARD and not board.is_check():
            candidates.append(sfen)
        if pieces < PIECES_ON_BOARD.start:
            break
    return candidates


def is_capture(board, move):
    return not cshogi.move_is_drop(move) and board.piece(cshogi.move_to(move)) != 0


def positions_of(files):
    """The positions of all files."""
    board = cshogi.Board()
    return {set_position(board, sfen, file) for file in files for sfen in read_sfens(file)}


def set_position(board, sfen, file):
    """Sets a position and returns its normalized SFEN without ply."""
    # cshogi would end the process on an invalid SFEN.
    if not SFEN.fullmatch(sfen) or not {"K", "k"} <= set(sfen):
        raise CannotDraw(f"{file}: expected an SFEN with both kings in the first column, not '{sfen}'")
    board.set_sfen(sfen)
    return without_ply(board.sfen())


def without_ply(sfen):
    return " ".join(sfen.split()[:3])


def read_sfens(file):
    """The first column of all lines except comments and blank lines."""
    try:
        text = decompressed(file) if file.suffix == ".zst" else file.read_bytes()
        lines = text.decode().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise CannotDraw(f"cannot read {file}: {error}") from error
    return [line.split("\t")[0] for line in lines if line.strip() and not line.startswith("#")]


def decompressed(file):
    import pyarrow

    with pyarrow.input_stream(str(file), compression="zstd") as stream:
        return stream.read()


def write(file, sfens):
    try:
        file.write_text("".join(f"{sfen}\topen\n" for sfen in sfens), newline="\n")
    except OSError as error:
        raise CannotDraw(f"cannot write {file}: {error}") from error


if __name__ == "__main__":
    sys.exit(main())
