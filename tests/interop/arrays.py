#!/usr/bin/env python3
"""Reads the arrays of `kyokumen convert … -o x.npz` with numpy and compares them with records and with cshogi.

The records of `data/` in every format are converted to arrays of both families. Each row must equal the same record in
hcpe and psv, read by numpy with the types of cshogi. Results must equal those of cshogi's boards.

    python3 tests/interop/arrays.py --kyokumen target/debug/kyokumen
"""

import argparse
import pathlib
import subprocess
import tempfile

import cshogi
import numpy as np

DATA = pathlib.Path(__file__).resolve().parents[2] / "data"
FORMATS = "hcp hcpe hcpe2 hcpe3 hcpe42 psv sfen jsonl plain pack sbinpack usi csa kif db".split()
FILL = "move=none,eval=0,ply=0,result=draw"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kyokumen", required=True)
    program = parser.parse_args().kyokumen

    with tempfile.TemporaryDirectory() as folder:

        def convert(source, name, *options):
            output = pathlib.Path(folder, name)
            words = [program, "convert", source, "-o", output, "--force", "--progress", "none", *options]
            subprocess.run(words, check=True, capture_output=True)
            return output

        def arrays(*arguments):
            with np.load(convert(*arguments)) as file:
                return {name: file[name] for name in file.files}

        for name in FORMATS:
            source = DATA / f"sample.{name}"
            hcpe = np.fromfile(convert(source, "a.hcpe", "--fill", FILL), cshogi.HuffmanCodedPosAndEval)
            psv = np.fromfile(convert(source, "a.psv", "--fill", FILL), cshogi.PackedSfenValue)
            apery = arrays(source, "a.npz")
            yaneuraou = arrays(source, "b.npz", "--family", "yaneuraou")

            assert apery["hcp"].dtype == np.uint8 and apery["hcp"].shape == (len(hcpe), 32)
            assert (apery["hcp"] == hcpe["hcp"]).all(), name
            assert (yaneuraou["packed_sfen"] == psv["sfen"]).all(), name
            for key in ("eval_cp", "ply", "result"):
                assert (key in apery) == (key in yaneuraou), (name, key)
                if key in apery:
                    assert (apery[key] == yaneuraou[key]).all(), (name, key)
            if "move_apery" in apery:
                assert apery["move_apery"].dtype == np.uint16
                assert (apery["move_apery"] == hcpe["bestMove16"]).all(), name
                assert (yaneuraou["move_yaneuraou"] == psv["move"]).all(), name
            for key, dtype, expected in (
                ("eval_cp", np.int16, psv["score"]),
                ("ply", np.int32, psv["gamePly"]),
                ("result", np.int8, psv["game_result"]),
            ):
                if key not in apery:
                    assert not expected.any(), (name, key)
                    continue
                assert apery[key].dtype == dtype
                null = apery.get(f"{key}_null", np.zeros(len(expected), bool))
                assert (apery[key][~null] == expected[~null]).all(), (name, key)
                assert not apery[key][null].any() and not expected[null].any(), (name, key)
            if "result" in apery:
                board = cshogi.Board()
                for row in range(0, len(hcpe), 97):
                    board.set_hcp(apery["hcp"][row])
                    winner = {0: None, 1: cshogi.BLACK, 2: cshogi.WHITE}[int(hcpe["gameResult"][row]) & 3]
                    result = 0 if winner is None else 1 if winner == board.turn else -1
                    assert apery["result"][row] == result, (name, row)
            print(f"{name}: {', '.join(apery)}")

        # Filters, mirrors and repetitions.
        source = DATA / "sample.psv"
        for options in (["--max-abs-eval", "300"], ["--mirror"], ["--dedup"], ["--limit", "77"], ["--drop-in-check"]):
            psv = np.fromfile(convert(source, "a.psv", *options), cshogi.PackedSfenValue)
            converted = arrays(source, "a.npz", "--family", "yaneuraou", *options)
            assert len(psv) and (converted["packed_sfen"] == psv["sfen"]).all(), options
            assert (converted["move_yaneuraou"] == psv["move"]).all(), options
            assert (converted["result"] == psv["game_result"]).all(), options
        print("filters and mirrors")


main()
