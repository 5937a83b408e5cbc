"""Functions of commands without an own test file, and the command line of the package."""

import collections
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import kyokumen
import numpy as np
import pytest
from conftest import DATA


def program(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "kyokumen", *map(str, arguments)]
    return subprocess.run(words, capture_output=True, encoding="utf-8", check=False, **options)  # type: ignore[call-overload, no-any-return]


@pytest.mark.filterwarnings("ignore:the drawn records are still in the inputs")
def test_sample_draws_records_in_order(tmp_path: pathlib.Path, psv: pathlib.Path) -> None:
    report = kyokumen.sample(psv, tmp_path / "s.psv", count=300, seed=5)
    assert (report.counts.input, report.counts.written) == (2000, 300)
    rows = [bytes(row) for row in kyokumen.open(psv).numpy()]
    drawn = [bytes(row) for row in kyokumen.open(tmp_path / "s.psv").numpy()]
    # The sample is a subsequence.
    remaining = iter(rows)
    assert all(row in remaining for row in drawn) and len(drawn) == 300
    kyokumen.sample(psv, tmp_path / "r.psv", rate=0.1)
    assert 100 < len(kyokumen.open(tmp_path / "r.psv")) < 300
    with pytest.raises(kyokumen.UsageError):
        kyokumen.sample(psv, tmp_path / "x.psv")


def test_interleave_keeps_every_record(tmp_path: pathlib.Path, psv: pathlib.Path) -> None:
    kyokumen.split(psv, tmp_path / "parts", parts=2, by="ranges")
    parts = sorted((tmp_path / "parts").glob("*.psv"))
    kyokumen.interleave(parts, tmp_path / "all.psv", weights=[3, 1])
    mixed = kyokumen.open(tmp_path / "all.psv").numpy().view("V40")
    assert (tmp_path / "all.psv").read_bytes() != psv.read_bytes()
    np.testing.assert_array_equal(np.sort(mixed), np.sort(kyokumen.open(psv).numpy().view("V40")))


def test_generate_and_inspect(tmp_path: pathlib.Path) -> None:
    report = kyokumen.generate(tmp_path / "g.psv", count=100, seed=3)
    assert report.records == 100 and sum(report.games.values()) >= 1
    with pytest.raises(FileExistsError):
        kyokumen.generate(tmp_path / "g.psv", count=100)
    archive = kyokumen.open(tmp_path / "g.psv")
    shown = kyokumen.inspect(tmp_path / "g.psv", range="7..9", hex=True)
    assert [record.index for record in shown] == [7, 8] and shown[0].sfen == archive[7].sfen
    assert bytes.fromhex(shown[1].hex) == archive[8].bytes
    (tmp_path / "bad.psv").write_bytes(archive[0].bytes + b"\xff" * 40)
    good, bad = kyokumen.inspect(tmp_path / "bad.psv", range="0..2", from_="psv")
    assert "error" not in good and bad.error
    page = tmp_path / "boards.html"
    assert kyokumen.inspect(tmp_path / "g.psv", sample=3, html=page, lang="en") == []
    assert page.read_text().count("<svg") >= 3


def test_dataset_of_verdicts(tmp_path: pathlib.Path, samples: pathlib.Path) -> None:
    hcp = samples / "sample.hcp"
    limits = {"nodes": 100, "hash_mb": 4}
    report = kyokumen.dataset(hcp, tmp_path, to="jsonl", limit=200, split=[8, 1, 1], **limits)
    assert report.counts.rows == 200 and not report.was_done
    solutions = kyokumen.solve_many(kyokumen.open(hcp)[:200], **limits)
    words = {1: "win", -1: "loss", 0: "no_mate", 2: "unknown"}
    rows = [json.loads(line) for path in sorted(tmp_path.glob("*.jsonl")) for line in path.read_text().splitlines()]
    assert collections.Counter(row["verdict"] for row in rows) == collections.Counter(
        words[int(verdict)] for verdict in solutions.verdicts
    )
    plan = kyokumen.dataset(hcp, tmp_path / "x", to="jsonl", dry_run=True, **limits)
    assert plan.records == 2000 and plan.estimate.seconds.expected > 0 and not (tmp_path / "x").exists()


