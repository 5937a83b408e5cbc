#!/usr/bin/env python3
"""Solves long mate problems one by one and checks each proof.

    cargo build --profile dist
    python3 benches/long_mates.py --kyokumen target/dist/kyokumen --seconds 60 --hash-mb 2048 [NAME …]

The problems are in `long_mates.tsv`. NAME selects those whose name contains it. Each search runs on one thread, on one
core, without a node limit, and is repeatable unless the time limit stops it. `kyokumen verify --proof` checks each
proof. Prints a Markdown table with the beginning of the SHA-256 of each proof file.

Exit status: 0 if done, 1 if a result contradicts the file or a proof is wrong.
"""

import argparse
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from measuring import figure, pin_to_one_core, table
from position_sets import columns

PROBLEMS = pathlib.Path(__file__).with_name("long_mates.tsv")
COLUMNS = ["problem", "stated", "plies", "without futile", "nodes", "search", "CPU time of all", "memory", "SHA-256 of the proof"]


def run(command):
    """The output of a command, its CPU time in seconds, and its largest memory in MiB."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
        child = subprocess.Popen(command, stdout=output, stderr=subprocess.DEVNULL)
        _, _, usage = os.wait4(child.pid, 0)
        child.returncode = 0
        output.seek(0)
        return output.read(), usage.ru_utime + usage.ru_stime, usage.ru_maxrss >> 10


def contradicts(stated, verdict):
    return verdict != "unknown" and (verdict == "win") != (stated != "no mate")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kyokumen", default="target/dist/kyokumen", help="the program")
    parser.add_argument("--seconds", default="60", help="time limit for a problem")
    parser.add_argument("--hash-mb", default="2048", help="memory of the table in MiB")
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    pin_to_one_core()
    limits = ["--threads", "1", "--time", arguments.seconds, "--hash-mb", arguments.hash_mb]
    rows, wrong = [], 0
    with tempfile.TemporaryDirectory() as folder:
        proof = pathlib.Path(folder) / "mate.proofs"
        for sfen, stated, name in columns(PROBLEMS):
            if arguments.names and not any(part in name for part in arguments.names):
                continue
            print(name, file=sys.stderr)
            command = [arguments.kyokumen, "solve", sfen, *limits, "--json", "--proof", proof, "--force"]
            output, cpu_seconds, memory_mib = run(command)
            solution = json.loads(output)
            verdict = solution["verdict"]
            digest = "–"
            if verdict == "win":
                checked = subprocess.run([arguments.kyokumen, "verify", "--proof", proof], capture_output=True, check=False)
                wrong += checked.returncode != 0
                digest = hashlib.sha256(proof.read_bytes()).hexdigest()[:16]
            wrong += contradicts(stated, verdict)
            plies = solution["plies"] if verdict == "win" else verdict.replace("_", " ")
            counted = solution["tsume_plies"] or solution["tsume_plies_null"] or "–"
            search = figure(solution["elapsed_ms"] / 1000)
            times = [f"{search} s", f"{figure(cpu_seconds)} s", f"{memory_mib} MiB"]
            rows.append([name, stated, plies, counted, f"{solution['nodes']:,}", *times, digest])
    print(table(COLUMNS, rows))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
