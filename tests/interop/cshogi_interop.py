#!/usr/bin/env python3
"""Compares Kyokumen's readers and writers with those of cshogi, which were written independently.

cshogi plays random games, even and handicap games, and writes every position as hcp, hcpe, psv and text. For each pair
of formats where the target holds no more than the source, `kyokumen convert` must reproduce cshogi's other file byte
for byte. The `dev.*` files of a data folder are compared in the same way, if they exist.

Exit status 0: all equal, 1: a difference (the first ones are printed), 2: something is missing.

    python3 -m venv .venv && .venv/bin/pip install -r tests/interop/requirements.txt
    cargo build --release && .venv/bin/python tests/interop/cshogi_interop.py
"""

import argparse
import pathlib
import random
import subprocess
import sys
import tempfile

import cshogi
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]

STARTS = [
    "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
    # Lance, bishop, rook, two, four, six and ten pieces.
    "lnsgkgsn1/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
    "lnsgkgsnl/1r7/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
    "lnsgkgsnl/7b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
    "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
    "1nsgkgsn1/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
    "2sgkgs2/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
    "4k4/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
]
LONGEST_GAME = 320
BLACK_WIN, WHITE_WIN = 1, 2
RECORD_LEN = {"hcp": 32, "hcpe": 38, "psv": 40}
FIRST_DIFFERENCES = 5


def main():
    options = parse_arguments()
    if not options.kyokumen.is_file():
        print(f"{options.kyokumen} is missing; build it with cargo build --release", file=sys.stderr)
        return 2
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        count = write_with_cshogi(folder, options.positions, options.seed)
        print(f"{count} positions of random games, seed {options.seed}")
        for source, target, expected, fill in comparisons(folder, "random"):
            failures += compare(options.kyokumen, folder, source, target, expected, fill)
        for stem in ("dev", "dev_engine"):
            if not (options.data / f"{stem}.sfen.zst").is_file():
                print(f"skipped: {options.data / stem}.* are missing")
                continue
            for format in RECORD_LEN:
                expected = options.data / f"{stem}.{format}"
                if expected.is_file():
                    source = options.data / f"{stem}.sfen.zst"
                    fill = "result=draw" if format != "hcp" else None
                    failures += compare(options.kyokumen, folder, source, format, expected, fill)
    print("all equal" if failures == 0 else f"{failures} comparisons differ")
    return 1 if failures else 0


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kyokumen", type=pathlib.Path, default=ROOT / "target/release/kyokumen")
    parser.add_argument("--data", type=pathlib.Path, default=ROOT / "../shared/data")
    parser.add_argument("--positions", type=int, default=6000)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def comparisons(folder, stem):
    """Source file, target format, expected file, and the fill for fields that the source lacks."""
    file = {name: folder / f"{stem}.{name}" for name in ("hcp", "hcpe", "psv", "sfen")}
    yield file["sfen"], "hcp", file["hcp"], None
    yield file["sfen"], "hcpe", file["hcpe"], None
    yield file["sfen"], "psv", file["psv"], None
    yield file["hcpe"], "hcp", file["hcp"], None
    yield file["psv"], "hcp", file["hcp"], None
    yield file["psv"], "hcpe", file["hcpe"], None
    yield file["psv"], "sfen", file["sfen"], None
    yield file["hcp"], "sfen", folder / f"{stem}.of_hcp", None
    yield file["hcpe"], "sfen", folder / f"{stem}.of_hcpe", None
    yield file["hcpe"], "psv", folder / f"{stem}.psv_ply_0", "ply=0"


