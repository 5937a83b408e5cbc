"""Features and labels: dlshogi's compared with cshogi, NNUE's with a second implementation of YaneuraOu's rules."""

import pathlib

import cshogi
import kyokumen
import numpy as np
import pytest
from cshogi import dlshogi
from kyokumen import features

UNPACK = 62 * 81


@pytest.fixture(scope="module")
def records(psv: pathlib.Path) -> np.ndarray:
    return kyokumen.open(psv).numpy()


def theirs(records: np.ndarray, planes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    dlshogi.use_nyugyoku_features(planes == 119)
    one = np.zeros((len(records), 62, 9, 9), np.float32)
    other = np.zeros((len(records), planes, 9, 9), np.float32)
    labels = np.empty(len(records), np.int64)
    board = cshogi.Board()
    for i, record in enumerate(records):
        board.set_psfen(record["sfen"])
        dlshogi.make_input_features(board, one[i], other[i])
        labels[i] = dlshogi.make_move_label(board.move_from_psv(int(record["move"])), board.turn)
    return one, other, labels


@pytest.mark.parametrize("planes", [57, 119])
def test_planes_and_labels_equal_those_of_cshogi(records: np.ndarray, planes: int) -> None:
    records = records[::5]
    one, other, labels = theirs(records, planes)
    f1, f2 = features.dlshogi(records, planes=planes)
    np.testing.assert_array_equal(f1, one)
    np.testing.assert_array_equal(f2, other)
    h1, h2 = features.dlshogi(records, planes=planes, dtype="float16")
    assert h1.dtype == h2.dtype == np.float16
    np.testing.assert_array_equal(h1, one)
    np.testing.assert_array_equal(h2, other)
    b1, b2 = features.dlshogi(records, planes=planes, dtype="bits")
    unpacked = np.unpackbits(b1, axis=1, bitorder="little")
    np.testing.assert_array_equal(unpacked[:, :UNPACK].reshape(one.shape), one)
    assert not unpacked[:, UNPACK:].any()
    np.testing.assert_array_equal(np.unpackbits(b2, axis=1, bitorder="little")[:, :planes], other[:, :, 0, 0])
    move, result, value = features.dlshogi_labels(records)
    np.testing.assert_array_equal(move, labels)
    np.testing.assert_array_equal(result, records["game_result"] / 2 + 0.5)
    np.testing.assert_allclose(value, 1 / (1 + np.exp(-records["score"] / 756.0864962951762)), rtol=1e-5)


def test_features_can_be_written_to_arrays_of_the_caller(records: np.ndarray) -> None:
    records = records[:100]
    out = (np.full((100, 62, 9, 9), 7, np.float16), np.full((100, 119, 9, 9), 7, np.float16))
    same = features.dlshogi(records, planes=119, out=out)
    assert same[0] is out[0] and same[1] is out[1]
    new = features.dlshogi(records, planes=119)
    np.testing.assert_array_equal(out[0], new[0])
    np.testing.assert_array_equal(out[1], new[1])
    for wrong in (
        (np.zeros((99, 62, 9, 9), np.float32), np.zeros((100, 57, 9, 9), np.float32)),
        (np.zeros((100, 62, 9, 9), np.float32), np.zeros((100, 57, 9, 9), np.float16)),
        (np.zeros((100, 62, 9, 9), np.int32), np.zeros((100, 57, 9, 9), np.int32)),
        (np.zeros((200, 62, 9, 9), np.float32)[::2], np.zeros((100, 57, 9, 9), np.float32)),
    ):
        with pytest.raises((TypeError, ValueError)):
            features.dlshogi(records, out=wrong)
    read_only = np.zeros((100, 2, 38), np.int32)
    read_only.flags.writeable = False
    with pytest.raises(kyokumen.UsageError, match="cannot be written to"):
        features.halfkp(records, out=read_only)


def test_mirrored_planes(records: np.ndarray) -> None:
    records = records[:200]
    plain, mirrored = features.dlshogi(records)[0], features.dlshogi(records, mirror=True)[0]
    np.testing.assert_array_equal(plain[:, :, ::-1, :], mirrored)
    moves = features.dlshogi_labels(records, mirror=True)[0]
    for record, label in zip(records, moves):
        position = kyokumen.Position.from_psfen(record["sfen"].tobytes())
        move = kyokumen.Move.from_bits(int(record["move"]), "yaneuraou")
        assert move is not None and move.mirrored().label(position.turn) == label


# YaneuraOu's evaluate.h: first feature numbers of pieces in hand and on the board. HANDS has them for own and
# opponent's pieces.
HANDS = {"P": (1, 20), "L": (39, 44), "N": (49, 54), "S": (59, 64), "G": (69, 74), "B": (79, 82), "R": (85, 88)}
BOARD = {"P": 90, "L": 252, "N": 414, "S": 576, "G": 738, "B": 900, "+B": 1062, "R": 1224, "+R": 1386}


def by_the_rules(position: kyokumen.Position, side: int, with_kings: bool) -> list[int]:
    """Active features of HalfKP; with `with_kings`, of HalfKA_hm2."""
    turn = (lambda s: s) if side == 0 else (lambda s: 80 - s)
    pieces = {turn(s): piece for s, piece in enumerate(position.pieces) if piece is not None}
    own = str.isupper if side == 0 else str.islower
    king = next(s for s, piece in pieces.items() if piece in "Kk" and own(piece))
    flip = with_kings and king // 9 > 4
    mirror = (lambda s: (8 - s // 9) * 9 + s % 9) if flip else (lambda s: s)
    first = mirror(king) * (1629 if with_kings else 1548)
    active = []
    for square, piece in pieces.items():
        kind, other = piece.upper(), not own(piece.lstrip("+"))
        if kind == "K":
            if with_kings:
                active.append(first + 1548 + mirror(square))
            continue
        if kind in ("+P", "+L", "+N", "+S"):
            kind = "G"
        active.append(first + BOARD[kind] + 81 * other + mirror(square))
    for color, hand in enumerate(position.hands):
        for kind, count in zip("PLNSGBR", hand):
            active += [first + HANDS[kind][color != side] + nth for nth in range(count)]
    return sorted(active)


def test_nnue_features_follow_the_engine(records: np.ndarray) -> None:
    records = records[::9]
    for function, with_kings, dimensions in (
        (features.halfkp, False, features.HALFKP),
        (features.halfka_hm, True, features.HALFKA_HM),
    ):
        active = function(records)
        assert active.shape == (len(records), 2, 40 if with_kings else 38) and active.dtype == np.int32
        assert active.min() >= 0 and active.max() < dimensions
        for record, (mover, opponent) in zip(records, active):
            position = kyokumen.Position.from_psfen(record["sfen"].tobytes())
            assert sorted(mover) == by_the_rules(position, position.turn, with_kings)
            assert sorted(opponent) == by_the_rules(position, 1 - position.turn, with_kings)
    # With half mirroring, a board and its mirror image have the same features.
    np.testing.assert_array_equal(
        np.sort(features.halfka_hm(records), axis=2)[::1][features.halfka_hm(records)[:, 0, 0] // 1629 // 9 < 4][:, 0],
        np.sort(features.halfka_hm(records, mirror=True), axis=2)[
            features.halfka_hm(records)[:, 0, 0] // 1629 // 9 < 4
        ][:, 0],
    )


def test_missing_fields_and_invalid_options_raise_errors(samples: pathlib.Path) -> None:
    with pytest.raises(kyokumen.UsageError, match="no move"):
        features.dlshogi_labels(kyokumen.open(samples / "sample.hcp"))
    with pytest.raises(kyokumen.UsageError, match="57 or 119"):
        features.dlshogi(kyokumen.open(samples / "sample.hcp"), planes=58)
    with pytest.raises(kyokumen.UsageError, match="float32"):
        features.dlshogi(kyokumen.open(samples / "sample.hcp"), dtype="int8")


def test_features_do_not_depend_on_threads(records: np.ndarray) -> None:
    one = features.dlshogi(records, threads=1, dtype="bits")
    for threads in (0, 2, 7):
        more = features.dlshogi(records, threads=threads, dtype="bits")
        np.testing.assert_array_equal(one[0], more[0])
        np.testing.assert_array_equal(one[1], more[1])
