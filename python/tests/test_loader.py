"""The data loader: each record once, an order that does not depend on threads, resuming, ranks, filters."""

import gzip
import lzma
import multiprocessing
import pathlib
import pickle
from typing import Any

import kyokumen
import numpy as np
import pytest


def order(loader: kyokumen.DataLoader) -> list[int]:
    return [int(index) for batch in loader for index in batch["index"]]


SMALL: dict[str, Any] = {"features": "records", "segment": 16, "window": 256}


def test_each_epoch_has_every_record_once_in_a_different_order(psv: pathlib.Path) -> None:
    loader = kyokumen.DataLoader(psv, 300, seed=3, **SMALL)
    assert len(loader) == 7 and loader.records == 2000
    first, second = order(loader), order(loader)
    assert loader.epoch == 2
    assert sorted(first) == sorted(second) == list(range(2000))
    assert first != second and first != sorted(first)
    again = kyokumen.DataLoader(psv, 300, seed=3, epoch=1, **SMALL)
    assert order(again) == second
    assert order(kyokumen.DataLoader(psv, 300, seed=4, **SMALL)) != first
    assert order(kyokumen.DataLoader(psv, 300, shuffle=False, **SMALL)) == list(range(2000))
    # Neighbours in the file are far apart.
    apart = np.abs(np.diff(first))
    assert np.median(apart) > 100


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("ahead", [1, 8])
def test_batches_do_not_depend_on_threads(psv: pathlib.Path, threads: int, ahead: int) -> None:
    arguments: dict[str, Any] = {"features": "dlshogi", "dtype": "bits", "segment": 16, "window": 256}
    one = list(kyokumen.DataLoader(psv, 128, threads=1, mirror="random", quiet=True, **arguments))
    more = list(
        kyokumen.DataLoader(psv, 128, threads=threads, ahead=ahead, mirror="random", quiet=True, **arguments)
    )
    assert len(one) == len(more) > 2
    for left, right in zip(one, more, strict=True):
        assert left.keys() == right.keys()
        for name in left:
            np.testing.assert_array_equal(left[name], right[name])


def test_batches_have_the_features_of_their_records(psv: pathlib.Path) -> None:
    records = kyokumen.open(psv).numpy()
    for batch in kyokumen.DataLoader(psv, 512, planes=119, policy=True):
        chosen = records[batch["index"]]
        f1, f2 = kyokumen.features.dlshogi(chosen, planes=119)
        np.testing.assert_array_equal(batch["features1"], f1)
        np.testing.assert_array_equal(batch["features2"], f2)
        move, result, value = kyokumen.features.dlshogi_labels(chosen)
        np.testing.assert_array_equal(batch["move"], move)
        np.testing.assert_array_equal(batch["result"], result)
        np.testing.assert_array_equal(batch["value"], value)
        np.testing.assert_array_equal(batch["score"], chosen["score"])
        np.testing.assert_array_equal(batch["policy"].argmax(axis=1), move)
        np.testing.assert_array_equal(batch["policy"].sum(axis=1), 1)
    for features in ("halfkp", "halfka_hm"):
        for batch in kyokumen.DataLoader(psv, 700, features=features):
            expected = getattr(kyokumen.features, features)(records[batch["index"]])
            np.testing.assert_array_equal(batch["active"], expected)
    for batch in kyokumen.DataLoader(psv, 700, features="records"):
        np.testing.assert_array_equal(batch["records"], records[batch["index"]])


