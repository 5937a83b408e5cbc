"""Archives: arrays over the memory map, slices, text formats, Arrow, errors."""

import gc
import os
import pathlib
import pickle
import subprocess
import sys

import cshogi
import kyokumen
import numpy as np
import pyarrow as pa
import pytest


@pytest.mark.parametrize(
    ("name", "dtype"),
    [("sample.hcp", cshogi.HuffmanCodedPos), ("sample.psv", cshogi.PackedSfenValue)],
)
def test_arrays_equal_those_of_cshogi(samples: pathlib.Path, name: str, dtype: np.dtype) -> None:
    array = kyokumen.open(samples / name).numpy()
    assert array.dtype == dtype and array.dtype.names == dtype.names
    np.testing.assert_array_equal(array, np.fromfile(samples / name, dtype))


def test_the_array_of_hcpe_is_the_mapped_file(hcpe: pathlib.Path) -> None:
    archive = kyokumen.open(hcpe)
    array = archive.numpy()
    np.testing.assert_array_equal(array, np.fromfile(hcpe, cshogi.HuffmanCodedPosAndEval))
    assert not array.flags.writeable and not array.flags.owndata
    assert len(archive) == len(array) == 2000
    # Two arrays share one map.
    assert array.ctypes.data == archive.numpy().ctypes.data
    with pytest.raises(ValueError):
        array["eval"][0] = 1


def test_arrays_outlive_the_archive(hcpe: pathlib.Path) -> None:
    array = kyokumen.open(hcpe)[100:200].numpy()["eval"]
    gc.collect()
    np.testing.assert_array_equal(array, np.fromfile(hcpe, kyokumen.open(hcpe).numpy().dtype)["eval"][100:200])


def test_frames_are_read_like_a_file(samples: pathlib.Path) -> None:
    plain, compressed = kyokumen.open(samples / "sample.psv"), kyokumen.open(samples / "sample.psv.zst")
    np.testing.assert_array_equal(plain.numpy(), compressed.numpy())
    assert compressed[1999].bytes == plain[1999].bytes


def test_slices_are_archives(hcpe: pathlib.Path) -> None:
    archive = kyokumen.open(hcpe)
    assert len(archive[10:20]) == 10 and len(archive[10:20][5:]) == 5
    assert archive[10:20][5:][0].index == 15 == archive[15].index
    assert archive[-1].index == 1999
    assert [record.index for record in archive[3:6]] == [3, 4, 5]
    assert len(archive[5:5]) == 0 and list(archive[5:5]) == []
    with pytest.raises(IndexError):
        archive[2000]
    with pytest.raises(ValueError, match="must have step 1"):
        archive[::2]


@pytest.mark.parametrize("index", [[1, 2], (1, 2), 1.5, "1", None])
def test_invalid_indices_raise_clear_errors(hcpe: pathlib.Path, index: object) -> None:
    with pytest.raises(TypeError) as error:
        kyokumen.open(hcpe)[index]  # type: ignore[call-overload]
    expected = "archive indices must be integers or slices, not "
    assert str(error.value) == expected + type(index).__name__
    with pytest.raises(IndexError):
        kyokumen.open(hcpe)[2**70]


def test_records_agree_with_cshogi(psv: pathlib.Path) -> None:
    board = cshogi.Board()
    array = np.fromfile(psv, cshogi.PackedSfenValue)
    results = {0: "draw"}
    for record, raw in zip(kyokumen.open(psv)[:300], array[:300]):
        board.set_psfen(raw["sfen"])
        assert record.sfen.split()[:3] == board.sfen().split()[:3]
        assert record.move is None or record.move.usi == cshogi.move_to_usi(board.move_from_psv(int(raw["move"])))
        assert record.eval_cp == raw["score"] and record.ply == raw["gamePly"]
        results[1 if board.turn == cshogi.BLACK else -1] = "black"
        results[-1 if board.turn == cshogi.BLACK else 1] = "white"
        assert record.result == results[int(raw["game_result"])]


def test_text_formats_have_records(samples: pathlib.Path, psv: pathlib.Path) -> None:
    text, packed = kyokumen.open(samples / "sample.sfen"), kyokumen.open(psv)
    assert len(text) == len(packed) == 2000
    assert text[1234].sfen == packed[1234].sfen.rsplit(" ", 1)[0] + " " + text[1234].sfen.rsplit(" ", 1)[1]
    boards = [sfen.rsplit(" ", 1)[0] for sfen in text.sfens()]
    assert boards == [sfen.rsplit(" ", 1)[0] for sfen in packed.sfens()]
    assert boards == [sfen.rsplit(" ", 1)[0] for sfen in kyokumen.to_sfens(packed)]
    with pytest.raises(kyokumen.UsageError, match="to_arrow"):
        text.numpy()


def test_arrow_has_the_fields(hcpe: pathlib.Path, samples: pathlib.Path) -> None:
    archive = kyokumen.open(hcpe)
    table = pa.table(archive)
    assert table.column_names == ["sfen", "move", "eval_cp", "result", "ending"]
    array = archive.numpy()
    np.testing.assert_array_equal(table["eval_cp"].to_numpy(), array["eval"])
    assert table["sfen"].to_pylist() == list(archive.sfens())
    assert pa.table(kyokumen.open(samples / "sample.sfen")).column_names[0] == "sfen"
    packed = pa.table(archive.to_arrow(columns=["index", "hcp", "psfen"], batch_size=300, threads=3))
    assert packed["index"].to_pylist() == list(range(2000))
    assert b"".join(packed["hcp"].to_pylist()) == array["hcp"].tobytes()
    psfen = np.fromfile(samples / "sample.psv", kyokumen.open(samples / "sample.psv").numpy().dtype)["sfen"]
    assert b"".join(packed["psfen"].to_pylist()) == psfen.tobytes()


