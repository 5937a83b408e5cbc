"""Positions, moves and functions on many records, compared with cshogi."""

import pathlib
import pickle
import random
import xml.etree.ElementTree as ET

import cshogi
import kyokumen
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st


def random_game(seed: int, plies: int) -> cshogi.Board:
    numbers = random.Random(seed)
    board = cshogi.Board()
    for _ in range(plies):
        moves = list(board.legal_moves)
        if not moves:
            break
        board.push(numbers.choice(moves))
    return board


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**9), st.integers(0, 200))
def test_positions_agree_with_cshogi(seed: int, plies: int) -> None:
    board = random_game(seed, plies)
    position = kyokumen.Position(board.sfen())
    assert position.sfen == board.sfen()
    legal = {cshogi.move_to_usi(m) for m in board.legal_moves}
    assert {m.usi for m in position.legal_moves} == legal
    assert position.is_check == board.is_check()
    assert position.is_mate == (board.is_check() and not legal)
    assert position.turn == board.turn and position.ply == board.move_number
    hcp, psfen = np.zeros(1, cshogi.HuffmanCodedPos), np.zeros(1, cshogi.PackedSfen)
    board.to_hcp(hcp["hcp"])
    board.to_psfen(psfen["sfen"])
    assert position.to_hcp() == hcp.tobytes() and position.to_psfen() == psfen.tobytes()
    assert kyokumen.Position.from_hcp(hcp.tobytes(), position.ply) == position
    assert kyokumen.Position.from_psfen(psfen.tobytes(), position.ply) == position
    assert position.hands == tuple(tuple(hand[i] for i in (0, 1, 2, 3, 4, 5, 6)) for hand in board.pieces_in_hand)
    for usi in sorted(legal)[:5]:
        before = position.sfen
        position.push(usi)
        board.push_usi(usi)
        assert position.sfen == board.sfen()
        assert position.pop().usi == usi and position.sfen == before
        board.pop()


@settings(max_examples=200, deadline=None)
@given(st.binary(min_size=32, max_size=32))
def test_any_bytes_decode_to_a_position_or_an_error(data: bytes) -> None:
    for read, write in (
        (kyokumen.Position.from_hcp, kyokumen.Position.to_hcp),
        (kyokumen.Position.from_psfen, kyokumen.Position.to_psfen),
    ):
        try:
            position = read(data)
        except kyokumen.KyokumenError:
            continue
        assert read(write(position)) == position


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 0xFFFF), st.sampled_from(["apery", "yaneuraou", "rshogi"]))
def test_16_bit_moves_survive_a_round_trip(bits: int, dialect: str) -> None:
    try:
        move = kyokumen.Move.from_bits(bits, dialect)
    except kyokumen.UsageError:
        return
    if move is None:
        assert bits == 0
        return
    assert move.bits(dialect) == bits
    assert kyokumen.Move(move.usi) == move and hash(kyokumen.Move(str(move))) == hash(move)
    assert move.mirrored().mirrored() == move
    assert pickle.loads(pickle.dumps(move)) == move


def test_moves_have_squares_promotion_and_drop() -> None:
    move = kyokumen.Move("2d2c+")
    assert (move.from_square, move.to_square, move.is_promotion, move.dropped) == (12, 11, True, None)
    drop = kyokumen.Move("P*5e")
    assert (drop.from_square, drop.to_square, drop.dropped) == (None, 40, "P")
    assert drop.bits("apery") == 0x28A8 and drop.bits("yaneuraou") == 0x40A8
    with pytest.raises(kyokumen.UsageError):
        kyokumen.Move("7g7j")


def test_illegal_moves_and_invalid_positions_are_rejected() -> None:
    position = kyokumen.Position()
    with pytest.raises(kyokumen.UsageError, match="not a legal move"):
        position.push("7g7e")
    with pytest.raises(IndexError):
        position.pop()
    with pytest.raises(kyokumen.PositionError):
        kyokumen.Position("nonsense")
    with pytest.raises(kyokumen.PositionError):
        kyokumen.Position("4k4/4R4/9/9/9/9/9/9/4K4 b - 1")
    with pytest.raises(kyokumen.UsageError, match="32 bytes"):
        kyokumen.Position.from_hcp(b"short")


def test_the_fourth_occurrence_is_a_repetition() -> None:
    position = kyokumen.Position()
    for _ in range(3):
        assert position.repetition is None
        for usi in ("2h1h", "8b9b", "1h2h", "9b8b"):
            position.push(usi)
    assert position.repetition == "draw"
    assert len(position.moves) == 12
    assert pickle.loads(pickle.dumps(position)) == position


def test_functions_on_many_records_agree_with_cshogi(psv: pathlib.Path) -> None:
    archive = kyokumen.open(psv)
    array = archive.numpy()
    boards = kyokumen.decode(array)
    mask = kyokumen.legal_move_mask(array)
    in_check = kyokumen.in_check(array)
    keys = kyokumen.keys(array)
    stored = kyokumen.has_legal_move(array)
    assert boards.pieces.shape == (2000, 81) and mask.shape == (2000, 2187)
    board = cshogi.Board()
    from cshogi.dlshogi import make_move_label

    for i in range(0, 2000, 7):
        board.set_psfen(array[i]["sfen"])
        np.testing.assert_array_equal(boards.pieces[i], board.pieces)
        np.testing.assert_array_equal(boards.hands[i], board.pieces_in_hand)
        assert boards.turn[i] == board.turn and in_check[i] == board.is_check()
        labels = sorted(make_move_label(m, board.turn) for m in board.legal_moves)
        assert sorted(np.nonzero(mask[i])[0]) == labels
        assert keys[i].tobytes() == kyokumen.Position(board.sfen()).key
        assert stored[i] == any(m & 0xFFFF == board.move_from_psv(int(array[i]["move"])) & 0xFFFF for m in board.legal_moves)
    # Equal positions have equal keys in both packed encodings.
    hcp = kyokumen.encode(archive)
    np.testing.assert_array_equal(kyokumen.keys(hcp), keys)
    np.testing.assert_array_equal(kyokumen.encode(hcp, format="psfen")["sfen"], array["sfen"])
    assert hcp.dtype == cshogi.HuffmanCodedPos
    sfens = kyokumen.to_sfens(array, threads=2)
    np.testing.assert_array_equal(kyokumen.encode(sfens, format="hcp"), hcp)
    for threads in (1, 2, 5):
        np.testing.assert_array_equal(kyokumen.legal_move_mask(array, threads=threads), mask)


