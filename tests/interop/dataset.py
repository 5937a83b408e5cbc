#!/usr/bin/env python3
"""Reads the datasets of `kyokumen dataset` with pyarrow, pandas, numpy and json, and checks them.

The three formats must hold the same rows in the types that docs/datasets.md states. The counts must equal those of the
manifest. Every mating line, played with cshogi, must end in mate and have a check with each move of the attacker.
Packed positions, keys, 16-bit moves and splits must equal independent computations. The positions are
`data/sample.psv`, literal positions with and without the attacker's king and, if it exists, `dev.hcp` of a data folder.

Exit status 0: all correct, 1: a difference, 2: something is missing.
"""

import argparse
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile

import cshogi
import numpy as np
import pyarrow.parquet

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARES = [80, 10, 10]
TYPES = {
    "sfen": "string not null",
    "hcp": "fixed_size_binary[32]",
    "verdict": "string not null",
    "stop": "string",
    "value": "int8",
    "plies": "int32",
    "tsume_plies": "int32",
    "move": "string",
    "move_apery": "uint16 not null",
    "move_yaneuraou": "uint16 not null",
    "line": "list<element: string not null> not null",
    "proof_nodes": "int64 not null",
    "nodes": "int64 not null",
    "in_check": "bool not null",
    "file": "string not null",
    "index": "int64 not null",
    "key": "fixed_size_binary[16] not null",
    "split": "string not null",
    "source_move": "string",
    "source_eval_cp": "int16",
    "source_ply": "int32",
    "source_result": "string",
}
# A side that is already mated; a side that is being mated; a problem without the attacker's king; no mate; a check
# without mate.
TEXT = """\
4k4/4G4/4P4/9/9/9/9/9/4K4 w 2r2b3g4s4n4l17p 2
7lk/7p1/9/9/9/9/9/9/K7L w 2R2B4G4S4N2L16Pp 1
4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1
lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1
4k4/9/9/9/4R4/9/9/9/4K4 w r2b4g4s4n4l18p 1
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kyokumen", type=pathlib.Path, default=ROOT / "target/release/kyokumen")
    parser.add_argument("--data", type=pathlib.Path, default=ROOT / "../shared/data")
    options = parser.parse_args()
    if not options.kyokumen.is_file():
        print(f"{options.kyokumen} is missing; build it with cargo build --release --features parquet", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        text = folder / "text.sfen"
        text.write_text(TEXT)
        failures = check(options.kyokumen, ROOT / "data/sample.psv", folder / "sample")
        failures += check(options.kyokumen, text, folder / "text")
        dev = options.data / "dev.hcp"
        if dev.is_file():
            failures += check(options.kyokumen, dev, folder / "dev", every=20)
        else:
            print(f"skipped: {dev} is missing")
    print("all correct" if failures == 0 else f"{failures} checks failed")
    return 1 if failures else 0


def check(kyokumen, path, folder, every=1):
    """The number of failed checks for every `every`-th position of a file."""
    for to in ["jsonl", "parquet", "npz"]:
        command = [kyokumen, "dataset", path, "-o", folder, "--to", to, "--name", to, "--nodes", "200"]
        command += ["--every", str(every), "--hash-mb", "8", "--tsume-plies", "--split", ",".join(map(str, SHARES)), "--progress", "none"]
        subprocess.run([str(word) for word in command], check=True, capture_output=True)
    rows = [json.loads(line) for line in (folder / "jsonl.jsonl").read_text().splitlines()]
    table = pyarrow.parquet.read_table(folder / "parquet.parquet")
    arrays = np.load(folder / "npz.npz")
    manifests = [json.loads((folder / f"{to}.manifest.json").read_text()) for to in ("jsonl", "parquet", "npz")]
    results = {
        "types of Parquet": types(table) == TYPES,
        "JSON = Parquet": rows == [as_json(row) for row in table.to_pylist()],
        "JSON = numpy": rows == rows_of_arrays(arrays),
        "JSON = pandas": [row["plies"] for row in rows] == values_of_pandas(table.to_pandas()["plies"]),
        "counts of the manifests": all(counts(rows) == counts_of_manifest(manifest) for manifest in manifests),
        "lines end in mate": all(map(line_is_mate, rows)),
        "packed positions, keys, splits": all(map(content_is_correct, rows)),
        "moves of 16 bits": all(map(bits_are_correct, rows)),
        "places": [(row["file"], row["index"]) for row in rows] == [(str(path), i * every) for i in range(len(rows))],
        "there are mates": sum(row["value"] is not None for row in rows) > 1,
    }
    for name, is_correct in results.items():
        print(f"{'correct' if is_correct else 'WRONG  '} {path.name}, {len(rows)} rows: {name}")
    return sum(not is_correct for is_correct in results.values())


def types(table):
    return {field.name: str(field.type) + ("" if field.nullable else " not null") for field in table.schema}


def as_json(row):
    """A row with its bytes in hexadecimal, as in JSON."""
    return {name: value.hex() if isinstance(value, bytes) else value for name, value in row.items()}


def rows_of_arrays(arrays):
    """The arrays as rows, by the rules of docs/datasets.md. No array is pickled."""
    columns = {}
    for name in TYPES:
        array = arrays[name]
        if name == "line":
            ends = arrays["line_offsets"]
            columns[name] = [list(map(str, array[a:b])) for a, b in zip(ends[:-1], ends[1:])]
        elif array.ndim == 2:
            columns[name] = [bytes(row).hex() for row in array]
        else:
            columns[name] = array.tolist()
        if f"{name}_null" in arrays:
            pairs = zip(columns[name], arrays[f"{name}_null"])
            columns[name] = [None if is_null else value for value, is_null in pairs]
    extra = {f"{name}_null" for name in TYPES} | {"line_offsets"}
    assert set(arrays.files) - extra == set(TYPES)
    return [dict(zip(columns, row)) for row in zip(*columns.values())]


def values_of_pandas(column):
    return [None if value != value else int(value) for value in column]


def counts(rows):
    verdicts = [row["verdict"] for row in rows]
    unknown = {}
    for row in rows:
        if row["stop"] is not None:
            unknown[row["stop"]] = unknown.get(row["stop"], 0) + 1
    found = {verdict: verdicts.count(verdict) for verdict in ("win", "loss", "no_mate")}
    return found | {"unknown": unknown, "rows": len(rows), "nodes": sum(row["nodes"] for row in rows)}


def counts_of_manifest(manifest):
    counts, verdicts = manifest["counts"], manifest["counts"]["verdicts"]
    kept = {verdict: verdicts[verdict] for verdict in ("win", "loss", "no_mate", "unknown")}
    return kept | {"rows": counts["rows"], "nodes": counts["nodes"]}


def line_is_mate(row):
    """Whether the line ends in mate with a check by each move of the attacker, and other fields agree with it."""
    is_mate = row["verdict"] in ("win", "loss")
    expected = {"win": 1, "loss": -1}.get(row["verdict"])
    line = row["line"]
    if row["value"] != expected or row["move"] != (line[0] if line else None):
        return False
    if not is_mate:
        return row["plies"] is None and line == [] and row["proof_nodes"] == 0
    board = cshogi.Board(row["sfen"])
    is_attack = row["verdict"] == "win"
    for move in line:
        move = board.move_from_usi(move)
        if not board.is_legal(move):
            return False
        board.push(move)
        if is_attack and not board.is_check():
            return False
        is_attack = not is_attack
    tsume_plies = row["tsume_plies"]
    return (
        board.is_game_over()
        and row["plies"] == len(line)
        and len(line) % 2 == (row["verdict"] == "win")
        and tsume_plies is not None
        and tsume_plies <= row["plies"]
        and (row["proof_nodes"] > 0) == (len(line) > 0)
    )


def content_is_correct(row):
    board = cshogi.Board(row["sfen"])
    if board.is_check() != row["in_check"]:
        return False
    key = bytes.fromhex(row["key"])
    fraction = int.from_bytes(key[:8], "big") * sum(SHARES) >> 64
    split = "train" if fraction < SHARES[0] else "valid" if fraction < SHARES[0] + SHARES[1] else "test"
    if row["split"] != split:
        return False
    if row["hcp"] is None:
        board_of_sfen = row["sfen"].split(" ")[0]
        return not ("K" in board_of_sfen and "k" in board_of_sfen)
    hcp = np.zeros(1, cshogi.HuffmanCodedPos)
    board.to_hcp(hcp)
    return hcp.tobytes().hex() == row["hcp"] and hashlib.sha256(hcp.tobytes()).digest()[:16] == key


def bits_are_correct(row):
    if row["move"] is None:
        return row["move_apery"] == row["move_yaneuraou"] == 0
    board = cshogi.Board(row["sfen"])
    apery = board.move_from_move16(row["move_apery"])
    yaneuraou = board.move_from_psv(row["move_yaneuraou"])
    return cshogi.move_to_usi(apery) == cshogi.move_to_usi(yaneuraou) == row["move"]


if __name__ == "__main__":
    sys.exit(main())
