"""Prints the SHA-256 of the files that every command writes, for the samples and, if it exists, a folder of data.

    python tests/interop/output_bytes.py --programs target/release > before.txt
    (make a change that must not change a byte, and build)
    python tests/interop/output_bytes.py --programs target/release | diff before.txt -

Each line has a checksum, a command with its exit status, and a file that it wrote. Standard output is the file `-`.
Times and values that depend on times are left out of manifests and reports. Compare two builds of one version on one
machine, because manifests contain the version of the program. `--formats psv,kif` reads only these samples.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Keys of times and of values that depend on times, for example checksums of manifests with times.
VARIES = {
    "copying_elapsed_ms", "elapsed_ms", "elapsed_s", "ended_unix_s", "games_per_s", "make_unmake_elapsed_ms", "nodes_per_s",
    "modified_unix_ns", "parents", "records_per_s", "resumed_from", "saved",
}  # fmt: skip
FILL = "move=none,eval=0,ply=0,result=draw"
SMALL = 4 << 20


def steady(value):
    """A JSON value without the keys that vary from run to run."""
    if isinstance(value, dict):
        return {key: steady(inner) for key, inner in value.items() if key not in VARIES}
    if isinstance(value, list):
        return [steady(inner) for inner in value]
    return value


def checksum(name, content):
    """The checksum of a file. For JSON and JSON lines, the checksum of the values that do not vary."""
    if name == "-" or name.endswith((".json", ".jsonl")):
        try:
            try:
                values = [json.loads(content)]
            except ValueError:
                values = [json.loads(line) for line in content.splitlines()]
            content = "\n".join(json.dumps(steady(value)) for value in values).encode()
        except (ValueError, UnicodeDecodeError):
            pass
    return hashlib.sha256(content).hexdigest()


def search(nodes):
    return f"--depth 9 --nodes {nodes} --hash-mb 4 --progress none"


def commands_on(file, nodes):
    """Commands on a file with this name in the folder. A command after `&&` reads the outputs of the one before it."""
    extension = file.split(".", 1)[1]
    plain = extension.split(".")[0]
    limits, bad = search(nodes), "--on-error quarantine"
    shards = [f"filter {file} -o out --to sfen --shard {i}/3 {limits}" for i in (1, 2, 3)]
    return [
        f"verify {file} --json --quarantine sides",
        f"verify {file} --json --strict",
        f"stats {file} --json",
        f"inspect {file} --json",
        f"inspect {file} --range 3..9",
        f"filter {file} -o out --to jsonl {limits}",
        f"filter {file} -o out --to sfen.zst --mated relabel --unknown split --threads 1 {limits}",
        f"filter {file} -o out --to sfen --in-check skip --min-ply 20 --every 3 {limits}",
        " && ".join([*shards, "merge out -o joined.sfen", "verify --manifest out/*.manifest.json --json"]),
        f"dataset {file} -o out --to jsonl {limits}",
        f"dataset {file} -o out --to npz --split 8,1,1 --tsume-plies {limits}",
        f"shuffle {file} -o o.{plain} --seed 7 {bad}",
        f"dedup {file} -o o.{plain} --key bytes {bad}",
        f"dedup {file} -o o.{plain} --key position {bad}",
        f"sample {file} -o o.{plain} --rate 0.3 {bad}",
        f"split {file} -o parts --parts 3 {bad}",
        f"split {file} -o parts --parts 3 --by ranges {bad}",
        f"interleave {file} {file} -o o.{plain} --weights 1,2 {bad}",
        f"solve {file} --json --depth 7 --nodes {nodes} --hash-mb 4 --proof o.proofs && verify --proof o.proofs --json",
    ]


def conversions(file, formats):
    for to in formats:
        yield f"convert {file} -o o.{to} --json --on-error quarantine --fill {FILL}"
        yield f"convert {file} -o o.{to} --json --on-error quarantine"
    yield f"convert {file} -o o.psv.zst --json --on-error quarantine --fill {FILL} --canonical --check rules"
    yield f"convert {file} -o o.sfen --json --on-error skip --dedup --mirror --sample 0.5 --seed 3"


def commands_alone(formats):
    for to in formats:
        yield f"generate --count 500 --seed 4 --every 3 -o o.{to}"
    yield from [
        "formats",
        "perft 4 --json",
        "marubatsu tree --json",
        "marubatsu check",
        "marubatsu show --svg o.svg --html o.html --json",
        "marubatsu dataset -o o.jsonl",
        "marubatsu dataset -o o.npz --to npz",
        "marubatsu match --players random,perfect --games 1000 --seed 2 --json",
        "generate --count 500 --seed 4 -o 局面.psv && convert 局面.psv -o 棋譜.kif --fill result=draw && inspect 棋譜.kif --json",
        "generate --count 5000 --seed 4 -o a.psv && shuffle a.psv -o b.psv --seed 7 --memory 20K --tmp-dir .",
    ]


def run(programs, file, line):
    """Runs a command. Returns lines of checksum, command and file."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        if file:
            (folder / file.name).write_bytes(file.read_bytes())
            # Manifests and offset tables contain the modification time.
            os.utime(folder / file.name, (0, 0))
        stdout, status = b"", 0
        for words in line.split(" && "):
            words = [
                word
                for pattern in words.split()
                for word in (sorted(str(p.relative_to(folder)) for p in folder.glob(pattern)) if "*" in pattern else [pattern])
            ]
            ran = subprocess.run([programs / "kyokumen", *words], cwd=folder, capture_output=True, check=False)
            # Paths in JSON have backslashes on Windows.
            stdout, status = stdout + ran.stdout.replace(rb"\\", b"/"), ran.returncode
        found = {"-": stdout}
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not (file and path == folder / file.name):
                found[str(path.relative_to(folder))] = path.read_bytes()
    return [f"{checksum(name, content)}  {line} ({status})  {name}" for name, content in found.items()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=pathlib.Path, default=ROOT / "target/release")
    parser.add_argument("--data", type=pathlib.Path, default=ROOT / "../shared/data")
    parser.add_argument("--formats", help="the formats of the samples to read, all by default")
    options = parser.parse_args()
    programs = options.programs.resolve()
    if not (programs / "kyokumen").is_file():
        print(f"{programs / 'kyokumen'} is missing; build it with cargo build --release", file=sys.stderr)
        return 2
    samples = sorted((ROOT / "data").glob("sample.*"))
    formats = [sample.name.split(".", 1)[1] for sample in samples]
    work = [(None, line) for line in commands_alone(formats)]
    read = options.formats.split(",") if options.formats else formats
    for sample in (sample for sample in samples if sample.name.split(".", 1)[1] in read):
        work += [(sample, line) for line in [*commands_on(sample.name, 200), *conversions(sample.name, formats)]]
    if options.data.is_dir():
        names = ["dev.hcp", "dev.hcpe", "dev.sfen.zst", "dev_engine.psv", "dev_handicap.sfen", "dev_terminal_mated.sfen"]
        files = [path for path in sorted(options.data.glob("attack/*")) if path.stat().st_size < SMALL]
        for file in [options.data / name for name in names] + files:
            work += [(file, line) for line in [*commands_on(file.name, 10), *conversions(file.name, ["psv", "jsonl"])]]
    else:
        print(f"skipped: {options.data} is missing", file=sys.stderr)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for lines in pool.map(lambda item: run(programs, *item), work):
            print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