def test_batches_can_be_read_one_by_one_or_as_a_stream(hcpe: pathlib.Path) -> None:
    archive = kyokumen.open(hcpe)
    batches = [pa.record_batch(batch) for batch in archive.read_batches(batch_size=512)]
    assert [len(batch) for batch in batches] == [512, 512, 512, 464]
    assert pa.Table.from_batches(batches) == pa.table(archive.to_arrow())
    stream = archive.to_arrow()
    pa.table(stream)
    with pytest.raises(kyokumen.UsageError, match="already read"):
        pa.table(stream)
    with pytest.raises(kyokumen.UsageError, match="no column 'eval'|no column \"eval\""):
        archive.to_arrow(columns=["eval"])


def test_games_have_candidates(tmp_path: pathlib.Path, hcpe: pathlib.Path) -> None:
    games = tmp_path / "a.hcpe3"
    kyokumen.convert(hcpe, games, limit=50)
    table = pa.table(kyokumen.open(games))
    assert {"candidates", "for_training", "ending"} <= set(table.column_names)
    assert len(table) == len(kyokumen.open(games))


def broken(path: pathlib.Path, psv: pathlib.Path, record: int) -> pathlib.Path:
    """Writes the sample with the position of one record overwritten by ones."""
    data = bytearray(psv.read_bytes())
    data[record * 40 : record * 40 + 32] = b"\xff" * 32
    path.write_bytes(data)
    return path


def test_errors_of_bad_records_have_file_record_and_byte(tmp_path: pathlib.Path, psv: pathlib.Path) -> None:
    path = broken(tmp_path / "bad.psv", psv, 1500)
    archive = kyokumen.open(path)
    for read in (
        lambda: archive[1500],
        lambda: list(archive.sfens()),
        lambda: list(archive),
        lambda: kyokumen.to_sfens(archive),
        lambda: list(archive.read_batches(batch_size=100, threads=2)),
        lambda: kyokumen.features.dlshogi(archive, threads=2),
        lambda: kyokumen.convert(path, tmp_path / "out.hcp"),
    ):
        with pytest.raises(kyokumen.BadRecordError) as error:
            read()
        assert (error.value.file, error.value.record, error.value.byte) == (str(path), 1500, 60000)
        assert isinstance(error.value, ValueError)
        again = pickle.loads(pickle.dumps(error.value))
        assert (str(again), again.record) == (str(error.value), 1500)
    assert len(list(archive.sfens(on_error="skip"))) == 1999
    assert len(pa.table(archive.to_arrow(on_error="skip"))) == 1999
    with pytest.raises(pa.ArrowInvalid, match=r"record 1500 \(file offset 60000\)"):
        pa.table(archive)
    # The records before it are returned.
    sfens = archive.sfens()
    assert len([next(sfens) for _ in range(1500)]) == 1500
    with pytest.raises(kyokumen.BadRecordError):
        next(sfens)


def test_a_truncated_file_is_an_error(tmp_path: pathlib.Path, psv: pathlib.Path) -> None:
    path = tmp_path / "cut.psv"
    path.write_bytes(psv.read_bytes()[: 40 * 7 + 3])
    archive = kyokumen.open(path)
    with pytest.raises(kyokumen.BadRecordError, match="7 records are complete") as error:
        archive.numpy()
    assert error.value.record == 7 and error.value.byte == 280
    assert len(archive[:7].numpy()) == 7


def test_a_truncated_compressed_file_is_reported_as_such(tmp_path: pathlib.Path, samples: pathlib.Path) -> None:
    path = tmp_path / "cut.psv.zst"
    data = (samples / "sample.psv.zst").read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(kyokumen.FileError, match="incomplete") as error:
        kyokumen.open(path).numpy()
    assert error.value.file == str(path)


def test_a_file_that_was_shortened_is_an_error(tmp_path: pathlib.Path, psv: pathlib.Path) -> None:
    path = tmp_path / "shrinks.psv"
    path.write_bytes(psv.read_bytes())
    archive = kyokumen.open(path)
    assert archive[1999].index == 1999
    os.truncate(path, 40 * 100)
    with pytest.raises(kyokumen.FileError, match="4000 bytes") as error:
        archive[1999]
    assert error.value.file == str(path)
    with pytest.raises(kyokumen.FileError):
        archive.numpy()
    assert archive[99].index == 99


def test_missing_files_raise_not_found() -> None:
    with pytest.raises(FileNotFoundError) as error:
        kyokumen.open("nowhere.psv")
    assert error.value.file == "nowhere.psv"
    with pytest.raises(kyokumen.UsageError, match="is not a format"):
        kyokumen.open("a.psv", format="nonsense")


def test_an_empty_file_has_no_records(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "empty.psv"
    path.write_bytes(b"")
    archive = kyokumen.open(path)
    assert len(archive) == 0 and list(archive) == [] and len(archive.numpy()) == 0
    assert kyokumen.to_sfens(archive) == [] and len(pa.table(archive)) == 0
    assert kyokumen.features.dlshogi(archive)[0].shape == (0, 62, 9, 9)


def test_archives_can_be_pickled(psv: pathlib.Path) -> None:
    archive = pickle.loads(pickle.dumps(kyokumen.open(psv)[5:9]))
    assert len(archive) == 4 and archive[0].index == 5


def test_import_does_not_import_numpy() -> None:
    code = "import sys, kyokumen; assert 'numpy' not in sys.modules, 'numpy was imported'"
    subprocess.run([sys.executable, "-c", code], check=True)