def test_arrays_of_any_stride_are_accepted(psv: pathlib.Path) -> None:
    array = kyokumen.open(psv).numpy()
    assert kyokumen.to_sfens(array[::-3]) == kyokumen.to_sfens(array)[::-3]
    assert kyokumen.to_sfens(array[5:5]) == []


@pytest.mark.parametrize(
    "wrong",
    [
        np.zeros((3, 40), np.uint8),
        np.zeros(3, np.dtype([("sfen", "u1", 32), ("score", "<i4")])),
        np.zeros((2, 2), cshogi.PackedSfenValue),
        [1, 2],
        None,
    ],
)
def test_wrong_dtypes_and_shapes_are_rejected(wrong: object) -> None:
    for function in (kyokumen.to_sfens, kyokumen.decode, kyokumen.features.dlshogi, kyokumen.solve_many):
        with pytest.raises((TypeError, ValueError)):
            function(wrong)


def test_errors_name_the_bad_position_of_a_list() -> None:
    with pytest.raises(kyokumen.PositionError, match="position 1:"):
        kyokumen.encode([kyokumen.Position().sfen, "nonsense"])
    with pytest.raises(TypeError):
        kyokumen.encode(kyokumen.Position().sfen)


SVG = "{http://www.w3.org/2000/svg}"


def shown(svg: str) -> tuple[ET.Element, list[ET.Element]]:
    """Parses a diagram. Returns its root and the pieces that it shows, including pieces in hand."""
    root = ET.fromstring(svg)
    assert root.tag == SVG + "svg" and root.get("viewBox")
    defined = {element.get("id") for element in root.iter() if element.get("id")}
    used = [element for element in root.findall(SVG + "use")]
    assert {element.get("href", "")[1:] for element in used} <= defined
    return root, [element for element in used if element.get("href") not in ("#k-grid", "#k-sign")]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9), st.integers(0, 200))
def test_diagrams_show_the_board_and_both_hands(seed: int, plies: int) -> None:
    position = kyokumen.Position(random_game(seed, plies).sfen())
    root, pieces = shown(position._repr_svg_())
    # Nine files of 40 units, starting at 50; nine ranks, starting at 20.
    frame = next(element for element in root.iter(SVG + "rect") if element.get("class") == "k-frame")
    assert [frame.get(name) for name in ("x", "y", "width", "height")] == ["50", "20", "360", "360"]
    lines = next(element for element in root.iter(SVG + "path") if element.get("class") == "k-lines")
    assert lines.get("d", "").count("V") == lines.get("d", "").count("H") == 8
    on_board = {}
    in_hand = [0, 0]
    for piece in pieces:
        x, y = int(piece.get("x", "")), int(piece.get("y", ""))
        if 50 < x < 410:
            file, rank = 8 - (x - 70) // 40, (y - 40) // 40
            on_board[file * 9 + rank] = piece.get("href", "")
        else:
            in_hand[x < 50] += 1

    def name(letters: str) -> str:
        far = "f" if letters.islower() else ""
        return f"#k-{far}{letters.lstrip('+').upper()}{'p' if letters[0] == '+' else ''}"

    assert on_board == {square: name(piece) for square, piece in enumerate(position.pieces) if piece}
    assert in_hand == [sum(count > 0 for count in hand) for hand in position.hands]


def test_diagrams_mark_moves_and_can_be_turned(hcpe: pathlib.Path) -> None:
    position = kyokumen.Position()
    assert "k-last" not in position._repr_svg_().split("</style>")[1]
    position.push("7g7f")
    marked = position._repr_svg_()
    assert marked == position.to_svg(last_move="7g7f") and marked.count('class="k-last"') == 1
    assert position.to_svg(arrow=kyokumen.Move("3c3d")).count('class="k-arrow"') == 1
    _, black = shown(position.to_svg())
    _, white = shown(position.to_svg(seen_from=1))
    assert len(black) == len(white) == 40
    assert {element.get("href") for element in black if element.get("y") == "360"} == {"#k-L", "#k-N", "#k-S", "#k-G", "#k-K"}
    assert {element.get("href") for element in white if element.get("y") == "360"} == {"#k-L", "#k-N", "#k-S", "#k-G", "#k-K"}
    assert [element.get("x") for element in black] != [element.get("x") for element in white]
    with pytest.raises(kyokumen.UsageError, match="seen_from"):
        position.to_svg(seen_from=2)
    record = kyokumen.open(hcpe)[100]
    root, _ = shown(record._repr_svg_())
    assert record.position.to_svg(arrow=record.move) == record._repr_svg_()
    assert root.get("aria-label") == record.sfen
