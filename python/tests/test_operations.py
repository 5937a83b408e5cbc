"""Operations of the command line, called as functions."""

import json
import os
import pathlib
import re
import shutil
import signal
import sys
import threading

import kyokumen
import numpy as np
import pytest
from conftest import DATA


def test_convert_there_and_back(tmp_path: pathlib.Path, hcpe: pathlib.Path) -> None:
    report = kyokumen.convert(hcpe, tmp_path / "a.psv", fill="ply=0")
    assert report.counts.input == report.counts.written == 2000
    assert report["counts"]["written"] == 2000 and report.counts.invented.ply == 2000
    kyokumen.convert(tmp_path / "a.psv", tmp_path / "b.hcpe")
    fields = ["hcp", "eval", "bestMove16", "gameResult"]
    left, right = kyokumen.open(tmp_path / "b.hcpe").numpy(), kyokumen.open(hcpe).numpy()
    for field in fields:
        np.testing.assert_array_equal(left[field], right[field])


def test_filters_of_convert_and_unknown_options(tmp_path: pathlib.Path, psv: pathlib.Path) -> None:
    report = kyokumen.convert(
        psv, tmp_path / "q.psv", max_abs_eval=499, quiet=True, drop_in_check=True, result="black,white", limit=1500
    )
    assert report.counts.input == 1500
    assert report.counts.written + sum(report.counts.filtered.values()) == 1500
    array = kyokumen.open(tmp_path / "q.psv").numpy()
    assert len(array) == report.counts.written > 100
    assert abs(array["score"]).max() <= 499 and (array["game_result"] != 0).all()
    assert not kyokumen.in_check(array).any() and kyokumen.has_legal_move(array).all()
    with pytest.raises(TypeError, match="no option max_eval"):
        kyokumen.convert(psv, tmp_path / "x.psv", max_eval=1)
    with pytest.raises(ValueError, match="^limit: "):
        kyokumen.convert(psv, tmp_path / "x.psv", limit="many")
    assert not (tmp_path / "x.psv").exists()


def test_rejected_calls_write_nothing(tmp_path: pathlib.Path, hcpe: pathlib.Path) -> None:
    with pytest.raises(kyokumen.UsageError, match='fill="ply=0"'):
        kyokumen.convert(hcpe, tmp_path / "a.psv")
    np.savez(tmp_path / "a.npz", a=np.zeros(1))
    with pytest.raises(kyokumen.UsageError, match='use fill="move=none,eval=0,ply=0,result=draw"'):
        kyokumen.convert(DATA / "sample.hcp", tmp_path / "a.psv")
    for call, message in (
        (lambda: kyokumen.split(hcpe, tmp_path / "a.hcpe"), "^set one of parts, size, records, weights, names$"),
        (lambda: kyokumen.convert([], tmp_path / "a.hcp"), "^there are no inputs$"),
        (lambda: kyokumen.stats([]), "^there are no inputs$"),
        (lambda: kyokumen.sample(hcpe, tmp_path / "a.hcpe"), "^set one of count, rate$"),
        (lambda: kyokumen.generate(tmp_path / "a.hcpe"), "^set count$"),
        (lambda: kyokumen.stats(hcpe, result="win"), '^result: "win" is not a result: expected .* separated by commas$'),
        (lambda: kyokumen.dataset(hcpe, tmp_path / "d", to="parquet"), "`cargo install --path . --features parquet`$"),
        (lambda: kyokumen.stats("s3://bucket/a.psv"), "^s3://bucket/a.psv: this build does not support object stores; "),
        (lambda: kyokumen.stats(tmp_path / "a.npz"), "ZIP archive; npz files are only written; read them with `numpy.load`$"),
        (lambda: kyokumen.open(DATA / "../README.md"), "; set its format with format=$"),
        (lambda: kyokumen.stats(DATA / "../README.md"), "; set its format with from_=$"),
    ):
        with pytest.raises(kyokumen.UsageError, match=message):
            call()
    (tmp_path / "there.hcpe").write_bytes(b"")
    with pytest.raises(kyokumen.UsageError, match="exists; replace it with force=True"):
        kyokumen.convert(hcpe, tmp_path / "there.hcpe")
    with pytest.raises(FileNotFoundError):
        kyokumen.stats("nowhere.psv")
    with pytest.raises(kyokumen.UsageError):
        kyokumen.convert(hcpe, tmp_path / "b.hcpe", on_error="maybe")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.npz", "there.hcpe"]


