#!/usr/bin/env python3
"""Reads the dataset of marubatsu with pyarrow, numpy and json, and compares it with a separate solution.

Exit status 0: all correct, 1: a difference, 2: something is missing.
"""

import argparse
import functools
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import pyarrow.parquet

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROWS = [(0, 1, 2), (3, 4, 5), (6, 7, 8)]
COLUMNS = [(0, 3, 6), (1, 4, 7), (2, 5, 8)]
DIAGONALS = [(0, 4, 8), (2, 4, 6)]
TYPES = {
    "board": "string not null",
    "to_move": "string not null",
    "value": "int8 not null",
    "distance": "int8 not null",
    "best_moves": "list<element: int8 not null> not null",
    "symmetry_class": "int16 not null",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kyokumen", type=pathlib.Path, default=ROOT / "target/release/kyokumen")
    kyokumen = parser.parse_args().kyokumen
    if not kyokumen.is_file():
        print(f"{kyokumen} is missing; build it with cargo build --release --features parquet", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for to in ("jsonl", "parquet", "npz"):
            command = [kyokumen, "marubatsu", "dataset", "-o", folder, "--to", to]
            subprocess.run(command, check=True, capture_output=True)
        rows = [json.loads(line) for line in (folder / "marubatsu.jsonl").read_text().splitlines()]
        table = pyarrow.parquet.read_table(folder / "marubatsu.parquet")
        arrays = dict(np.load(folder / "marubatsu.npz"))
    results = {
        "types of Parquet": types(table) == TYPES,
        "JSON = Parquet": rows == table.to_pylist(),
        "JSON = numpy": rows == rows_of_arrays(arrays),
        "positions": sorted(row["board"] for row in rows) == sorted(map(text, reachable())),
        "values, distances and best moves": all(map(is_solved, rows)),
        "classes of symmetry": classes(rows),
    }
    for check, is_correct in results.items():
        print(f"{'correct' if is_correct else 'WRONG  '} marubatsu, {len(rows)} rows: {check}")
    print("all correct" if all(results.values()) else "not all is correct")
    return 0 if all(results.values()) else 1


def types(table):
    return {field.name: str(field.type) + ("" if field.nullable else " not null") for field in table.schema}


def rows_of_arrays(arrays):
    ends = arrays.pop("best_moves_offsets")
    moves = arrays["best_moves"]
    arrays["best_moves"] = [moves[a:b] for a, b in zip(ends[:-1], ends[1:])]
    assert set(arrays) == set(TYPES)
    columns = [[value.tolist() for value in arrays[name]] for name in TYPES]
    return [dict(zip(TYPES, row)) for row in zip(*columns)]


def text(board):
    return "/".join(board[start : start + 3] for start in (0, 3, 6))


def free(board):
    return [square for square in range(9) if board[square] == "."]


def winner(board):
    lines = {"".join(board[square] for square in line) for line in ROWS + COLUMNS + DIAGONALS}
    return 1 if "ooo" in lines else -1 if "xxx" in lines else 0


def to_move(board):
    return "o" if board.count("o") == board.count("x") else "x"


def after(board, square):
    return board[:square] + to_move(board) + board[square + 1 :]


def is_over(board):
    return winner(board) != 0 or not free(board)


def reachable():
    found, new = set(), {"." * 9}
    while new:
        found |= new
        new = {after(board, square) for board in new if not is_over(board) for square in free(board)}
    return found


@functools.cache
def solve(board):
    """The value for o, and the plies to the end if the winner plays for a short game and the loser for a long one."""
    if is_over(board):
        return winner(board), 0
    sign = 1 if to_move(board) == "o" else -1
    found = [solve(after(board, square)) for square in free(board)]
    value = max(value * sign for value, _ in found) * sign
    plies = [plies for child, plies in found if child == value]
    return value, 1 + (min(plies) if value == sign else max(plies))


def is_solved(row):
    board = row["board"].replace("/", "")
    best = [] if is_over(board) else [s for s in free(board) if solve(after(board, s))[0] == solve(board)[0]]
    found = (row["value"], row["distance"]), row["best_moves"], row["to_move"]
    return found == (solve(board), best, to_move(board))


def images(board):
    for _ in range(4):
        board = "".join(board[3 * (2 - x) + y] for y in range(3) for x in range(3))
        yield board
        yield "".join(board[start : start + 3][::-1] for start in (0, 3, 6))


def classes(rows):
    """Whether symmetric boards share a class and other boards do not, with 765 classes in all."""
    class_of = {row["board"].replace("/", ""): row["symmetry_class"] for row in rows}
    first = {board: min(images(board)) for board in class_of}
    pairs = {(class_of[board], first[board]) for board in class_of}
    return len(pairs) == len(set(class_of.values())) == len(set(first.values())) == 765


if __name__ == "__main__":
    sys.exit(main())
