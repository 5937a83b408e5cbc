#!/usr/bin/env python3
"""Records the outputs of a build of kyokumen, so that builds before and after a change can be compared.

    python3 tests/golden.py record target/release/kyokumen -o before.json [--data ../shared/data] [--instructions]
    python3 tests/golden.py compare before.json after.json

`record` runs every command on the bundled samples: conversions of every format to every other, filters, datasets,
archive operations, verification, statistics, solving, marubatsu, with 1, 2 and 5 threads, and with 3 shards where a
command has them. It stores the exit status, the SHA-256 of each file and of standard output, and the JSON of each
manifest without times. Runs that differ only in the number of threads must be equal; if they are not, `record` prints
the differences and exits with 1. With `--data` it also runs on that folder of real positions. Self-play and relabelling
run if the program has networks built in. `--instructions` counts the instructions of the main commands with Valgrind.

`compare` prints each difference. It exits with 1 if there is one, or if a count of instructions rises by more than 2 %.
"""

import argparse
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
THREADS = (1, 2, 5)
SHARDS = (None, "1/3", "2/3", "3/3")
FILL = "move=none,eval=0,ply=0,result=draw"
FORMATS = [
    "hcp", "hcpe", "hcpe2", "hcpe3", "hcpe42", "psv", "sfen", "usi", "jsonl", "plain", "db", "pack", "sbinpack",
    "csa", "jkf", "kif", "kifu", "ki2", "ki2u", "bod",
]
# Formats with independent records, which the filter needs.
RECORDS = ["hcp", "hcpe", "hcpe2", "hcpe42", "psv", "sfen", "jsonl", "plain", "db", "bod"]
SEARCH = "--depth 7 --nodes 300"
# Keys of reports and manifests whose values differ from run to run.
DURATION = re.compile("[\\d.,]+ (µs|ms|s|positions/s|games/s)\\b".encode())
VARYING = re.compile(r"^(\w*elapsed_\w+|\w+_per_s|ended_unix_s|modified_unix_ns|threads|saved)$")
MAXIMUM_RATIO = 1.02


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    commands = parser.add_subparsers(required=True)
    record_args = commands.add_parser("record")
    record_args.add_argument("program", type=pathlib.Path)
    record_args.add_argument("-o", "--output", type=pathlib.Path, required=True)
    record_args.add_argument("--data", type=pathlib.Path, help="folder of real positions")
    record_args.add_argument("--instructions", action="store_true", help="count instructions with Valgrind")
    record_args.set_defaults(run=record)
    compare_args = commands.add_parser("compare")
    compare_args.add_argument("before", type=pathlib.Path)
    compare_args.add_argument("after", type=pathlib.Path)
    compare_args.set_defaults(run=compare)
    args = parser.parse_args()
    return args.run(args)


def record(args):
    program = args.program.resolve()
    found, unequal = {}, 0
    # All recordings use one path, because datasets and offset tables contain the paths of their inputs.
    folder = pathlib.Path(tempfile.gettempdir()) / "kyokumen-golden"
    folder.mkdir()
    try:
        inputs = prepare(folder / "in", args.data)
        for name, words, varies in cases(program, inputs):
            results = [run(program, words, threads, inputs) for threads in (THREADS if varies else (None,))]
            found[name] = results[0]
            for threads, result in zip(THREADS[1:], results[1:]):
                if result != results[0]:
                    unequal += 1
                    found_there = "; ".join(differences(results[0], result))
                    print(f"{name}, {threads} threads instead of {THREADS[0]}: {found_there}", file=sys.stderr)
        counts = instructions(program, inputs) if args.instructions else {}
    finally:
        shutil.rmtree(folder)
    if not found:
        sys.exit("error: nothing was run")
    args.output.write_text(json.dumps({"runs": found, "instructions": counts}, indent=1, sort_keys=True, ensure_ascii=False))
    print(f"{len(found)} runs, {sum(len(run['files']) for run in found.values())} files, {unequal} differ by threads")
    return int(unequal > 0)


def prepare(folder, data):
    """Creates the folder of inputs, with fixed modification times, because manifests contain them."""
    shutil.copytree(ROOT / "data", folder)
    if data:
        for name in ("dev.hcp", "dev.psv", "dev.hcpe", "dev.sfen.zst", "dev_engine.psv", "openings_dev.sfen"):
            shutil.copy(data / name, folder / name)
    for path in folder.iterdir():
        path.chmod(0o644)
        os.utime(path, (1_700_000_000, 1_700_000_000))
    return folder


