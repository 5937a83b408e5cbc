#!/usr/bin/env python3
"""Compares games of Kyokumen with games that cshogi reads and writes.

Kyokumen writes games as hcpe3, CSA and KIF. cshogi's parsers read the texts. The hcpe3 is read with numpy and the types
of cshogi, like in dlshogi's `hcpe3_to_hcpe.py`. All must hold the same moves, evaluations and results. Then cshogi
writes random games as CSA, KIF and KI2, and Kyokumen must read the same moves. Last, Japanese move names are compared.

Exit status 0: all equal, 1: a difference, 2: something is missing.
"""

import argparse
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import cshogi
import numpy as np
from cshogi import CSA, KI2, KIF

ROOT = pathlib.Path(__file__).resolve().parents[2]

HEADER = np.dtype(
    [("hcp", cshogi.dtypeHcp), ("moves", np.uint16), ("result", np.uint8), ("opponent", np.uint8)]
)
MOVE = np.dtype(
    [("move", cshogi.dtypeMove16), ("eval", cshogi.dtypeEval), ("candidates", np.uint16)]
)
CANDIDATE = np.dtype([("move", cshogi.dtypeMove16), ("visits", np.uint16)])


def main():
    options = parse_arguments()
    if not options.kyokumen.is_file():
        print(f"{options.kyokumen} is missing; build it with cargo build --release", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        failures = read_by_cshogi(options.kyokumen, folder, options.records)
        failures += written_by_cshogi(options.kyokumen, folder, options.games)
        failures += compare_move_names(options.kyokumen, folder, options.records)
    print("all equal" if failures == 0 else f"{failures} differ")
    return 1 if failures else 0


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kyokumen", type=pathlib.Path, default=ROOT / "target/release/kyokumen")
    parser.add_argument("--records", type=int, default=20000)
    parser.add_argument("--games", type=int, default=60)
    return parser.parse_args()


def read_by_cshogi(kyokumen, folder, records):
    """Compares games that Kyokumen writes and cshogi reads."""
    hcpe3, csa, kif, hcpe = (folder / f"made.{name}" for name in ("hcpe3", "csa", "kif", "hcpe"))
    run(kyokumen, "generate", "--count", records, "--seed", 7, "-o", hcpe3)
    give_evaluations(hcpe3)
    for target in (csa, kif, hcpe):
        run(kyokumen, "convert", hcpe3, "-o", target)
    games = list(walk(hcpe3))
    expected = [(moves, evals, result & 3) for moves, evals, result in games]
    failures = compare("hcpe3 as CSA", [values_of_csa(game) for game in CSA.Parser.parse_file(str(csa))
                                        if game.moves], expected)
    texts = kif.read_text("cp932").split("手合割：平手\n")[1:]
    kif_games = [KIF.Parser.parse_str("手合割：平手\n" + text) for text in texts]
    failures += compare(
        "hcpe3 as KIF",
        [[cshogi.move_to_usi(move) for move in game.moves] for game in kif_games],
        [moves for moves, _, _ in expected],
    )
    failures += joined(kyokumen, folder, hcpe3, expected)
    by_cshogi = folder / "cshogi.hcpe"
    to_hcpe(hcpe3, by_cshogi)
    return failures + compare("hcpe3 as hcpe", hcpe.read_bytes(), by_cshogi.read_bytes())


def joined(kyokumen, folder, hcpe3, expected):
    """Compares records of these games that Kyokumen joins to games and cshogi reads."""
    psv, csa, kif = (folder / f"joined.{name}" for name in ("psv", "csa", "kif"))
    run(kyokumen, "convert", hcpe3, "-o", psv, "--keep-untrained")
    for target in (csa, kif):
        run(kyokumen, "convert", psv, "-o", target)
    games = [values_of_csa(game) for game in CSA.Parser.parse_file(str(csa)) if game.moves]
    # psv holds only the winner of a game, without flags of the ending.
    without_flags = [(moves, evals, result & 3) for moves, evals, result in expected]
    failures = compare("psv as CSA", games, without_flags)
    texts = kif.read_text("cp932").split("手合割：平手\n")[1:]
    kif_games = [KIF.Parser.parse_str("手合割：平手\n" + text) for text in texts]
    return failures + compare(
        "psv as KIF",
        [[cshogi.move_to_usi(move) for move in game.moves] for game in kif_games],
        [moves for moves, _, _ in expected],
    )


def values_of_csa(game):
    signs = [1, -1]
    evals = [signs[i % 2] * score for i, score in enumerate(game.scores)]
    return [cshogi.move_to_usi(move) for move in game.moves], evals, game.win


def give_evaluations(path):
    """Gives every move another evaluation, and marks some moves as not for training."""
    source, out = random.Random(5), bytearray()
    for header, moves in parts(path.read_bytes()):
        out += header.tobytes()
        for info, candidates in moves:
            info = info.copy()
            info["eval"] = source.randint(-3000, 3000)
            if source.randrange(10) == 0:
                info["candidates"], candidates = 0, candidates[:0]
            out += info.tobytes() + candidates.tobytes()
    path.write_bytes(out)


def parts(data):
    """The header and the moves with their candidates, for each game."""
    at = 0

    def take(dtype, count=1):
        nonlocal at
        start, at = at, at + dtype.itemsize * count
        return np.frombuffer(data[start:at], dtype)

    while at < len(data):
        header = take(HEADER)[0]
        moves = []
        for _ in range(header["moves"]):
            info = take(MOVE)[0]
            moves.append((info, take(CANDIDATE, int(info["candidates"]))))
        yield header, moves


def walk(path):
    """The moves in USI notation, the evaluations and the result, for each game."""
    board = cshogi.Board()
    for header, infos in parts(path.read_bytes()):
        board.set_hcp(header["hcp"].copy())
        moves, evals = [], []
        for info, _ in infos:
            move = board.move_from_move16(int(info["move"]))
            moves.append(cshogi.move_to_usi(move))
            evals.append(int(info["eval"]))
            board.push(move)
        yield moves, evals, int(header["result"])


def to_hcpe(path, target):
    """Converts like dlshogi's hcpe3_to_hcpe.py."""
    board = cshogi.Board()
    records = []
    for header, infos in parts(path.read_bytes()):
        board.set_hcp(header["hcp"].copy())
        for info, _ in infos:
            if info["candidates"] > 0:
                record = np.zeros(1, cshogi.HuffmanCodedPosAndEval)
                board.to_hcp(record[0]["hcp"])
                record["eval"], record["bestMove16"] = info["eval"], info["move"]
                record["gameResult"] = header["result"] & 3
                records.append(record)
            board.push(board.move_from_move16(int(info["move"])))
    np.concatenate(records).tofile(target)


def written_by_cshogi(kyokumen, folder, games):
    """Compares games that cshogi writes and Kyokumen reads."""
    source = random.Random(3)
    csa, failures = folder / "theirs.csa", 0
    exporter, expected = CSA.Exporter(str(csa)), []
    for number in range(games):
        board = cshogi.Board()
        exporter.info(board, names=["a", "b"], version="V2.2")
        kif = KIF.Exporter(str(folder / f"{number}.kif"))
        kif.header(["先手", "後手"])
        ki2 = KI2.Exporter(str(folder / f"{number}.ki2"))
        ki2.header(["先手", "後手"])
        played = []
        for _ in range(source.randrange(1, 200)):
            moves = list(board.legal_moves)
            if not moves:
                break
            move = source.choice(moves)
            exporter.move(move, time=1, comment="** 12 +7776FU")
            kif.move(move, sec=1)
            ki2.move(move)
            played.append(cshogi.move_to_usi(move))
            board.push(move)
        exporter.endgame("%TORYO")
        kif.end("resign")
        kif.close()
        ki2.end("%TORYO")
        ki2.close()
        expected.append("startpos moves " + " ".join(played + ["resign"]))
    exporter.close()
    kifs, ki2s = ([folder / f"{number}.{name}" for number in range(games)] for name in ("kif", "ki2"))
    for name, inputs in (("CSA", [csa]), ("KIF", kifs), ("KI2", ki2s)):
        read = folder / f"theirs.{name}.usi"
        run(kyokumen, "convert", *inputs, "-o", read)
        failures += compare(f"{name} of cshogi", read.read_text().splitlines(), expected)
    return failures


# Characters that cshogi writes differently.
SIGNS = str.maketrans({"▲": "☗", "△": "☖", "竜": "龍", "王": "玉", "全": "成銀", "圭": "成桂", "杏": "成香", "\u3000": None})


def compare_move_names(kyokumen, folder, records):
    """Compares Japanese move names of random games, by `inspect --kanji` and by cshogi."""
    path = folder / "words.sfen"
    run(kyokumen, "generate", "--count", records, "--seed", 9, "-o", path)
    command = [kyokumen, "inspect", path, "--range", f"0..{records}", "--kanji"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    made, expected = [], []
    for sfen, usi, words in re.findall(r"^sfen      (.*)\n^move      (\S+)  (\S+)$", output, re.MULTILINE):
        board = cshogi.Board(sfen)
        made.append(words)
        expected.append(KI2.move_to_ki2(board.move_from_usi(usi), board).translate(SIGNS))
    return compare("Japanese move names", made, expected) + (len(made) < records / 2)


def run(kyokumen, *arguments):
    command = [kyokumen, *(str(argument) for argument in arguments)]
    subprocess.run(command, check=True, capture_output=True)


def compare(name, made, expected):
    if made == expected:
        print(f"equal   {name} ({len(expected)})")
        return 0
    print(f"DIFFERS {name}: {len(made)} and {len(expected)}")
    for i, pair in enumerate(zip(made, expected)):
        if pair[0] != pair[1]:
            print(f"    {i}\n        made     {pair[0]}\n        expected {pair[1]}")
            break
    return 1


if __name__ == "__main__":
    sys.exit(main())