@pytest.mark.parametrize("filters", [{}, {"max_abs_eval": 800}])
@pytest.mark.parametrize("taken", [0, 1, 5, 13])
def test_an_epoch_can_be_resumed(psv: pathlib.Path, filters: dict[str, int], taken: int) -> None:
    arguments = {**SMALL, **filters}
    whole = [list(batch["index"]) for batch in kyokumen.DataLoader(psv, 100, epoch=4, **arguments)]
    first = kyokumen.DataLoader(psv, 100, epoch=4, **arguments)
    batches = iter(first)
    begun = [list(next(batches)["index"]) for _ in range(taken)]
    state = pickle.loads(pickle.dumps(first.state_dict()))
    second = kyokumen.DataLoader(psv, 100, threads=3, **arguments)
    second.load_state_dict(state)
    assert begun + [list(batch["index"]) for batch in second] == whole
    assert second.epoch == 5
    # A pickled loader keeps its resume point.
    third = pickle.loads(pickle.dumps(first))
    assert begun + [list(batch["index"]) for batch in third] == whole
    with pytest.raises(ValueError, match="other files or settings"):
        kyokumen.DataLoader(psv, 101, **arguments).load_state_dict(state)
    with pytest.raises(ValueError, match="settings: batch_size is 101, not 100; drop_last is True, not False$"):
        kyokumen.DataLoader(psv, 101, drop_last=True, **arguments).load_state_dict(state)
    with pytest.raises(ValueError, match="not from DataLoader.state_dict"):
        kyokumen.DataLoader(psv, 101, **arguments).load_state_dict({})


def test_errors_name_the_missing_file_and_the_option(tmp_path: pathlib.Path, psv: pathlib.Path) -> None:
    for name in ("nope.hcpe3", "nope.psv", "nope.csa.zst"):
        missing = str(tmp_path / name)
        with pytest.raises(FileNotFoundError, match=name) as error:
            kyokumen.DataLoader([psv, missing])
        assert error.value.filename == missing
    with pytest.raises(FileNotFoundError, match="nope.jsonl"):
        kyokumen.DataLoader(psv, exclude=tmp_path / "nope.jsonl")
    for options, message in (
        ({"batch_size": 0}, "batch_size: expected a whole number of at least 1, not integer \"0\""),
        ({"threads": -1}, "threads: expected a whole number from 0 to [0-9]+, not -1"),
        ({"seed": -1}, "seed: expected a whole number of at least 0, not integer \"-1\""),
        ({"shuffle": 3}, "shuffle: expected True or False, not integer \"3\""),
    ):
        with pytest.raises(kyokumen.UsageError, match=f"^{message}$"):
            kyokumen.DataLoader(psv, **options)  # type: ignore[arg-type]
    for option in ("seed", "mirror"):
        with pytest.raises(TypeError, match=f"^{option}: expected .*, not list$"):
            kyokumen.DataLoader(psv, **{option: []})  # type: ignore[arg-type]


def test_ranks_share_an_epoch(psv: pathlib.Path) -> None:
    loaders = [kyokumen.DataLoader(psv, 64, rank=rank, world_size=3, **SMALL) for rank in range(3)]
    assert len({len(loader) for loader in loaders}) == 1
    orders = [order(loader) for loader in loaders]
    assert len({len(numbers) for numbers in orders}) == 1
    together = [number for numbers in orders for number in numbers]
    assert len(set(together)) == len(together) > 2000 - 3 * 16
    assert sum(1 for _ in loaders[0]) == len(loaders[0])
    # A resumed epoch keeps the share of its rank.
    first = kyokumen.DataLoader(psv, 64, rank=1, world_size=3, **SMALL)
    begun = [batch["index"] for _, batch in zip(range(4), first)]
    again = kyokumen.DataLoader(psv, 64, rank=1, world_size=3, **SMALL)
    again.load_state_dict(first.state_dict())
    assert [int(i) for index in begun for i in index] + order(again) == orders[1]
    with pytest.raises(kyokumen.UsageError):
        kyokumen.DataLoader(psv, 64, rank=3, world_size=3)


def test_filters_equal_those_of_convert(tmp_path: pathlib.Path, psv: pathlib.Path) -> None:
    filters: dict[str, Any] = {"max_abs_eval": 600, "legal_move": True, "drop_in_check": True}
    kyokumen.convert(psv, tmp_path / "a.psv", **filters)
    expected = np.sort(kyokumen.open(tmp_path / "a.psv").numpy().view("V40"))
    loader = kyokumen.DataLoader(psv, 256, features="records", **filters)
    found = np.concatenate([batch["records"] for batch in loader]).view("V40")
    np.testing.assert_array_equal(np.sort(found), expected)
    with pytest.raises(TypeError, match="filters .* it is at most 8$") as unknown:
        len(loader)
    assert isinstance(unknown.value, kyokumen.KyokumenError)
    with pytest.raises(TypeError, match="no option"):
        kyokumen.DataLoader(psv, 256, maximum_eval=3)