def cases(program, inputs):
    """Name, arguments, and whether the command has `--threads`. `{in}` is replaced by the folder of inputs."""
    for source in FORMATS:
        for target in FORMATS:
            words = f"convert {{in}}/sample.{source} -o out.{target} --fill {FILL}"
            yield f"convert {source} to {target}", words, True
        yield f"convert {source} --canonical", f"convert {{in}}/sample.{source} -o out.{source} --canonical", True
        yield f"verify {source}", f"verify {{in}}/sample.{source} --json", True
        yield f"stats {source}", f"stats {{in}}/sample.{source} --json --html report.html", True
        yield f"inspect {source}", f"inspect {{in}}/sample.{source} --json", False
        for operation, more in OPERATIONS.items():
            output = "out" if operation.startswith("split") else f"out.{source}"
            words = f"{operation} {{in}}/sample.{source} -o {output} {more}"
            yield f"{operation} {more} {source}", words, True
        yield f"interleave {source}", f"interleave {{in}}/sample.{source} {{in}}/sample.{source} -o out.{source}", True
    for source in RECORDS:
        for shard in SHARDS:
            part = f"--shard {shard}" if shard else ""
            words = f"filter {{in}}/sample.{source} -o out {SEARCH} {part}"
            yield f"filter {source} {part}", words, True
            words = f"dataset {{in}}/sample.{source} -o out --to jsonl {SEARCH} {part}"
            yield f"dataset {source} {part}", words, True
    for option in ("--mated drop", "--mated relabel --fill " + FILL, "--unknown split", "--unknown drop", "--every 3",
                   "--sample 0.1 --seed 5", "--limit 77", "--min-ply 20 --max-ply 80", "--max-abs-eval 500",
                   "--result black", "--drop-in-check", "--has-move", "--legal-move", "--to sfen"):
        yield f"filter psv {option}", f"filter {{in}}/sample.psv -o out {SEARCH} {option}", True
    for option in ("--mirror", "--dedup", "--check rules", "--make-games single", "--csa-version 3.0"):
        target = "csa" if "csa" in option or "games" in option else "psv"
        yield f"convert {option}", f"convert {{in}}/sample.psv -o out.{target} --fill {FILL} {option}", True
    yield "dataset npz", f"dataset {{in}}/sample.psv -o out --to npz {SEARCH} --split 8,1,1", True
    yield "dataset tsume", f"dataset {{in}}/sample.psv -o out --to jsonl {SEARCH} --tsume-plies", True
    yield "generate", "generate --count 3000 --seed 7 -o out.psv", False
    yield "solve", f"solve {{in}}/sample.sfen --limit 300 {SEARCH} --json --proof out.proofs", True
    yield "solve all", f"solve {{in}}/sample.sfen --limit 60 {SEARCH} --json --all", True
    yield "perft", "perft 3 --json", False
    for words in ("tree", "solve", "show", "dataset -o out --to jsonl", "match --players ai1,ai14s --games 500"):
        yield f"marubatsu {words}", f"marubatsu {words}", False
    yield "formats", "formats --json", False
    if has_networks(program):
        for shard in SHARDS:
            part = f"--shard {shard}" if shard else ""
            words = f"selfplay --model hashed --games 6 --playouts 40 --seed 3 -o out {part}"
            yield f"selfplay {part}", words, True
            yield f"relabel {part}", f"relabel {{in}}/sample.psv -o out --model hashed {part}", True
    if (inputs / "dev.psv").exists():
        for source in ("dev.hcp", "dev.psv", "dev.hcpe", "dev.sfen.zst", "dev_engine.psv"):
            for shard in SHARDS:
                part = f"--shard {shard}" if shard else ""
                words = f"filter {{in}}/{source} -o out --limit 6000 {SEARCH} {part}"
                yield f"filter {source} {part}", words, True
            for target in ("hcp", "psv", "csa", "kif", "jsonl", "hcpe3"):
                words = f"convert {{in}}/{source} -o out.{target} --limit 20000 --fill {FILL}"
                yield f"convert {source} to {target}", words, True


OPERATIONS = {"shuffle": "--seed 3", "dedup": "--key bytes", "split": "--parts 3", "sample": "--count 100 --seed 2"}


def has_networks(program):
    return subprocess.run([program, "usi", "--model", "hashed"], input=b"quit\n", capture_output=True).returncode == 0


