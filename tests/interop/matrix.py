#!/usr/bin/env python3
"""Converts whole files from every format to every other and back.

The files are the bundled samples of all formats and, if they exist, the `dev*` files of a data folder. No record may be
missing. If the reports state no lost or filled-in field in both directions, the conversion must reproduce the file byte
for byte.

Exit status 0: all correct, 1: a difference (differences are printed), 2: something is missing.

    cargo build --release && python3 tests/interop/matrix.py
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILL = "move=none,eval=0,ply=1,result=draw,end_ply=0"
REAL = ["dev.hcp", "dev.hcpe", "dev.psv", "dev.sfen.zst", "dev_engine.hcpe", "dev_engine.psv"]
USAGE = 2


def main():
    options = parse_arguments()
    if not options.kyokumen.is_file():
        print(f"{options.kyokumen} is missing; build it with cargo build --release", file=sys.stderr)
        return 2
    samples = sorted((ROOT / "data").glob("sample.*"))
    formats = [sample.suffix[1:] for sample in samples]
    real = [options.data / name for name in REAL if (options.data / name).is_file()]
    if not real:
        print(f"skipped: the dev files of {options.data} are missing")
    failures = pairs = identical = 0
    with tempfile.TemporaryDirectory() as folder:
        convert = Converter(options.kyokumen, pathlib.Path(folder))
        for source in samples + real:
            for target in formats:
                outcome = there_and_back(convert, source, target)
                pairs += 1
                identical += outcome == "identical"
                if outcome not in ("identical", "lossy", "no way"):
                    print(f"{source.name} to {target}: {outcome}")
                    failures += 1
    print(f"{pairs} pairs, {identical} of them reproduced byte for byte, {failures} failures")
    return 1 if failures else 0


class Converter:
    def __init__(self, kyokumen, folder):
        self.kyokumen = kyokumen
        self.folder = folder

    def __call__(self, source, name):
        """The output and the counts, or None and the message if the formats do not allow the conversion."""
        output = self.folder / name
        words = ["convert", source, "-o", output, "--fill", FILL, "--canonical", "--force", "--json"]
        ran = subprocess.run(
            [self.kyokumen, *words, "--progress", "none", "--keep-untrained"],
            capture_output=True,
            check=False,
        )
        if ran.returncode == USAGE:
            return None, ran.stderr.decode().strip()
        if ran.returncode != 0:
            raise RuntimeError(ran.stderr.decode())
        return output, json.loads(ran.stdout)["counts"]


def there_and_back(convert, source, target):
    own = source.name.removesuffix(".zst").rsplit(".", 1)[1]
    try:
        first, counts = convert(source, f"first.{own}")
        there, counts_there = convert(first, f"there.{target}")
        if there is None:
            return "no way" if "positions without a move" in counts_there else counts_there
        back, counts_back = convert(there, f"back.{own}")
        if back is None:
            return "no way" if "positions without a move" in counts_back else counts_back
    except RuntimeError as error:
        return str(error)
    written = [part["written"] for part in (counts, counts_there, counts_back)]
    if len(set(written)) != 1 or written[0] == 0:
        return f"{written} records written"
    changed = [part[key] for part in (counts_there, counts_back) for key in ("lost", "invented")]
    if any(changed) or is_regrouped(first, there):
        return "lossy"
    return "identical" if first.read_bytes() == back.read_bytes() else "other bytes are written"


GAMES = (".usi", ".csa", ".kif", ".hcpe3", ".pack", ".sbinpack")


def is_regrouped(first, there):
    """Whether games are converted to records, which become games of one move."""
    return first.suffix in GAMES and there.suffix not in GAMES


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kyokumen", type=pathlib.Path, default=ROOT / "target/release/kyokumen")
    parser.add_argument("--data", type=pathlib.Path, default=ROOT.parent / "shared/data")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