def test_mated_positions_are_left_out_by_search_or_by_list(tmp_path: pathlib.Path, psv: pathlib.Path) -> None:
    kyokumen.gen_filter(psv, tmp_path, nodes=300, hash_mb=4)
    kept = np.sort(kyokumen.open(tmp_path / "sample.psv").numpy().view("V40"))
    listed = kyokumen.DataLoader(psv, 256, features="records", exclude=tmp_path / "sample.mated.jsonl")
    on_the_fly = kyokumen.DataLoader(psv, 256, features="records", drop_mated=True, nodes=300, hash_mb=4)
    for loader in (listed, on_the_fly):
        found = np.concatenate([batch["records"] for batch in loader]).view("V40")
        np.testing.assert_array_equal(np.sort(found), kept)
    other = tmp_path / "other.mated.jsonl"
    other.write_text('{"file":"other.psv","index":1}\n')
    with pytest.raises(kyokumen.UsageError, match="none of the files"):
        kyokumen.DataLoader(psv, 256, exclude=other)


def test_visits_become_policy_targets(tmp_path: pathlib.Path, hcpe: pathlib.Path) -> None:
    lines = []
    for i, record in enumerate(kyokumen.open(hcpe)[:200]):
        legal = record.position.legal_moves
        tried = [{"move": m.usi, "visits": 10 * (k + 1)} for k, m in enumerate(legal[:3])]
        lines.append(
            f'{{"sfen":"{record.sfen}","move":"{legal[0]}","eval":{i},"result":"{record.result}",'
            f'"candidates":{str(tried).replace(chr(39), chr(34))}}}'
        )
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(lines) + "\n")
    kyokumen.convert(path, tmp_path / "a.hcpe3", force=True)
    records = list(kyokumen.open(tmp_path / "a.hcpe3"))
    assert len(records) == 200
    seen = set()
    for batch in kyokumen.DataLoader(tmp_path / "a.hcpe3", 64, policy=True, dtype="bits", segment=8, window=64):
        for index, policy, value in zip(batch["index"], batch["policy"], batch["score"]):
            record = records[index]
            visits = {m.label(record.position.turn): v for m, v in record.candidates}
            assert value == record.eval_cp
            total = sum(visits.values())
            assert {int(k): round(float(policy[k]) * total) for k in np.nonzero(policy)[0]} == visits
            seen.add(int(index))
    assert len(seen) == 200


SEEK_TABLE = b"\x5e\x2a\x4d\x18"


def compressed(path: pathlib.Path, folder: pathlib.Path) -> list[pathlib.Path]:
    """Compresses a file as .gz, as .xz, and as .zst with and without a frame table."""
    data = path.read_bytes()
    names = [folder / f"{path.name}.{kind}" for kind in ("gz", "xz", "zst")]
    names[0].write_bytes(gzip.compress(data))
    names[1].write_bytes(lzma.compress(data))
    kyokumen.convert(path, names[2], force=True)
    (folder / "bare").mkdir(exist_ok=True)
    bare = folder / "bare" / names[2].name
    frames = names[2].read_bytes()
    bare.write_bytes(frames[: frames.rindex(SEEK_TABLE)] if SEEK_TABLE in frames else frames)
    return [*names, bare]


def same(left: list[dict[str, Any]], right: list[dict[str, Any]]) -> None:
    assert len(left) == len(right) > 2
    for one, other in zip(left, right, strict=True):
        assert one.keys() == other.keys()
        for name in one:
            np.testing.assert_array_equal(one[name], other[name])