def test_status_and_merge(tmp_path: pathlib.Path, samples: pathlib.Path) -> None:
    hcp = samples / "sample.hcp"
    limits = {"nodes": 20, "hash_mb": 4}
    kyokumen.gen_filter(hcp, tmp_path, shard="1/2", **limits)
    [run] = kyokumen.status(tmp_path)
    assert [(shard.shard, shard.state) for shard in run.shards] == [("1/2", "done"), ("2/2", "missing")]
    with pytest.raises(kyokumen.KyokumenError, match="2/2"):
        kyokumen.merge(tmp_path, tmp_path / "all.hcp")
    kyokumen.gen_filter(hcp, tmp_path, shard="2/2", **limits)
    kyokumen.merge(tmp_path, tmp_path / "all.hcp")
    kyokumen.gen_filter(hcp, tmp_path / "whole", **limits)
    assert (tmp_path / "all.hcp").read_bytes() == (tmp_path / "whole/sample.hcp").read_bytes()


def test_selfplay_and_relabel_with_a_network(tmp_path: pathlib.Path) -> None:
    games = {"model": DATA / "network.onnx", "games": 2, "playouts": 4, "max_moves": 30, "root_mate": [0, 0], "threads": 1}
    snapshots: list[kyokumen.Report] = []
    report = kyokumen.selfplay(tmp_path, progress=snapshots.append, seed=7, **games)
    assert report.games.played == 2 and snapshots[-1].games == 2
    plays = list(kyokumen.games(tmp_path / "selfplay.hcpe3"))
    assert [len(game) for game in plays] and sum(map(len, plays)) == report.games.moves
    again = kyokumen.selfplay(tmp_path / "again", seed=7, **games)
    assert (tmp_path / "again/selfplay.hcpe3").read_bytes() == (tmp_path / "selfplay.hcpe3").read_bytes()
    assert again.games == report.games
    relabelled = kyokumen.relabel(DATA / "sample.hcpe", tmp_path, model=DATA / "network.onnx", limit=50, name="new")
    assert relabelled.counts.evaluations.new > 0
    before, after = kyokumen.open(DATA / "sample.hcpe")[:50].numpy(), kyokumen.open(tmp_path / "new.hcpe").numpy()
    assert (before["eval"] != after["eval"]).any()
    np.testing.assert_array_equal(before["bestMove16"], after["bestMove16"])
    with pytest.raises(kyokumen.UsageError, match="^set games$"):
        kyokumen.selfplay(tmp_path, model="uniform")
    with pytest.raises(kyokumen.UsageError, match="^policy needs a search: set playouts$"):
        kyokumen.relabel(DATA / "sample.hcpe", tmp_path, model="uniform", policy=True)


def test_the_command_line_of_the_package(tmp_path: pathlib.Path, psv: pathlib.Path) -> None:
    assert program("--version").stdout == f"kyokumen {kyokumen.__version__}\n"
    converted = program("convert", psv, "-o", tmp_path / "a.hcpe", "--progress", "none")
    assert converted.returncode == 0 and len(kyokumen.open(tmp_path / "a.hcpe")) == 2000
    assert program("convert", tmp_path / "nowhere.psv", "-o", tmp_path / "b.hcpe").returncode == 1
    usage = program("convert")
    assert usage.returncode == 2 and "Usage: kyokumen convert" in usage.stderr
    (tmp_path / "empty.psv").touch()
    assert program("stats", tmp_path / "empty.psv").returncode == 3


@pytest.mark.skipif(os.name == "nt", reason="Windows has no signals of this kind")
def test_ctrl_c_ends_the_command_line(tmp_path: pathlib.Path, samples: pathlib.Path) -> None:
    words = [sys.executable, "-m", "kyokumen", "filter", samples / "sample.hcp", "-o", tmp_path / "out", "--nodes", "1000000000"]
    words += ["--depth", "1000", "--when-hopeless", "go-on", "--hash-mb", "4", "--checkpoint-every", "0.1", "--progress", "none"]

    def with_signals() -> None:
        # A shell starts background jobs with SIGINT ignored.
        signal.signal(signal.SIGINT, signal.default_int_handler)

    process = subprocess.Popen(words, stderr=subprocess.PIPE, encoding="utf-8", preexec_fn=with_signals)
    while not list(tmp_path.glob("out/*.partial")):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, messages = process.communicate(timeout=20)
    assert process.returncode == 130 and "interrupted" in messages and "Traceback" not in messages
