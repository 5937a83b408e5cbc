"""Games, records that are written, moves as text, and exceptions. Texts are compared with cshogi."""

import os
import pathlib
import pickle

import cshogi
import cshogi.CSA
import cshogi.KIF
import kyokumen
import pytest
from conftest import DATA

CSA = """V2.2
N+A
N-B
$EVENT:E
PI
+
'*before
+7776FU
T3
'* comment
-3334FU
T61
+8822UM
T0
-3122GI
T5
%TORYO
"""


def test_positions_with_moves_equal_those_of_cshogi() -> None:
    board = cshogi.Board()
    for text in ("startpos moves 7g7f 3c3d 8h2b+ 3a2b", "sfen 4k4/9/9/9/9/9/9/9/4K4 b 2R2B4G4S4N4L18P 1 moves 5i5h", "startpos"):
        board.set_position(text)
        position = kyokumen.Position(text)
        assert position.sfen == board.sfen() == kyokumen.Position(f"position {text}").sfen
    assert [move.usi for move in kyokumen.Position("startpos moves 7g7f 3c3d").moves] == ["7g7f", "3c3d"]
    for wrong in ("startpos moves 7g7e", "startpos 7g7f", "position", "sfen x", "startpos moves 7g7f 7g7f"):
        with pytest.raises(ValueError, match="is not a position: "):
            kyokumen.Position(wrong)


def test_moves_as_text_equal_those_of_cshogi() -> None:
    games = list(kyokumen.games(DATA / "sample.csa"))
    moves = 0
    for game in games:
        board, position = cshogi.Board(game.start.sfen), game.start
        for played in game.moves:
            usi = played.move.usi
            move = board.move_from_usi(usi)
            csa, kif = position.to_csa(usi), position.to_kif(usi)
            assert csa[1:] == cshogi.move_to_csa(move) and csa[0] == "+-"[position.turn]
            if "同" not in kif:
                expected = cshogi.KIF.move_to_kif(move)
                for short, long in (("杏", "成香"), ("圭", "成桂"), ("全", "成銀")):
                    expected = expected.replace(short, long)
                assert kif == expected
            for text, push in ((kif, position.push_kif), (position.to_ki2(usi), position.push_kif), (csa, position.push_csa)):
                assert push(text).usi == usi
                position.pop()
            assert position.push_usi(usi).usi == usi
            board.push(move)
            moves += 1
        assert position.sfen == board.sfen()
    assert moves > 50


def test_illegal_moves_as_text_are_rejected() -> None:
    position = kyokumen.Position()
    for push, text in ((position.push_csa, "-3334FU"), (position.push_kif, "５五歩"), (position.push_usi, "7g7e")):
        with pytest.raises(ValueError, match="not legal in|is not a legal move"):
            push(text)
    with pytest.raises(ValueError, match='"xx" is not a move in KIF notation, such as ７六歩'):
        position.push_kif("xx")
    with pytest.raises(ValueError, match='^"同\u3000歩" is not a move'):
        position.push_kif("同\u3000歩")
    assert position.moves == []


def test_mates_in_one_are_those_of_cshogi(samples: pathlib.Path) -> None:
    found = 0
    for sfen in kyokumen.open(samples / "sample.hcp").sfens():
        position, board = kyokumen.Position(sfen), cshogi.Board(sfen)
        mate = position.mate_in_one()
        # cshogi's function needs a position without check.
        if not board.is_check():
            assert (mate is not None) or board.mate_move_in_1ply() == 0
        if mate is not None:
            position.push(mate)
            assert position.is_mate
            found += 1
    assert found > 0


