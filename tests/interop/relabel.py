#!/usr/bin/env python3
"""Compares every record of `kyokumen relabel` with evaluations from other sources.

- An engine that counts pieces (`material_engine.py`), also in three processes that exit and hang at random. The
  evaluations must equal those that cshogi gives here, and all other fields of a record must stay unchanged.
- A network, if `--model` is given. This needs a program with networks. The evaluations must equal those of ONNX Runtime
  on cshogi's planes within 2 centipawns, with rten, with ONNX Runtime in the program, and if `examples/evaluator.py`
  evaluates the network in separate processes.

Exit status 0: all equal, 1: a difference, 2: something is missing.
"""

import argparse
import math
import pathlib
import subprocess
import sys
import tempfile

import cshogi
import numpy as np
from cshogi import dlshogi
from material_engine import MATE_PLIES, answer

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCALE = 756.0865
MATE = 30_000
RECORDS = 3000
NEAR_CP = 2


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kyokumen", type=pathlib.Path, default=ROOT / "target/release/kyokumen")
    parser.add_argument("--model", type=pathlib.Path)
    parser.add_argument("--records", type=pathlib.Path, default=ROOT / "data/sample.hcpe")
    options = parser.parse_args()
    if not options.kyokumen.is_file():
        print(f"{options.kyokumen} is missing", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        records = np.fromfile(options.records, cshogi.HuffmanCodedPosAndEval)[:RECORDS]
        path = folder / "some.hcpe"
        records.tofile(path)
        failures = by_engine(options.kyokumen, path, records)
        if options.model:
            failures += by_network(options.kyokumen, path, records, options.model)
        else:
            print("skipped: evaluations by a network (--model NET.onnx)")
    print("all equal" if failures == 0 else f"{failures} differences")
    return 1 if failures else 0


def relabel(kyokumen, path, *words):
    out = path.parent / "out"
    command = [kyokumen, "relabel", path, "-o", out, "--progress", "none", "--force", *words]
    subprocess.run([str(word) for word in command], check=True)
    return np.fromfile(out / path.name, cshogi.HuffmanCodedPosAndEval)


def differences(name, records, new, expected, near=0):
    """The number of unexpected evaluations and of other fields that changed."""
    failures = 0
    if len(new) != len(records):
        print(f"{name}: {len(new)} records instead of {len(records)}")
        return 1
    for field in ("hcp", "bestMove16", "gameResult", "dummy"):
        if not np.array_equal(records[field], new[field]):
            print(f"{name}: {field} has changed")
            failures += 1
    wrong = np.abs(new["eval"].astype(int) - np.asarray(expected)) > near
    for index in np.flatnonzero(wrong)[:5]:
        print(f"{name}: record {index} has {new['eval'][index]}, expected {expected[index]}")
    print(f"{name}: {len(records)} records, {int(wrong.sum())} with an unexpected evaluation")
    return failures + int(wrong.sum())


def boards(records):
    board = cshogi.Board()
    for hcp in records["hcp"]:
        board.set_hcp(np.ascontiguousarray(hcp))
        yield board


def by_engine(kyokumen, path, records):
    engine = f"{sys.executable} {pathlib.Path(__file__).with_name('material_engine.py')}"
    expected = [score_of(answer(board)[0]) for board in boards(records)]
    words = ["--nodes", 100, "--engine-option", "Level=3"]
    plain = relabel(kyokumen, path, "--engine", engine, *words, "--threads", 1)
    failures = differences("an engine", records, plain, expected)
    words += ["--engine-timeout", 3, "--threads", 3]
    failing = relabel(kyokumen, path, "--engine", f"{engine} --fail 150", *words)
    return failures + differences("engines that fail", records, failing, expected)


def score_of(text):
    kind, number = text.split()
    if kind == "cp":
        return int(number)
    return MATE - MATE_PLIES if number.startswith("+") else -MATE


def by_network(kyokumen, path, records, model):
    import onnxruntime

    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    features1 = np.zeros((len(records), 62, 9, 9), np.float32)
    features2 = np.zeros((len(records), 57, 9, 9), np.float32)
    mated = np.zeros(len(records), bool)
    for index, board in enumerate(boards(records)):
        dlshogi.make_input_features(board, features1[index], features2[index])
        mated[index] = not list(board.legal_moves)
    _, values = session.run(
        ["output_policy", "output_value"], {"input1": features1, "input2": features2}
    )
    expected = [
        -MATE if is_mated else -SCALE * math.log(1 / float(value) - 1)
        for value, is_mated in zip(values[:, 0], mated, strict=True)
    ]
    new = relabel(kyokumen, path, "--model", model)
    failures = differences("a network", records, new, expected, NEAR_CP)
    for words in ([], ["--batch", 7, "--threads", 2]):
        new = relabel(kyokumen, path, "--model", model, "--runtime", "ort", *words, "--ort-lib", library())
        failures += differences("ONNX Runtime", records, new, expected, NEAR_CP)
    program = f"run:{sys.executable} {ROOT / 'examples/evaluator.py'} {model}"
    new = relabel(kyokumen, path, "--model", program)
    return failures + differences("a program", records, new, expected, NEAR_CP)


def library():
    """The shared library of the installed package."""
    import onnxruntime

    return next(pathlib.Path(onnxruntime.__file__).parent.glob("capi/libonnxruntime.*"))


if __name__ == "__main__":
    sys.exit(main())