def run(program, words, threads, inputs):
    """Runs a command in a new folder. Returns its exit status, standard output and files."""
    words = words.replace("{in}", str(inputs)).split()
    if threads:
        words += ["--threads", str(threads)]
    with tempfile.TemporaryDirectory() as folder:
        ended = subprocess.run([program, *words], cwd=folder, capture_output=True)
        files = {
            str(path.relative_to(folder)): content(path.read_bytes(), inputs, folder, path.suffix)
            for path in sorted(pathlib.Path(folder).rglob("*"))
            if path.is_file()
        }
        return {"status": ended.returncode, "stdout": content(ended.stdout, inputs, folder, ".jsonl"), "files": files}


def content(data, inputs, folder, suffix):
    """The JSON of a manifest without values that vary, or the SHA-256 of any other content."""
    data = data.replace(str(inputs).encode(), b"IN").replace(str(folder).encode(), b"OUT")
    if suffix in (".json", ".jsonl"):
        try:
            value = [masked(json.loads(line)) for line in ([data] if suffix == ".json" else data.splitlines())]
            if suffix == ".json":
                return value[0]
            data = json.dumps(value, sort_keys=True).encode()
        except ValueError:
            pass
    return hashlib.sha256(DURATION.sub(b"", data)).hexdigest()


def masked(value):
    if isinstance(value, dict):
        return {key: None if VARYING.match(key) else masked(inner) for key, inner in value.items()}
    return [masked(inner) for inner in value] if isinstance(value, list) else value


def instructions(program, inputs):
    works = {
        "convert psv to hcp": "convert {in}/big.psv -o out.hcp",
        "convert hcp to sfen": "convert {in}/big.hcp -o out.sfen",
        "convert sfen to hcp": "convert {in}/big.sfen -o out.hcp",
        "shuffle": "shuffle {in}/big.psv -o out.psv --seed 1",
        "dedup": "dedup {in}/big.psv -o out.psv --key bytes",
        "filter": f"filter {{in}}/sample.hcp -o out {SEARCH}",
        "verify": "verify {in}/big.psv",
    }
    if has_networks(program):
        works["selfplay"] = "selfplay --model hashed --games 2 --playouts 200 --seed 3 -o out"
    subprocess.run([program, "generate", "--count", "50000", "--seed", "1", "-o", inputs / "big.psv"], check=True, capture_output=True)
    for target in ("hcp", "sfen"):
        subprocess.run([program, "convert", inputs / "big.psv", "-o", inputs / f"big.{target}"], check=True, capture_output=True)
    return {name: counted(program, words.replace("{in}", str(inputs)).split()) for name, words in works.items()}


def counted(program, words):
    with tempfile.TemporaryDirectory() as folder:
        valgrind = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
        ended = subprocess.run(
            [*valgrind, program, *words, "--threads", "1", "--progress", "none"], cwd=folder, capture_output=True, text=True
        )
        found = re.search(r"I\s+refs:\s+([\d,]+)", ended.stderr)
        if ended.returncode or not found:
            sys.exit(f"error: {' '.join(words)} failed: {ended.stderr}")
        return int(found[1].replace(",", ""))


def compare(args):
    before, after = (json.loads(path.read_text()) for path in (args.before, args.after))
    different = 0
    for name in sorted(before["runs"].keys() | after["runs"].keys()):
        old, new = before["runs"].get(name), after["runs"].get(name)
        if old != new:
            different += 1
            print(f"{name}: {'; '.join(differences(old, new))}")
    print(f"{len(before['runs'])} runs compared, {different} differ")
    for name, old in before["instructions"].items():
        ratio = after["instructions"].get(name, float("nan")) / old
        different += not ratio <= MAXIMUM_RATIO
        print(f"{name}: {ratio:.3f} x the instructions")
    return int(different > 0)


def differences(old, new):
    if old is None or new is None:
        return ["only in one of them"]
    found = [f"{key} differs" for key in ("status", "stdout") if old[key] != new[key]]
    for file in sorted(old["files"].keys() | new["files"].keys()):
        a, b = old["files"].get(file), new["files"].get(file)
        if isinstance(a, dict) and isinstance(b, dict):
            keys = sorted(key for key in a.keys() | b.keys() if a.get(key) != b.get(key))
            found += [f"{file}: keys {', '.join(keys)}"] if keys else []
        elif a != b:
            found.append(f"{file} differs" if a and b else f"{file} only in one")
    return found


if __name__ == "__main__":
    sys.exit(main())
