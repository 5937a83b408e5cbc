"""Bad arguments, threads, errors and Ctrl-C cause an exception soon, never a panic, a crash or an incomplete file."""

import collections
import functools
import math
import os
import pathlib
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import kyokumen
import numpy as np
import pyarrow as pa
import pytest
from kyokumen import features

WRONG: list[Any] = [
    None, True, -1, 0, 1, 2**31, 2**63, 2**64, -(2**70), 1.5, math.nan, math.inf, "", "x", "a\0b", "\ud800", b"\xff",
    [], [None], ["\ud800"], (1, 2), {}, {1: 2}, object(), int, np.int64(-5), np.uint64(2**64 - 1), np.float64("nan"),
    np.zeros(3), np.zeros((2, 2), "u1"), np.array([None]), slice(1, 2), pathlib.Path("nowhere"), kyokumen.Position(),
]  # fmt: skip
RECORD_FUNCTIONS = [
    kyokumen.decode, kyokumen.encode, kyokumen.to_sfens, kyokumen.keys, kyokumen.in_check, kyokumen.legal_move_mask,
    kyokumen.has_legal_move, features.dlshogi, features.dlshogi_labels, features.halfkp, features.halfka_hm,
]  # fmt: skip
LOADER = (
    "features planes dtype mirror scale policy sample_seed shuffle seed segment window rank world_size drop_last threads "
    "ahead on_error exclude drop_mated spool tmp_dir epoch tensors batch_size depth nodes every sample from_ dialect"
)
FILTER = (
    "config retry_unknown to name shard mated unknown on_error fill limit checkpoint_every metrics metrics_listen tmp_dir depth nodes "
    "in_check when_hopeless threads progress sample seed every min_ply result from_ dialect"
)


def tried(call: Callable[[], object]) -> str:
    """Returns the name of the exception of a call, or "fine". Does not catch a panic, which is not an Exception."""
    try:
        call()
    except Exception as error:
        assert "internal error" not in str(error) and not isinstance(error, SystemError), error
        return type(error).__name__
    return "fine"


def test_wrong_arguments_of_functions_do_not_panic(psv: pathlib.Path) -> None:
    records = kyokumen.open(psv).numpy()[:50]
    for function in RECORD_FUNCTIONS:
        for wrong in WRONG:
            tried(lambda: function(wrong))
            tried(lambda: function(records, threads=wrong))
            for option in ("out", "planes", "dtype", "mirror", "scale", "format"):
                tried(lambda: function(records, **{option: wrong}))
    for wrong in WRONG:
        for option in ("threads", "depth", "nodes", "in_check", "when_hopeless", "progress"):
            small = {"nodes": 5, "hash_mb": 1, "threads": 1}
            tried(lambda: kyokumen.solve_many(records[:2], **{**small, option: wrong}))
            tried(lambda: kyokumen.Solver(1, **{option: wrong}))


def test_wrong_arguments_of_methods_do_not_panic(psv: pathlib.Path) -> None:
    archive, position, move = kyokumen.open(psv)[:100], kyokumen.Position(), kyokumen.Move("7g7f")
    methods: list[Callable[[Any], object]] = [
        kyokumen.open, kyokumen.Move, kyokumen.Move.from_bits, kyokumen.Position, kyokumen.Position.from_hcp,
        kyokumen.Position.from_psfen, kyokumen.Position.from_psv, kyokumen.Proof.from_bytes, archive.__getitem__,
        position.push, position.is_legal, position.gives_check, move.bits, move.label, position.__eq__, move.__eq__,
        lambda wrong: archive.sfens(on_error=wrong), lambda wrong: archive.to_arrow(columns=wrong),
        lambda wrong: next(archive.read_batches(batch_size=wrong)), lambda wrong: archive.to_arrow(threads=wrong),
        lambda wrong: archive[wrong:], lambda wrong: archive[:wrong], lambda wrong: archive[::wrong],
        lambda wrong: position.to_svg(arrow=wrong), lambda wrong: position.to_svg(seen_from=wrong),
        lambda wrong: kyokumen.open(psv, format=wrong), lambda wrong: kyokumen.open(psv, dialect=wrong),
    ]  # fmt: skip
    for method in methods:
        for wrong in WRONG:
            tried(lambda: method(wrong))


