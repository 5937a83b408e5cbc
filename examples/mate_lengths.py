#!/usr/bin/env python3
"""Plots the lengths of the mates in a dataset and the nodes of their searches.

The dataset is a file of `kyokumen dataset`, or a folder with shards in one format.

    kyokumen dataset data/sample.hcp -o solved --to parquet
    pip install pyarrow matplotlib        # for .npz numpy and matplotlib, for .jsonl only matplotlib
    python3 examples/mate_lengths.py solved -o mate_lengths.png
"""

import argparse
import collections
import json
import pathlib
import statistics
import sys

COLUMNS = ["verdict", "plies", "nodes"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dataset", type=pathlib.Path, help="a .parquet, .npz or .jsonl file, or a folder of them")
    parser.add_argument("-o", "--output", type=pathlib.Path, default="mate_lengths.png", help="picture to write")
    options = parser.parse_args()
    files = [options.dataset]
    if options.dataset.is_dir():
        files = sorted(file for file in options.dataset.iterdir() if is_table(file))
    if not files:
        print(f"no dataset in {options.dataset}", file=sys.stderr)
        return 2
    rows = [row for file in files for row in read(file)]
    mates = [(verdict, plies, nodes) for verdict, plies, nodes in rows if verdict in ("win", "loss")]
    verdicts = collections.Counter(verdict for verdict, _, _ in rows)
    print(f"{len(rows)} rows: " + ", ".join(f"{number} {verdict}" for verdict, number in verdicts.most_common()))
    if mates:
        lengths = [plies for _, plies, _ in mates]
        print(f"mates in {min(lengths)} to {max(lengths)} plies, median {statistics.median(lengths):g}")
    plot(mates, options.output)
    return 0


def is_table(file):
    # A run also writes a list of quarantined records, which is not a table.
    is_quarantine_list = file.name.endswith(".quarantine.jsonl")
    return file.suffix in (".parquet", ".npz", ".jsonl") and not is_quarantine_list


def read(file):
    """Verdict, plies and nodes of each row. The plies are None if there is no mate."""
    if file.suffix == ".parquet":
        import pyarrow.parquet

        table = pyarrow.parquet.read_table(file, columns=COLUMNS)
        return list(zip(*(table.column(name).to_pylist() for name in COLUMNS)))
    if file.suffix == ".npz":
        import numpy

        arrays = numpy.load(file)
        plies = numpy.ma.array(arrays["plies"], mask=arrays["plies_null"])
        return list(zip(arrays["verdict"].tolist(), plies.tolist(), arrays["nodes"].tolist()))
    with file.open() as lines:
        return [tuple(json.loads(line)[name] for name in COLUMNS) for line in lines]


def plot(mates, output):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (lengths, costs) = pyplot.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    for verdict, label, colour in [("win", "mates", "tab:blue"), ("loss", "is being mated", "tab:orange")]:
        points = [(plies, nodes) for other, plies, nodes in mates if other == verdict]
        number = collections.Counter(plies for plies, _ in points)
        # Wins have odd lengths and losses even lengths, so the bars do not overlap.
        lengths.bar(list(number), list(number.values()), color=colour, label=f"side to move {label}")
        costs.scatter(*zip(*points) if points else ([], []), s=8, alpha=0.4, color=colour)
    lengths.set(xlabel="plies", ylabel="positions", title=f"Length of {len(mates)} mates")
    lengths.legend()
    costs.set(xlabel="plies", ylabel="nodes", title="Nodes of the search", yscale="symlog")
    costs.set_ylim(bottom=0)
    figure.savefig(output, dpi=110)
    print(f"{output} written")


if __name__ == "__main__":
    sys.exit(main())
