"""What scripts have in common that check promises about `benches/`."""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BENCHES = ROOT / "benches"


def check(description, things, *checks):
    """Calls each `check(folder, program)`, which yields promises in words with whether they hold, with a folder that is
    removed afterwards. Returns the exit status: 0 all hold, 1 one does not, 2 the program is missing."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--kyokumen", type=pathlib.Path, default=ROOT / "target/release/kyokumen")
    program = parser.parse_args().kyokumen.resolve()
    if not program.is_file():
        print(f"{program} is missing; cargo build --release makes it", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        promises = (promise for check in checks for promise in check(pathlib.Path(folder), program))
        failures = [what for what, holds in promises if not holds]
    for what in failures:
        print(f"not so: {what}")
    print(f"{len(failures)} promises about {things} are broken" if failures else "all as promised")
    return 1 if failures else 0


def run(script, *words, packages=None):
    """The end of a script of `benches/`, which imports from a folder of packages first if there is one."""
    command = [sys.executable, BENCHES / script, *map(str, words)]
    environment = os.environ | ({"PYTHONPATH": str(packages)} if packages else {})
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