FORMATS = ["hcpe", "psv", "hcpe3", "pack", "sbinpack", "jsonl", "csa", "kif"]


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_shuffled_compressed_or_not(tmp_path: pathlib.Path, hcpe: pathlib.Path, name: str) -> None:
    path = tmp_path / f"a.{name}"
    kyokumen.convert(hcpe, path, fill={"ply": 0} if name == "psv" else None, limit=600)
    arguments: dict[str, Any] = {"dtype": "bits", "segment": 16, "window": 128, "seed": 3, "policy": True}
    plain = list(kyokumen.DataLoader(path, 40, threads=1, **arguments))
    records = [record for record in kyokumen.open(path) if record.move is not None or name in ("hcpe", "psv")]
    found = np.concatenate([batch["index"] for batch in plain])
    assert len(set(found)) == len(found) == len(records) > 500
    assert list(found) != sorted(found)
    # The arrays agree with the records.
    by_number = {record.index: record for record in records}
    for batch in plain[:3]:
        positions = [by_number[int(index)].position for index in batch["index"]]
        packed = kyokumen.encode([position.sfen for position in positions])
        np.testing.assert_array_equal(batch["features1"], kyokumen.features.dlshogi(packed, dtype="bits")[0])
        evals = [by_number[int(index)].eval_cp or 0 for index in batch["index"]]
        np.testing.assert_array_equal(batch["score"], evals)
    for file in compressed(path, tmp_path):
        for threads in (1, 3):
            same(plain, list(kyokumen.DataLoader(file, 40, threads=threads, tmp_dir=tmp_path, **arguments)))
        loader = kyokumen.DataLoader(file, 40, threads=2, **arguments)
        begun = [batch for _, batch in zip(range(4), loader)]
        again = pickle.loads(pickle.dumps(loader))
        same(plain, begun + list(again))
        ranks = [order(kyokumen.DataLoader(file, 40, rank=rank, world_size=2, **arguments)) for rank in range(2)]
        assert ranks == [order(kyokumen.DataLoader(path, 40, rank=rank, world_size=2, **arguments)) for rank in range(2)]


def test_seekable_frames_are_read_without_spooling(tmp_path: pathlib.Path, psv: pathlib.Path) -> None:
    gz, xz, framed, bare = compressed(psv, tmp_path)
    arguments: dict[str, Any] = {"features": "records", "seed": 5, "segment": 16, "window": 256}
    plain = list(kyokumen.DataLoader(psv, 128, **arguments))
    same(plain, list(kyokumen.DataLoader(framed, 128, spool=False, **arguments)))
    for file in (gz, xz, bare):
        with pytest.raises(kyokumen.UsageError, match="random access is not supported"):
            kyokumen.DataLoader(file, 128, spool=False, **arguments)
    kyokumen.convert(psv, tmp_path / "a.csa.zst")
    with pytest.raises(kyokumen.UsageError, match="spool=True"):
        kyokumen.DataLoader(tmp_path / "a.csa.zst", 128, spool=False)


