#!/usr/bin/env python3
"""Lengths of mates found by `kyokumen solve --shortest` against those that a problem collection states.

    cargo build --release
    python3 benches/tsume_lengths.py target/release/kyokumen PROBLEMS.tsv [options of `kyokumen solve`]

Each line of the file: SFEN, tab, length in plies or ?, tab, source (up to the first slash names the collection).
Prints how many problems agree in `plies` or in `tsume_plies` only, and every problem that differs. Exit status 1 if a
mate is longer than stated although it is proven to be the shortest, or a stated mate is said not to exist: one of the
two must then be wrong.
"""

import collections
import json
import pathlib
import subprocess
import sys

from position_sets import read_problems


def outcome(solution, stated):
    """How a solution compares, in a few words, and whether it contradicts what is stated."""
    verdict = solution["verdict"]
    if verdict == "unknown":
        return f"unknown ({solution['stop']})", False
    if verdict != "win":
        return verdict, True
    plies, tsume_plies, shortest = (solution[key] for key in ("plies", "tsume_plies", "shortest"))
    if plies == stated:
        return "as stated" if shortest else "as stated, a limit kept from looking for shorter ones", False
    if plies < stated:
        return "shorter than stated", False
    if tsume_plies == stated:
        return "as stated if futile interpositions do not count", False
    return ("longer than stated", True) if shortest else ("longer than stated, a limit was reached", False)


def main():
    program, path, *options = sys.argv[1:]
    command = [program, "solve", path, "--shortest", "--tsume-plies", "--json", *options]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if run.returncode not in (0, 3):
        sys.exit(f"{' '.join(command)} failed")
    rows = read_problems(pathlib.Path(path))
    counts, counting = collections.defaultdict(collections.Counter), collections.Counter()
    wrong = 0
    for line in run.stdout.splitlines():
        solution = json.loads(line)
        sfen, stated, source = rows[solution["index"]]
        collection = source.split("/")[0]
        if stated is None:
            counts[collection]["no length stated"] += 1
            continue
        words, contradicts = outcome(solution, stated)
        wrong += contradicts
        counts[collection][words] += 1
        if words.startswith("as stated") and solution["tsume_plies"] not in (None, solution["plies"]):
            counting[collection] += 1
        if not words.startswith(("as stated", "unknown")):
            found = f"{solution['plies']}, as tsume {solution['tsume_plies']}"
            print(f"{words}: plies stated {stated}, found {found}: {sfen}\n    {' '.join(solution['line'])}")
    for collection, words in sorted(counts.items()):
        print(f"\n{collection}")
        for word, count in words.most_common():
            print(f"{count:>7}  {word}")
        print(f"{counting[collection]:>7}  of those as stated end in interpositions that problems do not count")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