def test_shuffle_dedup_and_split_lose_no_record(tmp_path: pathlib.Path, psv: pathlib.Path) -> None:
    all_records = np.sort(kyokumen.open(psv).numpy().view("V40"))
    report = kyokumen.shuffle([psv], tmp_path / "s.psv", seed=7, memory="1M", tmp_dir=tmp_path)
    assert report.counts.written == 2000
    shuffled = kyokumen.open(tmp_path / "s.psv").numpy()
    np.testing.assert_array_equal(np.sort(shuffled.view("V40")), all_records)
    kyokumen.shuffle(psv, tmp_path / "t.psv", seed=7, threads=1)
    assert (tmp_path / "t.psv").read_bytes() == (tmp_path / "s.psv").read_bytes()
    report = kyokumen.dedup([psv, tmp_path / "s.psv"], tmp_path / "d.psv", key="bytes")
    unique = kyokumen.open(tmp_path / "d.psv").numpy().view("V40")
    np.testing.assert_array_equal(np.sort(unique), np.unique(all_records))
    assert report.counts.filtered.duplicate == 4000 - len(unique)
    report = kyokumen.dedup(psv, tmp_path / "new.psv", reference=tmp_path / "s.psv")
    assert report.counts.written == 0
    kyokumen.split(psv, tmp_path / "parts", parts=3, by="ranges")
    parts = sorted((tmp_path / "parts").glob("*.psv"))
    assert b"".join(path.read_bytes() for path in parts) == psv.read_bytes() and len(parts) == 3


def test_a_sample_warns_that_its_records_stay_in_the_input(tmp_path: pathlib.Path, psv: pathlib.Path) -> None:
    with pytest.warns(UserWarning, match="no validation set") as warned:
        kyokumen.sample(psv, tmp_path / "s.psv", count=10)
    assert warned[0].filename == __file__


def test_tqdm_is_only_needed_for_a_bar(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path, psv: pathlib.Path
) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ModuleNotFoundError, match="progress=True needs the package tqdm"):
        kyokumen.convert(psv, tmp_path / "a.hcpe", progress=True)


def test_verify_and_stats(tmp_path: pathlib.Path, psv: pathlib.Path) -> None:
    bad = tmp_path / "bad.psv"
    bad.write_bytes(psv.read_bytes()[:4000] + b"\xff" * 40)
    [good_report, bad_report] = kyokumen.verify([psv, bad])
    assert (good_report.records, good_report.bad) == (2000, 0)
    assert (bad_report.records, bad_report.bad) == (101, 1)
    [finding] = [finding for finding in bad_report.findings if finding.level == "error"]
    assert finding.examples[0].record == 100 and finding.examples[0].byte == 4000
    statistics = kyokumen.stats(psv)
    array = kyokumen.open(psv).numpy()
    assert statistics.records == 2000
    assert (statistics.evals.least, statistics.evals.most) == (array["score"].min(), array["score"].max())
    assert statistics.in_check == kyokumen.in_check(array).sum()
    assert statistics.distinct.positions == len(np.unique(kyokumen.keys(array).view("V16")))


def test_gen_filter(tmp_path: pathlib.Path, samples: pathlib.Path) -> None:
    hcp = samples / "sample.hcp"
    report = kyokumen.gen_filter(hcp, tmp_path, nodes=500, hash_mb=4, shard="1/2")
    assert not report.was_done
    counts = report.counts
    assert counts.input == 1000
    kept = kyokumen.open(tmp_path / "sample-00001-of-00002.hcp")
    mated = [json.loads(line) for line in (tmp_path / "sample-00001-of-00002.mated.jsonl").read_text().splitlines()]
    assert len(kept) == counts.kept and len(mated) == 1000 - len(kept) > 0
    solutions = kyokumen.solve_many(kyokumen.open(hcp)[:1000], nodes=500, hash_mb=4)
    has_mate = np.abs(solutions.verdicts) == 1
    assert [line["index"] for line in mated] == list(np.nonzero(has_mate)[0])
    again = kyokumen.gen_filter(hcp, tmp_path, nodes=500, hash_mb=4, shard="1/2", resume=True)
    assert again.was_done and again.counts == counts