def test_a_game_has_headers_comments_and_times(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.csa").write_text(CSA)
    [game] = kyokumen.games(tmp_path / "a.csa")
    assert game.headers == {"black": "A", "white": "B", "event": "E"} and game.comments == ["before"]
    assert [move.move.usi for move in game.moves] == ["7g7f", "3c3d", "8h2b+", "3a2b"]
    assert [move.elapsed_ms for move in game.moves] == [3000, 61000, 0, 5000]
    parsed = cshogi.CSA.Parser.parse_str(CSA)[0]
    assert [1000 * time for time in parsed.times[:4]] == [move.elapsed_ms for move in game.moves]
    assert any("comment" in line for line in game.moves[0].comments)
    assert (game.result, game.error, len(game)) == ("white", None, 4) and repr(game) == "<kyokumen.Game 4 moves, white>"
    with pytest.raises(kyokumen.UsageError, match="single records"):
        kyokumen.games(DATA / "sample.psv")
    with pytest.raises(FileNotFoundError):
        kyokumen.games("nowhere.csa")


def test_a_written_game_keeps_its_information(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.csa").write_text(CSA)
    [game] = kyokumen.games(tmp_path / "a.csa")
    with kyokumen.create(tmp_path / "a.kifu") as writer:
        writer.write(game)
    [copied] = kyokumen.games(tmp_path / "a.kifu")
    assert copied.headers == game.headers and copied.result == game.result
    assert [(move.move, move.elapsed_ms) for move in copied.moves] == [(move.move, move.elapsed_ms) for move in game.moves]


def test_a_writer_names_what_is_lost_like_convert(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.csa").write_text(CSA)
    [game] = kyokumen.games(tmp_path / "a.csa")
    with kyokumen.create(tmp_path / "a.usi") as writer:
        writer.write(game)
    assert writer.lost == ["headers", "comments", "times"]
    counts = kyokumen.convert(tmp_path / "a.csa", tmp_path / "b.usi").counts
    assert sorted([*counts.lost, *(kind for kind, number in counts.lost_info.items() if number)]) == sorted(writer.lost)
    with pytest.raises(kyokumen.BadRecordError, match="would be lost; strict allows no losses"):
        kyokumen.convert(tmp_path / "a.csa", tmp_path / "c.usi", strict=True)
    with kyokumen.create(tmp_path / "a.kif") as writer:
        writer.write(game)
    assert writer.lost == []


def test_a_writer_fills_in_what_games_lack(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.csa").write_text(CSA)
    [game] = kyokumen.games(tmp_path / "a.csa")
    kyokumen.convert(tmp_path / "a.csa", tmp_path / "a.kif")
    [without_evaluations] = kyokumen.games(tmp_path / "a.kif")
    with kyokumen.create(tmp_path / "filled.hcpe3", fill={"eval": 12}) as writer:
        writer.write(without_evaluations)
    records = list(kyokumen.open(tmp_path / "filled.hcpe3"))
    assert [record.eval_cp for record in records] == [12] * len(game)


def test_a_writer_refuses_games_that_it_would_cut(tmp_path: pathlib.Path) -> None:
    (tmp_path / "bad.csa").write_text(CSA.replace("+8822UM", "+8833UM"))
    [game] = kyokumen.games(tmp_path / "bad.csa")
    assert game.error
    with pytest.raises(ValueError, match="not read to its end"), kyokumen.create(tmp_path / "a.kifu") as writer:
        writer.write(game)
    with pytest.raises(kyokumen.UsageError, match="single records, not games"), kyokumen.create(tmp_path / "a.hcpe") as writer:
        writer.write(game)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.csa"]


def test_written_records_are_read_again(tmp_path: pathlib.Path, psv: pathlib.Path) -> None:
    records = list(kyokumen.open(psv)[:50])
    with kyokumen.create(tmp_path / "copy.psv") as writer:
        for record in records:
            writer.write(record)
        assert not (tmp_path / "copy.psv").exists() and writer.lost == []
    assert (tmp_path / "copy.psv").read_bytes() == psv.read_bytes()[: 40 * 50]
    own = kyokumen.Record(kyokumen.Position(), move="7g7f", eval_cp=-30, ply=1, result="black")
    with kyokumen.create(tmp_path / "own.hcpe") as writer:
        writer.write(own)
    [read] = kyokumen.open(tmp_path / "own.hcpe")
    assert (read.move, read.eval_cp, read.result) == (own.move, -30, "black")
    with kyokumen.create(tmp_path / "own.hcp") as writer:
        writer.write(own)
        assert "move" in writer.lost and "eval" in writer.lost


def test_a_writer_leaves_no_incomplete_file(tmp_path: pathlib.Path) -> None:
    position = kyokumen.Record(kyokumen.Position())
    with pytest.raises(kyokumen.BadRecordError, match="eval, ply, result"), kyokumen.create(tmp_path / "a.psv") as writer:
        writer.write(position)
    with pytest.raises(KeyError), kyokumen.create(tmp_path / "a.hcp") as writer:
        writer.write(position)
        raise KeyError
    writer = kyokumen.create(tmp_path / "b.hcp")
    writer.write(position)
    del writer
    assert list(tmp_path.iterdir()) == []
    with kyokumen.create(tmp_path / "a.psv", fill={"move": None, "eval": 0, "result": "draw", "ply": 1}) as writer:
        writer.write(position)
    with pytest.raises(FileExistsError, match="force=True"):
        kyokumen.create(tmp_path / "a.psv")
    kyokumen.create(tmp_path / "a.psv", force=True).close()
    with pytest.raises(ValueError, match="closed"):
        writer.write(position)
    for wrong in ("a", "a.txt.gz", "a.parquet"):
        with pytest.raises(kyokumen.UsageError):
            kyokumen.create(tmp_path / wrong)
    with pytest.raises(TypeError):
        kyokumen.create(tmp_path / "c.hcp").write("text")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["sample.psv", "sample.hcpe3", "sample.csa", "sample.sfen"])
def test_records_survive_pickling(name: str) -> None:
    for record in list(kyokumen.open(DATA / name))[:200]:
        copy = pickle.loads(pickle.dumps(record))
        assert copy == record and copy.index == record.index and repr(copy) == repr(record)
        assert (copy.candidates, copy.ending, copy.end_ply) == (record.candidates, record.ending, record.end_ply)


def test_notebooks_show_boards_and_tables(psv: pathlib.Path) -> None:
    record = kyokumen.open(psv)[0]
    assert "<svg" in record._repr_html_() and f"move={record.move}" in record._repr_html_()
    assert f"<figcaption>{record.sfen}</figcaption>" in record.position._repr_html_()
    assert kyokumen.open(psv)._repr_html_().count("<tr>") == 5
    game = next(kyokumen.games(DATA / "sample.csa"))
    assert f"{len(game)} moves" in game._repr_html_()
    report = kyokumen.stats(psv)
    assert "<table>" in report._repr_html_() and len(repr(report)) < 500
    assert "=" in repr(report)


def test_reprs_are_short(psv: pathlib.Path) -> None:
    archive = kyokumen.open(psv)
    batches = archive.read_batches(columns=["sfen", "ply"], batch_size=700)
    assert repr(kyokumen.DataLoader(psv, 64)) == "<kyokumen.DataLoader of 1 file, 2000 records, batch_size=64, epoch=0>"
    assert repr(batches) == "<kyokumen.Batches of sfen, ply>"
    assert repr(next(batches)) == "<kyokumen.Batch of 700 records: sfen, ply>"
    assert repr(kyokumen.games(DATA / "sample.csa")) == f'<kyokumen.GameIterator "{DATA / "sample.csa"}">'
    assert repr(archive.sfens()) == f'<kyokumen.RecordIterator "{psv}">'


def test_a_record_of_a_position_with_moves_has_its_ply(tmp_path: pathlib.Path) -> None:
    position = kyokumen.Position("startpos moves 7g7f")
    assert kyokumen.Record(position).ply == kyokumen.Record("startpos moves 7g7f").ply == 2
    assert kyokumen.Record(position, ply=9).ply == 9 and kyokumen.Record(position.sfen).ply is None
    record = kyokumen.Record(kyokumen.Record(position), eval_cp=3)
    assert (record.ply, record.sfen) == (2, position.sfen)


def test_errors_list_what_is_accepted(psv: pathlib.Path, tmp_path: pathlib.Path) -> None:
    position = kyokumen.Position()
    for wrong, message in (
        ({"result": "win"}, 'result: there is no result "win"; expected one of draw, black, white'),
        ({"ending": "foo"}, 'ending: there is no ending "foo"; expected one of repetition, '),
        ({"eval_cp": 99999}, "eval_cp: expected a whole number from -32768 to 32767, not 99999"),
        ({"ply": -1}, "ply: expected a whole number from 0 to 65535, not -1"),
        ({"end_ply": 2**200}, "end_ply: expected a whole number from 0 to 65535, not 1606938"),
    ):
        with pytest.raises(kyokumen.UsageError, match=f"^{message}"):
            kyokumen.Record(position, **wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="^eval_cp: expected a whole number, not str"):
        kyokumen.Record(position, eval_cp="x")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="^expected a Position, a Record or an SFEN, not int"):
        kyokumen.Record(5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="^expected a Move or a move in USI notation, not int"):
        position.push(5)  # type: ignore[arg-type]
    for content in (5, position):
        with pytest.raises(TypeError, match="^expected a Record or a Game, not "), kyokumen.create(tmp_path / "a.psv") as writer:
            writer.write(content)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="^expected a path or a list of paths, not int"):
        kyokumen.DataLoader(5)  # type: ignore[arg-type]


def test_exceptions_are_those_of_python(tmp_path: pathlib.Path, psv: pathlib.Path) -> None:
    with pytest.raises(FileNotFoundError) as missing:
        kyokumen.stats(tmp_path / "nowhere.psv")
    assert missing.value.filename == str(tmp_path / "nowhere.psv")
    assert missing.value.errno == 2 and missing.value.file == str(tmp_path / "nowhere.psv")  # type: ignore[attr-defined]
    assert pickle.loads(pickle.dumps(missing.value)).errno == 2
    (tmp_path / "there.psv").touch()
    with pytest.raises(FileExistsError) as exists:
        kyokumen.convert(psv, tmp_path / "there.psv")
    assert isinstance(exists.value, kyokumen.UsageError)
    if os.name != "nt" and os.geteuid() != 0:
        (tmp_path / "there.psv").chmod(0)
        with pytest.raises(PermissionError):
            kyokumen.stats(tmp_path / "there.psv")