def test_temporary_files_are_in_tmp_dir_and_removed(tmp_path: pathlib.Path, samples: pathlib.Path) -> None:
    with pytest.raises(OSError, match="set tmp_dir"):
        kyokumen.DataLoader(samples / "sample.psv.zst", tmp_dir=tmp_path / "nowhere")
    list(kyokumen.DataLoader(samples / "sample.psv.zst", tmp_dir=tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_damaged_compressed_files_are_errors(tmp_path: pathlib.Path, psv: pathlib.Path) -> None:
    cut = tmp_path / "cut.psv.gz"
    cut.write_bytes(gzip.compress(psv.read_bytes()[: 40 * 7 + 3]))
    with pytest.raises(kyokumen.BadRecordError, match="7 records are complete") as error:
        kyokumen.DataLoader(cut, 10)
    assert (error.value.file, error.value.record, error.value.byte) == (str(cut), 7, 280)
    short = tmp_path / "short.psv.xz"
    short.write_bytes(lzma.compress(psv.read_bytes())[:-1000])
    with pytest.raises(kyokumen.FileError) as failed:
        kyokumen.DataLoader(short, 10)
    assert failed.value.file == str(short)


def test_several_files_are_one_sequence(samples: pathlib.Path, hcpe: pathlib.Path) -> None:
    loader = kyokumen.DataLoader([hcpe, samples / "sample.psv.zst", samples / "sample.psv"], 512, dtype="bits")
    assert sorted(order(loader)) == list(range(6000))
    with pytest.raises(kyokumen.UsageError, match="files of one format"):
        kyokumen.DataLoader([hcpe, samples / "sample.psv"], 512, features="records")


def test_bad_records_are_errors_or_skipped(tmp_path: pathlib.Path, psv: pathlib.Path) -> None:
    data = bytearray(psv.read_bytes())
    data[40 * 700 : 40 * 700 + 32] = b"\xff" * 32
    path = tmp_path / "bad.psv"
    path.write_bytes(data)
    with pytest.raises(kyokumen.BadRecordError) as error:
        list(kyokumen.DataLoader(path, 100))
    assert (error.value.file, error.value.record, error.value.byte) == (str(path), 700, 28000)
    assert sorted(order(kyokumen.DataLoader(path, 100, on_error="skip"))) == [i for i in range(2000) if i != 700]
    with pytest.raises(kyokumen.BadRecordError, match="are complete"):
        path.write_bytes(data[:100])
        kyokumen.DataLoader(path, 100)
    with pytest.raises(kyokumen.UsageError, match="no records"):
        path.write_bytes(b"")
        kyokumen.DataLoader(path, 100)


def in_child(path: str, numbers: Any) -> None:
    numbers.put(order(kyokumen.DataLoader(path, 256, features="records")))


def test_a_forked_process_starts_new_threads(psv: pathlib.Path) -> None:
    # Threads are in use before the fork.
    expected = order(kyokumen.DataLoader(psv, 256, features="records"))
    kyokumen.features.dlshogi(kyokumen.open(psv), threads=2)
    begun = iter(kyokumen.DataLoader(psv, 256, features="records"))
    next(begun)
    context = multiprocessing.get_context("fork")
    numbers = context.Queue()
    child = context.Process(target=in_child, args=(str(psv), numbers))
    child.start()
    assert numbers.get(timeout=30) == expected
    child.join(30)
    assert child.exitcode == 0

    def continue_iteration(messages: Any) -> None:
        try:
            next(begun)
        except RuntimeError as error:
            messages.put(str(error))

    child = context.Process(target=continue_iteration, args=(numbers,))
    child.start()
    assert "forked" in numbers.get(timeout=30)
    child.join(30)


def test_kept_batches_do_not_change(psv: pathlib.Path) -> None:
    # The loader reuses the memory of batches that were dropped.
    kept = list(kyokumen.DataLoader(psv, 100, dtype="bits", seed=5, ahead=1))
    loader = kyokumen.DataLoader(psv, 100, dtype="bits", seed=5, ahead=1)
    views = []
    for number, batch in enumerate(loader):
        for name, array in batch.items():
            np.testing.assert_array_equal(array, kept[number][name])
        if number % 3 == 0:
            views.append((number, batch["features1"][5:]))
    for number, view in views:
        np.testing.assert_array_equal(view, kept[number]["features1"][5:])
    assert kept[0]["features1"].flags.writeable


def test_drop_last_omits_an_incomplete_batch(psv: pathlib.Path) -> None:
    whole = kyokumen.DataLoader(psv, 300, features="records", drop_last=True)
    assert len(whole) == 6 and [len(batch["index"]) for batch in whole] == [300] * 6
    rest = kyokumen.DataLoader(psv, 300, features="records")
    assert len(rest) == 7 and [len(batch["index"]) for batch in rest][-1] == 200


def test_dropped_iterators_end_their_threads(psv: pathlib.Path) -> None:
    import threading
    import time

    def threads() -> int:
        return len(list(pathlib.Path("/proc/self/task").iterdir()))

    before = threads()
    for _ in range(5):
        batches = iter(kyokumen.DataLoader(psv, 10, features="records"))
        next(batches)
        del batches
    deadline = time.monotonic() + 10
    while threads() > before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert threads() <= before and threading.active_count() >= 1