def test_retry_unknown_searches_unknown_positions_again(tmp_path: pathlib.Path, samples: pathlib.Path) -> None:
    hcp = samples / "sample.hcp"
    few = {"nodes": 30, "hash_mb": 4}
    first = kyokumen.gen_filter(hcp, tmp_path / "first", shard="2/2", drop_in_check=True, **few)
    unknown = sum(first.counts.verdicts.unknown.values())
    assert unknown > 0
    manifest = tmp_path / "first/sample-00002-of-00002.manifest.json"
    again = kyokumen.gen_filter(None, tmp_path / "again", retry_unknown=manifest, nodes=2000)
    assert again.settings.nodes == 2000 and again.settings.drop_in_check
    assert sum(again.counts.verdicts.unknown.values()) < unknown
    # The outputs equal those of one run with the larger node limit.
    whole = kyokumen.gen_filter(hcp, tmp_path / "whole", shard="2/2", drop_in_check=True, nodes=2000, hash_mb=4)
    for name in ("sample-00002-of-00002.hcp", "sample-00002-of-00002.hcp.mated"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert again.counts.kept == whole.counts.kept
    for wrong in ({"shard": "1/2"}, {"max_abs_eval": 3}):
        with pytest.raises(kyokumen.UsageError):
            kyokumen.gen_filter(None, tmp_path / "x", retry_unknown=manifest, **wrong)
    with pytest.raises(kyokumen.UsageError, match="inputs"):
        kyokumen.gen_filter(hcp, tmp_path / "x", retry_unknown=manifest)
    with pytest.raises(kyokumen.UsageError, match="inputs"):
        kyokumen.gen_filter(None, tmp_path / "x")
    with pytest.raises(FileNotFoundError) as error:
        kyokumen.gen_filter(None, tmp_path / "x", retry_unknown="nowhere.manifest.json")
    assert error.value.file == "nowhere.manifest.json"


def test_settings_can_come_from_a_file(tmp_path: pathlib.Path, samples: pathlib.Path) -> None:
    config = tmp_path / "settings.toml"
    config.write_text('nodes = 300\nhash-mb = 4\nmated = "drop"\nmax-ply = 900\nlimit = 500\noutput = "elsewhere"\n')
    report = kyokumen.gen_filter(samples / "sample.psv", tmp_path / "out", config=config, nodes=200)
    assert report.counts.input == 500 and report.settings["max-ply"] == 900
    assert (report.settings.nodes, report.settings.mated) == (200, "drop")
    config.write_text("no-such = 1\n")
    with pytest.raises(kyokumen.UsageError, match="settings.toml: unknown option no-such"):
        kyokumen.gen_filter(samples / "sample.psv", tmp_path / "out", config=config)
    config.write_text("nodes =\n")
    with pytest.raises(kyokumen.UsageError, match="settings.toml"):
        kyokumen.gen_filter(samples / "sample.psv", tmp_path / "out", config=config)


def test_a_dry_run_reports_inputs_outputs_and_time(tmp_path: pathlib.Path, samples: pathlib.Path) -> None:
    plan = kyokumen.gen_filter(samples / "sample.hcp", tmp_path / "out", nodes=20, hash_mb=4, shard="1/4", dry_run=True)
    assert plan.records == 500 == plan.estimate.records and 0 < plan.estimate.sampled <= 500
    assert plan.inputs[0].format == "hcp" and (plan.inputs[0]["from"], plan.inputs[0].to) == (0, 500)
    assert str(tmp_path / "out/sample-00001-of-00004.manifest.json") in plan.outputs
    assert plan.estimate.seconds.low <= plan.estimate.seconds.expected <= plan.estimate.seconds.high
    assert not (tmp_path / "out").exists()


def test_metrics_for_prometheus(tmp_path: pathlib.Path, samples: pathlib.Path) -> None:
    metrics = tmp_path / "run.prom"
    kyokumen.gen_filter(samples / "sample.hcp", tmp_path / "out", nodes=20, hash_mb=4, metrics=metrics)
    assert re.search(r"^kyokumen_\w+\{[^}]*\} 2000$", metrics.read_text(), re.MULTILINE)


def test_a_page_of_statistics(tmp_path: pathlib.Path, psv: pathlib.Path) -> None:
    page = tmp_path / "report.html"
    statistics = kyokumen.stats(psv, html=page, sample=0.5, seed=3)
    text = page.read_text()
    assert text.startswith("<!DOCTYPE html>") and "<h1>" in text and "sample.psv" in text
    assert 800 < statistics.good < 1200
    assert kyokumen.stats(psv, sample=0.5, seed=4).good != statistics.good
    with pytest.raises(kyokumen.UsageError, match="exists"):
        kyokumen.stats(psv, html=page)
    kyokumen.stats(psv, html=page, force=True)
    assert page.read_text() != text


def test_split_by_size_or_records(tmp_path: pathlib.Path, psv: pathlib.Path) -> None:
    for limit, parts in (({"records": 700}, 3), ({"size": "16K"}, 5), ({"size": 40 * 700 + 3}, 3)):
        kyokumen.split(psv, tmp_path / "parts", **limit)
        files = sorted((tmp_path / "parts").glob("*.psv"))
        assert len(files) == parts and b"".join(path.read_bytes() for path in files) == psv.read_bytes()
        shutil.rmtree(tmp_path / "parts")
    for wrong in ({}, {"parts": 2, "records": 5}, {"records": 5, "by": "ranges"}):
        with pytest.raises(kyokumen.UsageError):
            kyokumen.split(psv, tmp_path / "parts", **wrong)


def test_outputs_are_compared_with_their_manifests(tmp_path: pathlib.Path, samples: pathlib.Path) -> None:
    kyokumen.shuffle(samples / "sample.psv", tmp_path / "s.psv")
    kyokumen.gen_filter(samples / "sample.hcp", tmp_path, nodes=20, hash_mb=4)
    manifests = sorted(tmp_path.glob("*.manifest.json"))
    assert len(manifests) == 2
    assert [report.problems for report in kyokumen.verify(manifest=manifests)] == [[], []]
    (tmp_path / "s.psv").write_bytes(b"")
    reports = kyokumen.verify(manifest=manifests)
    assert sorted(len(report.problems) for report in reports) == [0, 1]
    with pytest.raises(kyokumen.UsageError, match="manifest"):
        kyokumen.verify(tmp_path / "s.psv", manifest=manifests)


def test_files_of_proofs_are_checked(tmp_path: pathlib.Path) -> None:
    solution = kyokumen.Solver(hash_mb=1).solve("4k4/9/4P4/9/9/9/9/9/4K4 b G2r2b3g4s4n4l17p 1")
    assert solution.proof is not None
    path = tmp_path / "mates.proofs"
    path.write_bytes(solution.proof.to_bytes())
    [report] = kyokumen.verify(proof=path)
    assert (report.proofs, report.win, report.longest_plies) == (1, 1, solution.plies)
    text = solution.proof.to_bytes().decode()
    path.write_text(text[: len(text) // 2])
    with pytest.raises(kyokumen.KyokumenError) as error:
        kyokumen.verify(proof=path)
    assert error.value.file == str(path)
    with pytest.raises(FileNotFoundError):
        kyokumen.verify(proof="nowhere.proofs")


def test_progress_is_reported_and_its_exceptions_end_the_run(tmp_path: pathlib.Path, samples: pathlib.Path) -> None:
    snapshots = []
    kyokumen.gen_filter(samples / "sample.hcp", tmp_path / "a", nodes=2000, hash_mb=4, progress=snapshots.append)
    assert snapshots[-1].done == snapshots[-1].total == 2000 and snapshots[-1].win > 0
    assert [snapshot.done for snapshot in snapshots] == sorted(snapshot.done for snapshot in snapshots)

    def fail(snapshot: kyokumen.Report) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        kyokumen.gen_filter(samples / "sample.hcp", tmp_path / "b", nodes=2000, hash_mb=4, progress=fail)


class Bar:
    """The attributes of a tqdm bar that the package uses."""

    total: int | None = None
    n = 0

    def update(self, records: int) -> None:
        self.n += records


def test_a_tqdm_bar_is_updated(tmp_path: pathlib.Path, psv: pathlib.Path) -> None:
    bar = Bar()
    kyokumen.convert(psv, tmp_path / "a.hcpe", progress=bar)
    assert (bar.total, bar.n) == (2000, 2000)


def test_ctrl_c_ends_a_run_without_incomplete_files(tmp_path: pathlib.Path, samples: pathlib.Path) -> None:
    # A shell starts background jobs with SIGINT ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        kyokumen.gen_filter(
            samples / "sample.hcp", tmp_path, nodes=10**9, depth=1000, when_hopeless="go-on", hash_mb=4
        )
    timer.join()
    assert not list(tmp_path.glob("*.hcp")) and not list(tmp_path.glob("*.manifest.json"))
