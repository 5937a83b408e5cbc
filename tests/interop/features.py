#!/usr/bin/env python3
"""Compares input planes and move labels with cshogi.dlshogi: every value, both kinds of input2.

    cargo build --examples -p kyokumen-network && .venv/bin/python tests/interop/features.py

The positions come from random play by cshogi, from literals where a side has more than a declaration needs, and from
the files given with --sfens (an SFEN at the start of each line).
"""

import argparse
import pathlib
import random
import subprocess
import sys
import threading

import cshogi
import numpy as np
from cshogi import dlshogi

ROOT = pathlib.Path(__file__).resolve().parents[2]
INPUT1 = 62 * 81

# The side to move has more than 10 pieces besides its king in the promotion zone, more points than it needs, or both.
# Then the planes for missing pieces or points are empty. Random play hardly reaches such positions.
BEYOND = (
    "K+R+R+B+BGGGG/SSS6/9/9/9/9/9/9/8k b 2Ps4n4l16p 1",
    "K8/PPPPPPPPP/PP7/9/9/9/9/9/8k b - 1",
    "K+R+R+B+BGGGG/SS7/9/9/9/9/9/9/8k b 2S4N4L18p 1",
    "8K/9/9/9/9/9/9/s8/k+r+r+b+bgggg w 3s4n4l18P 1",
    "8K/9/9/9/9/9/ssss5/gggg5/k+r+r+b+b4 w 4n4l18P 1",
)
PIECES_LEFT = slice(58, 68)
POINTS_LEFT = slice(68, 88)


def random_play(count, seed):
    """SFENs of random games that prefer captures and promotions, so that kings advance and hands fill."""
    numbers = random.Random(seed)
    board = cshogi.Board()
    sfens = []
    while len(sfens) < count:
        moves = list(board.legal_moves)
        if not moves or board.move_number > 400:
            board = cshogi.Board()
            continue
        sfens.append(board.sfen())
        eager = [m for m in moves if cshogi.move_is_promotion(m) or cshogi.move_cap(m)]
        board.push(numbers.choice(eager if eager and numbers.random() < 0.5 else moves))
    return sfens


def lines_of(path):
    if path.suffix == ".zst":
        data = subprocess.run(["zstd", "-dc", path], check=True, capture_output=True).stdout
    else:
        data = path.read_bytes()
    return [line.split("\t")[0] for line in data.decode().splitlines() if line]


def theirs(sfen, planes):
    board = cshogi.Board(sfen)
    input1 = np.zeros((62, 9, 9), np.float32)
    input2 = np.zeros((planes, 9, 9), np.float32)
    dlshogi.make_input_features(board, input1, input2)
    labels = {cshogi.move_to_usi(m): dlshogi.make_move_label(m, board.turn) for m in board.legal_moves}
    return np.concatenate([input1.ravel(), input2.ravel()]), labels


def check_beyond():
    """Checks that in BEYOND cshogi also finds enough pieces, enough points, and both."""
    dlshogi.use_nyugyoku_features(True)
    kinds = set()
    for sfen in BEYOND:
        numbers, _ = theirs(sfen, 119)
        input2 = numbers[INPUT1:].reshape(119, 81)
        kinds.add((bool(input2[PIECES_LEFT].any()), bool(input2[POINTS_LEFT].any())))
    if kinds != {(False, False), (False, True), (True, False)}:
        raise SystemExit(f"cshogi has other planes of missing pieces and points for {BEYOND}")


def compare(program, sfens, planes):
    dlshogi.use_nyugyoku_features(planes == 119)
    text = "".join(f"{sfen}\n" for sfen in sfens).encode()
    with subprocess.Popen([program, str(planes)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        threading.Thread(target=lambda: (child.stdin.write(text), child.stdin.close()), daemon=True).start()
        for sfen in sfens:
            numbers, labels = theirs(sfen, planes)
            ours = np.frombuffer(child.stdout.read(4 * (INPUT1 + planes * 81)), "<f4")
            if not np.array_equal(ours, numbers):
                wrong = sorted({int(i) // 81 for i in np.nonzero(ours != numbers)[0]})
                raise SystemExit(f"{sfen}: planes {wrong} differ")
            count = int.from_bytes(child.stdout.read(4), "little")
            found = {}
            for _ in range(count):
                usi = child.stdout.read(5).decode().strip()
                found[usi] = int.from_bytes(child.stdout.read(2), "little")
            if found != labels:
                raise SystemExit(f"{sfen}: labels differ: {set(found.items()) ^ set(labels.items())}")
        if child.stdout.read(1):
            raise SystemExit("the program sent more than expected")
    if child.returncode != 0:
        raise SystemExit(f"{program} ended with {child.returncode}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "target/debug/examples/features")
    parser.add_argument("--positions", type=int, default=10_000)
    parser.add_argument("--sfens", type=pathlib.Path, nargs="*", default=[])
    options = parser.parse_args()
    check_beyond()
    sfens = [*BEYOND, *random_play(options.positions, 18)]
    for path in options.sfens:
        sfens += lines_of(path)
    turns = [sum(sfen.split()[1] == turn for sfen in sfens) for turn in "bw"]
    if min(turns) == 0:
        raise SystemExit(f"only one side is to move in all positions: {turns}")
    for planes in (57, 119):
        compare(options.program, sfens, planes)
        print(f"input2 of {planes} planes: {len(sfens)} positions ({turns[0]} Black, {turns[1]} White) equal cshogi")


if __name__ == "__main__":
    sys.exit(main())
