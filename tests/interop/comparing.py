"""Common code of scripts that compare results of Kyokumen for `.psv` files with their own."""

import argparse
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def compare_files(description, compare, things):
    """Calls `compare(kyokumen, path)` for `data/sample.psv` and, if it exists, for `dev_engine.psv` of a data folder.
    `compare` prints its comparisons and returns the number of differences. Returns the exit status: 0 all equal, 1 a
    difference, 2 something is missing."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--kyokumen", type=pathlib.Path, default=ROOT / "target/release/kyokumen")
    parser.add_argument("--data", type=pathlib.Path, default=ROOT / "../shared/data")
    options = parser.parse_args()
    sample, dev = ROOT / "data/sample.psv", options.data / "dev_engine.psv"
    if not options.kyokumen.is_file():
        print(f"{options.kyokumen} is missing; build it with cargo build --release", file=sys.stderr)
        return 2
    if not sample.is_file():
        print(f"{sample} is missing", file=sys.stderr)
        return 2
    failures = compare(options.kyokumen, sample)
    if dev.is_file():
        failures += compare(options.kyokumen, dev)
    else:
        print(f"skipped: {dev} is missing")
    print("all equal" if failures == 0 else f"{failures} {things} differ")
    return 1 if failures else 0
