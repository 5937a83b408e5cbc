"""Common code of scripts that check the scripts in `benches/`."""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BENCHES = ROOT / "benches"


def check(description, things, *checks):
    """Calls each `check(folder, program)` with a temporary folder. A check yields pairs of a statement and whether it
    is true. Returns the exit status: 0 all are true, 1 one is false, 2 the program is missing."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--kyokumen", type=pathlib.Path, default=ROOT / "target/release/kyokumen")
    program = parser.parse_args().kyokumen.resolve()
    if not program.is_file():
        print(f"{program} is missing; build it with cargo build --release", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        statements = (statement for check in checks for statement in check(pathlib.Path(folder), program))
        failures = [statement for statement, is_true in statements if not is_true]
    for statement in failures:
        print(f"false: {statement}")
    print(f"{len(failures)} statements about {things} are false" if failures else "all statements are true")
    return 1 if failures else 0


def run(script, *words, packages=None):
    """Runs a script of `benches/` and returns the finished process. Imports look into the folder `packages` first."""
    command = [sys.executable, BENCHES / script, *map(str, words)]
    environment = os.environ | ({"PYTHONPATH": str(packages)} if packages else {})
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
