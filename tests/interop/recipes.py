#!/usr/bin/env python3
"""Runs the recipes of examples/recipes/ and compares their results with kyokumen and cshogi.

    python3 tests/interop/recipes.py --kyokumen target/debug/kyokumen [--torch PYTHON]

PYTHON is an interpreter with PyTorch. Without it, the recipe for PyTorch is skipped with a message.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import cshogi
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECIPES = ROOT / "examples" / "recipes"
sys.path.insert(0, str(RECIPES))

from numpy_records import HCPE, PSV, outcome  # noqa: E402
from packed_positions import HAND, decode, from_side_to_move  # noqa: E402


def run(*words):
    ran = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    assert ran.returncode == 0, f"{words}: {ran.stderr}"
    return ran.stdout


def check_figures(recipe, program, folder):
    for name in ("sample.psv", "sample.hcpe"):
        # Random evaluations, and the smallest possible one.
        records = np.fromfile(ROOT / "data" / name, PSV if name.endswith("psv") else HCPE)
        records["eval_cp"] = np.random.default_rng(1).integers(-3000, 3000, len(records))
        records["eval_cp"][7] = -32768
        source = folder / name
        records.tofile(source)
        npz = folder / f"{name}.npz"
        run(program, "convert", source, "-o", npz, "--progress", "none")
        expected = json.loads(run(program, "stats", source, "--json"))
        for path in (source, npz):
            found = json.loads(run(sys.executable, recipe, path))
            assert found["records"] == expected["records"]
            for key in ("to_move", "outcomes"):
                assert found[key] == expected[key], (path, key, found[key], expected[key])
            for key in ("least", "most", "mean"):
                assert abs(found["evals"][key] - expected["evals"][key]) < 1e-9, (path, key)

        # The recipe and convert must keep the same records.
        kept, by_convert = folder / f"kept-{name}", folder / f"convert-{name}"
        run(sys.executable, recipe, source, "-o", kept, "--max-abs-eval", 2000, "--drop-draws")
        words = ["--max-abs-eval", 2000, "--result", "black,white", "--progress", "none"]
        run(program, "convert", source, "-o", by_convert, *words)
        assert kept.read_bytes() == by_convert.read_bytes() != b"", name
        print(f"numpy_records.py: {name}, {len(records)} records, {kept.stat().st_size // records.itemsize} kept")


def check_positions(program, folder):
    psv = np.fromfile(ROOT / "data" / "sample.psv", PSV)
    hcp = np.fromfile(ROOT / "data" / "sample.hcp", np.uint8).reshape(-1, 32)
    # Handicap games have pieces in the box.
    handicap = folder / "handicap.sfen"
    handicap.write_text(
        "4k4/9/4P4/9/9/9/9/9/4K4 b G 1\nlnsgkgsn1/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1\n"
        "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1\n"
    )
    run(program, "convert", handicap, "-o", folder / "handicap.npz", "--progress", "none")
    run(program, "convert", handicap, "-o", folder / "handicap-y.npz", "--family", "yaneuraou", "--progress", "none")
    small = np.load(folder / "handicap.npz")["hcp"]
    small_y = np.load(folder / "handicap-y.npz")["packed_sfen"]
    for family, positions, set_position in (
        ("hcp", hcp, "set_hcp"), ("psv", psv["packed_sfen"], "set_psfen"),
        ("hcp", small, "set_hcp"), ("psv", small_y, "set_psfen"),
    ):
        to_move, boards, hands = decode(positions, family)
        board = cshogi.Board()
        order = [cshogi.HPAWN, cshogi.HLANCE, cshogi.HKNIGHT, cshogi.HSILVER, cshogi.HGOLD, cshogi.HBISHOP, cshogi.HROOK]
        assert len(order) == len(HAND)
        for row, position in enumerate(positions):
            getattr(board, set_position)(np.ascontiguousarray(position))
            assert to_move[row] == board.turn
            assert list(boards[row]) == list(board.pieces), (family, row)
            for colour, in_hand in enumerate(board.pieces_in_hand):
                assert [in_hand[kind] for kind in order] == list(hands[row, colour]), (family, row)
        seen, _ = from_side_to_move(to_move, boards, hands)
        own_king = np.argmax(seen == 8, axis=1)
        assert (np.where(to_move == 1, 80 - np.argmax(boards == 24, axis=1), np.argmax(boards == 8, axis=1)) == own_king).all()
        print(f"packed_positions.py: {len(positions)} positions of {family}")


def check_torch(python, program, folder):
    shuffled = folder / "shuffled.psv"
    run(program, "shuffle", ROOT / "data" / "sample.psv", "-o", shuffled, "--progress", "none")
    records = np.fromfile(shuffled, PSV)
    expected = f"{len(records)} records, results {int(outcome(records).sum()):+d}"
    last_lines = {}
    for workers in (0, 1, 3):
        lines = run(python, RECIPES / "torch_dataset.py", shuffled, "--workers", workers, "--batch", 300).splitlines()
        assert all(expected in line for line in lines) and len(lines) == 5, lines
        losses = [float(line.rsplit(" ", 1)[1]) for line in lines]
        assert losses[-1] < 0.9 * losses[0], losses
        last_lines[workers] = lines[-1]
    print(f"torch_dataset.py: {last_lines[3]}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kyokumen", required=True)
    parser.add_argument("--torch", help="an interpreter with PyTorch")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        check_figures(RECIPES / "numpy_records.py", options.kyokumen, folder)
        check_positions(options.kyokumen, folder)
        if options.torch:
            check_torch(options.torch, options.kyokumen, folder)
        else:
            print("SKIPPED: torch_dataset.py, because --torch was not given", file=sys.stderr)


main()
