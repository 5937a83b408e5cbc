#!/usr/bin/env python3
"""Compares the mate lengths of `kyokumen solve --shortest` with the lengths that a problem collection states.

    cargo build --release
    python3 benches/tsume_lengths.py target/release/kyokumen PROBLEMS.tsv [options of `kyokumen solve`]

Each line of the file has an SFEN, the length in plies or ?, and the source, separated by tabs. The source up to the
first slash is the name of the collection. Prints the number of problems that agree in `plies` or only in `tsume_plies`,
and every problem that differs. The exit status is 1 if Kyokumen and the collection contradict each other: if a mate is
longer than stated although it is proven to be the shortest, or if Kyokumen reports no mate.
"""

import collections
import json
import pathlib
import subprocess
import sys

from position_sets import read_problems


def outcome(solution, stated):
    """Returns a short description of the comparison, and whether the solution contradicts the stated length."""
    verdict = solution["verdict"]
    if verdict == "unknown":
        return f"unknown ({solution['stop']})", False
    if verdict != "win":
        return verdict, True
    plies, tsume_plies, shortest = (solution[key] for key in ("plies", "tsume_plies", "shortest"))
    if plies == stated:
        return "as stated" if shortest else "as stated, not proven shortest because of a limit", False
    if plies < stated:
        return "shorter than stated", False
    if tsume_plies == stated:
        return "as stated without futile interpositions", False
    return ("longer than stated", True) if shortest else ("longer than stated, stopped by a limit", False)


def main():
    program, path, *options = sys.argv[1:]
    command = [program, "solve", path, "--shortest", "--tsume-plies", "--json", *options]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if run.returncode not in (0, 3):
        sys.exit(f"{' '.join(command)} failed")
    rows = read_problems(pathlib.Path(path))
    counts, interpositions = collections.defaultdict(collections.Counter), collections.Counter()
    wrong = 0
    for line in run.stdout.splitlines():
        solution = json.loads(line)
        sfen, stated, source = rows[solution["index"]]
        collection = source.split("/")[0]
        if stated is None:
            counts[collection]["no length stated"] += 1
            continue
        description, contradicts = outcome(solution, stated)
        wrong += contradicts
        counts[collection][description] += 1
        if description.startswith("as stated") and solution["tsume_plies"] not in (None, solution["plies"]):
            interpositions[collection] += 1
        if not description.startswith(("as stated", "unknown")):
            found = f"{solution['plies']}, as tsume {solution['tsume_plies']}"
            print(f"{description}: plies stated {stated}, found {found}: {sfen}\n    {' '.join(solution['line'])}")
    for collection, descriptions in sorted(counts.items()):
        print(f"\n{collection}")
        for description, count in descriptions.most_common():
            print(f"{count:>7}  {description}")
        print(f"{interpositions[collection]:>7}  of those as stated end with futile interpositions")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