def test_wrong_options_are_rejected_and_leave_no_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path, psv: pathlib.Path
) -> None:
    monkeypatch.chdir(tmp_path)
    few = tmp_path / "few.psv"
    few.write_bytes(psv.read_bytes()[:400])

    def batches(options: dict[str, Any]) -> None:
        for _, batch in zip(range(3), kyokumen.DataLoader(few, **{"batch_size": 4, **options})):
            assert batch

    for option in LOADER.split():
        for wrong in WRONG:
            tried(lambda: batches({option: wrong}))
    for option in FILTER.split():
        for number, wrong in enumerate(WRONG):
            options = {"nodes": 5, "hash_mb": 1, "threads": 1, option: wrong}
            ended = tried(lambda: kyokumen.gen_filter(few, tmp_path / option / str(number), **options))
            written = list((tmp_path / option / str(number)).glob("*"))
            # A progress function may fail after the last record.
            if not callable(wrong):
                assert bool(written) == (ended == "fine"), f"{option}={wrong!r}: {ended}, {written}"
    assert not list(tmp_path.rglob("*.partial"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sample": math.nan}, "sample: "),
        ({"max_abs_eval": -1}, "max_abs_eval: .*65535"),
        ({"max_abs_eval": "many"}, "max_abs_eval: .*65535"),
        ({"check": "maybe"}, "check: .*structure"),
        ({"limit": -1}, "limit: "),
        ({"from_": "nonsense"}, "from_: "),
        ({"encoding": "latin-1"}, "encoding: .*shift_jis"),
    ],
)
def test_errors_name_the_wrong_option(psv: pathlib.Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        kyokumen.convert(psv, "nowhere.psv", **options)


def test_iterators_end_after_an_error(tmp_path: pathlib.Path, psv: pathlib.Path) -> None:
    data = bytearray(psv.read_bytes() * 5)
    data[40 * 700 : 40 * 700 + 32] = b"\xff" * 32
    path = tmp_path / "bad.psv"
    path.write_bytes(data)
    archive = kyokumen.open(path)
    loader = kyokumen._native.Loader(path, batch_size=64, shuffle=False)
    for iterator in (iter(archive), archive.sfens(), archive.read_batches(batch_size=64), loader.batches_of(0)):
        with pytest.raises(kyokumen.BadRecordError):
            collections.deque(iterator, maxlen=0)
        assert next(iterator, None) is None


def test_no_batch_follows_the_last_state_of_an_epoch(psv: pathlib.Path) -> None:
    options: dict[str, Any] = {"features": "records", "segment": 16, "window": 128}
    for batch_size in (300, 100, 2000, 3000):
        loader = kyokumen.DataLoader(psv, batch_size, **options)
        for _ in loader:
            state = loader.state_dict()
        again = kyokumen.DataLoader(psv, batch_size, **options)
        again.load_state_dict(state)
        assert list(again) == []


def hammer(calls: list[Callable[[], object]]) -> collections.Counter[str]:
    """Runs calls on eight threads at once and counts the results of `tried`."""
    ends: collections.Counter[str] = collections.Counter()

    def call(number: int) -> None:
        until = time.monotonic() + 0.7
        while time.monotonic() < until:
            try:
                ends[tried(calls[number % len(calls)])] += 1
            except BaseException as panic:
                ends[repr(panic)] += 1

    threads = [threading.Thread(target=call, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    return ends


def test_threads_can_share_objects(psv: pathlib.Path, samples: pathlib.Path) -> None:
    shared = kyokumen.open(psv).sfens()
    assert set(hammer([lambda: next(shared, None)])) == {"fine"}
    for name in ("sample.psv", "sample.psv.zst", "sample.sfen"):
        archive = kyokumen.open(samples / name)
        calls: list[Callable[[], object]] = [lambda: archive[777].sfen, lambda: len(archive), lambda: next(archive.sfens())]
        if name != "sample.sfen":
            calls += [lambda: archive[:50].numpy(), lambda: kyokumen.to_sfens(archive.numpy()[:50])]
        assert set(hammer(calls)) == {"fine"}
    solver = kyokumen.Solver(1)
    assert set(hammer([lambda: solver.solve(kyokumen.Position(), nodes=2000)])) <= {"fine", "UsageError"}
    out = np.zeros((2000, 2, 38), np.int32)
    records = kyokumen.open(psv).numpy()
    assert set(hammer([lambda: features.halfkp(records, out=out)])) <= {"fine", "UsageError"}
    np.testing.assert_array_equal(out, features.halfkp(records))
    batches = kyokumen.open(psv).read_batches(batch_size=10)
    assert set(hammer([lambda: next(batches, None)])) <= {"fine", "UsageError"}


def test_threads_that_write_the_same_file_leave_it_complete(tmp_path: pathlib.Path, psv: pathlib.Path) -> None:
    kyokumen.convert(psv, tmp_path / "expected.hcpe")
    ends = hammer([lambda: kyokumen.convert(psv, tmp_path / "a.hcpe", force=True)])
    assert ends["fine"] and set(ends) <= {"fine", "KyokumenError"}
    assert (tmp_path / "a.hcpe").read_bytes() == (tmp_path / "expected.hcpe").read_bytes()


@pytest.fixture
def large(tmp_path: pathlib.Path, psv: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "large.psv"
    path.write_bytes(psv.read_bytes() * 1000)
    return path


Operation = Callable[[pathlib.Path, pathlib.Path], object]
LONG: dict[str, Operation] = {
    "convert": lambda large, out: kyokumen.convert(large, out / "a.hcpe"),
    "shuffle": lambda large, out: kyokumen.shuffle(large, out / "a.psv", memory="1M", tmp_dir=out),
    "dedup": lambda large, out: kyokumen.dedup(large, out / "a.psv"),
    "split": lambda large, out: kyokumen.split(large, out, parts=3),
    "stats": lambda large, out: kyokumen.stats(large, html=out / "a.html"),
    "verify": lambda large, out: kyokumen.verify(large, quarantine=out),
    "solve_many": lambda large, _: kyokumen.solve_many(kyokumen.open(large), nodes=10**6, hash_mb=1),
    "features": lambda large, _: features.dlshogi_labels(kyokumen.open(large)),
    "batches": lambda large, _: list(kyokumen.open(large).read_batches(batch_size=10**7)),
    "table": lambda large, _: pa.table(kyokumen.open(large).to_arrow(batch_size=4096)),
    "loader": lambda large, _: list(kyokumen.DataLoader(large, 10**9, dtype="bits")),
    "fifo": lambda _, out: kyokumen.verify(os.mkfifo(out / "a.psv") or out / "a.psv"),
}


@pytest.mark.parametrize("name", LONG)
def test_ctrl_c_ends_long_calls_soon(name: str, tmp_path: pathlib.Path, large: pathlib.Path) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    folder = tmp_path / "out"
    folder.mkdir()
    pressed: list[float] = []

    def press() -> None:
        pressed.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.05, press)
    with pytest.raises(KeyboardInterrupt):
        try:
            timer.start()
            LONG[name](large, folder)
        except pa.ArrowException:
            # The signal arrives after the consumer's own error.
            for _ in range(10**7):
                pass
    timer.join()
    assert time.monotonic() - pressed[0] < 5
    left = [path.name for path in folder.iterdir() if name != "fifo"]
    # An operation that ended before the signal has written all outputs. It writes the manifest last.
    assert not left or any(path.endswith(".manifest.json") for path in left), left
    assert not any(path.endswith(".partial") for path in left), left


@pytest.mark.parametrize(
    ("source", "name", "advice"),
    [
        ("sample.psv", "a.hcpe", "set the format to 'psv', or to 'hcpe' to read it anyway"),
        ("sample.psv.zst", "a.psv", "set the format to 'psv.zst', or to 'psv' to read it anyway"),
        ("sample.psv", "a.psv.zst", "rename it to end in .psv"),
    ],
)
def test_advice_names_python_arguments(
    tmp_path: pathlib.Path, samples: pathlib.Path, source: str, name: str, advice: str
) -> None:
    few, path = tmp_path / source, tmp_path / name
    kyokumen.convert(samples / "sample.psv", few, limit=100)
    few.rename(path)
    [report] = kyokumen.verify(path)
    [finding] = report.findings
    assert finding.level == "error" and finding.examples[0].what.endswith("; " + advice)
    # Functions that use the file give the same advice.
    for use in (kyokumen.open, kyokumen.stats, kyokumen.DataLoader, functools.partial(kyokumen.gen_filter, output=tmp_path)):
        with pytest.raises(kyokumen.UsageError) as error:
            use(path)  # type: ignore[operator]
        assert str(error.value).endswith("; " + advice)
