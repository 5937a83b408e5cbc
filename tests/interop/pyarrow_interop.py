#!/usr/bin/env python3
"""Compares Kyokumen's Parquet files with pyarrow, which was written independently.

The columns that `kyokumen convert` writes must equal the fields in `jsonl`. A file by pyarrow, with other integer
widths and packed positions, must be read as the same records.

Exit status 0: all equal, 1: a difference, 2: something is missing.

    python3 -m venv .venv && .venv/bin/pip install -r tests/interop/requirements.txt
    cargo build --release --features parquet && .venv/bin/python tests/interop/pyarrow_interop.py
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import pyarrow
import pyarrow.parquet

ROOT = pathlib.Path(__file__).resolve().parents[2]
COLUMNS = {"eval_cp": "eval"}
TYPES = {
    "sfen": "string",
    "move": "string",
    "eval_cp": "int16",
    "ply": "int32",
    "result": "string",
    "ending": "string",
    "end_ply": "int32",
    "candidates": "string",
    "for_training": "bool",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kyokumen", type=pathlib.Path, default=ROOT / "target/release/kyokumen")
    kyokumen = parser.parse_args().kyokumen
    if not kyokumen.is_file():
        print(f"{kyokumen} is missing", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        made = folder / "made.jsonl"
        run(kyokumen, "generate", "--count", "70000", "--seed", "7", "-o", made)
        records = read_lines(made)
        failures = check_written(kyokumen, folder, made, records)
        failures += check_foreign(kyokumen, folder, made, records)
    return 1 if failures else 0


def check_written(kyokumen, folder, made, records):
    path = folder / "written.parquet"
    run(kyokumen, "convert", made, "-o", path)
    table = pyarrow.parquet.read_table(path)
    types = {field.name: str(field.type) for field in table.schema}
    columns = {name: table.column(name).to_pylist() for name in table.column_names}
    expected = {name: [r.get(COLUMNS.get(name, name)) for r in records] for name in TYPES}
    groups = pyarrow.parquet.ParquetFile(path).num_row_groups
    return report("pyarrow reads the file of Kyokumen", types == TYPES and columns == expected and groups == 2)


def check_foreign(kyokumen, folder, made, records):
    """A table as pandas would write it, with packed positions instead of SFEN and an unknown column."""
    hcp = folder / "made.hcp"
    run(kyokumen, "convert", made, "-o", hcp)
    packed = hcp.read_bytes()
    evals = [float("nan") if i % 3 == 0 else float(i % 500) for i in range(len(records))]
    table = pyarrow.table(
        {
            "note": pyarrow.array(["a note"] * len(records)),
            "eval": pyarrow.array(evals, pyarrow.float64()),
            "hcp": pyarrow.array(
                [packed[i : i + 32] for i in range(0, len(packed), 32)], pyarrow.binary(32)
            ),
            "move": pyarrow.array([r["move"] for r in records]).dictionary_encode(),
            "ply": pyarrow.array([r["ply"] for r in records], pyarrow.int64()),
            "result": pyarrow.array([r["result"] for r in records], pyarrow.large_string()),
        }
    )
    path = folder / "foreign.parquet"
    pyarrow.parquet.write_table(table, path, compression="snappy", row_group_size=12345)
    read = folder / "read.jsonl"
    run(kyokumen, "convert", path, "-o", read, "--canonical")
    expected = []
    for i, record in enumerate(records):
        kept = {key: record[key] for key in ("sfen", "move", "ply", "result")}
        if i % 3:
            kept["eval"] = i % 500
        expected.append(kept)
    return report("Kyokumen reads the file of pyarrow", read_lines(read) == expected)


def read_lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def run(*words):
    subprocess.run([str(word) for word in words], check=True, capture_output=True)


def report(comparison, is_equal):
    print(f"{comparison}: {'equal' if is_equal else 'DIFFERENT'}")
    return 0 if is_equal else 1


if __name__ == "__main__":
    sys.exit(main())