def write_with_cshogi(folder, positions, seed):
    """Plays random games and writes every position in all formats."""
    records = []
    random_source = random.Random(seed)
    games = 0
    while len(records) < positions:
        records.extend(play(STARTS[games % len(STARTS)], random_source))
        games += 1
    count = len(records)
    hcp = np.zeros(count, cshogi.HuffmanCodedPos)
    hcpe = np.zeros(count, cshogi.HuffmanCodedPosAndEval)
    psv = np.zeros(count, cshogi.PackedSfenValue)
    board = cshogi.Board()
    for i, (sfen, move, eval_cp, ply, result) in enumerate(records):
        board.set_sfen(sfen)
        board.to_hcp(hcp[i : i + 1])
        board.to_psfen(psv[i : i + 1]["sfen"])
        hcpe[i]["hcp"] = hcp[i]["hcp"]
        hcpe[i]["eval"] = psv[i]["score"] = eval_cp
        hcpe[i]["bestMove16"] = cshogi.move16(move)
        psv[i]["move"] = cshogi.move16_to_psv(cshogi.move16(move))
        hcpe[i]["gameResult"] = result
        psv[i]["gamePly"] = ply
        winner = {BLACK_WIN: cshogi.BLACK, WHITE_WIN: cshogi.WHITE}.get(result)
        psv[i]["game_result"] = 0 if winner is None else 1 if winner == board.turn else -1
    hcp.tofile(folder / "random.hcp")
    hcpe.tofile(folder / "random.hcpe")
    psv.tofile(folder / "random.psv")
    psv["gamePly"] = 0
    psv.tofile(folder / "random.psv_ply_0")
    write_text(folder, records)
    return count


def write_text(folder, records):
    with (
        open(folder / "random.sfen", "w", newline="") as whole,
        open(folder / "random.of_hcp", "w", newline="") as of_hcp,
        open(folder / "random.of_hcpe", "w", newline="") as of_hcpe,
    ):
        for sfen, move, eval_cp, ply, result in records:
            usi = cshogi.move_to_usi(move)
            result = "dbw"[result]
            without_ply = sfen.rsplit(" ", 1)[0] + " 1"
            whole.write(f"{sfen}\t{usi}\t{eval_cp}\t{ply}\t{result}\n")
            of_hcp.write(f"{without_ply}\n")
            of_hcpe.write(f"{without_ply}\t{usi}\t{eval_cp}\t-\t{result}\n")


def play(start, random_source):
    """One random game: (sfen, move, evaluation, ply, result) of each of its positions."""
    board = cshogi.Board()
    board.set_sfen(start)
    played = []
    result = random_source.randrange(3)
    for _ in range(LONGEST_GAME):
        moves = list(board.legal_moves)
        if not moves:
            result = WHITE_WIN if board.turn == cshogi.BLACK else BLACK_WIN
            break
        move = random_source.choice(moves)
        eval_cp = random_source.randint(-32768, 32767)
        played.append((board.sfen(), move, eval_cp, board.move_number))
        board.push(move)
    return [(*position, result) for position in played]


def compare(kyokumen, folder, source, target, expected, fill):
    """Converts a file and compares it with the expected one. Returns 1 if they differ."""
    made = folder / f"made.{target}"
    made.unlink(missing_ok=True)
    command = [kyokumen, "convert", source, "-o", made]
    if fill:
        command += ["--fill", fill]
    name = f"{source.name} -> {expected.name}"
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"FAILED  {name}: exit status {done.returncode}\n{done.stderr.strip()}")
        return 1
    if made.read_bytes() == expected.read_bytes():
        print(f"equal   {name}")
        return 0
    print(f"DIFFERS {name}")
    print_differences(target, made.read_bytes(), expected.read_bytes())
    return 1


def print_differences(target, made, expected):
    if target == "sfen":
        made, expected = made.splitlines(), expected.splitlines()
        show = bytes.decode
    else:
        length = RECORD_LEN[target]
        made, expected = (
            [data[i : i + length] for i in range(0, len(data), length)] for data in (made, expected)
        )
        show = bytes.hex
    if len(made) != len(expected):
        print(f"    {len(made)} records, expected {len(expected)}")
    differences = [i for i, pair in enumerate(zip(made, expected)) if pair[0] != pair[1]]
    for i in differences[:FIRST_DIFFERENCES]:
        print(f"    record {i}\n        made     {show(made[i])}\n        expected {show(expected[i])}")
    print(f"    {len(differences)} records differ")


if __name__ == "__main__":
    sys.exit(main())
