"""Boards and hands of many packed positions at once, with numpy alone.

A position is 256 bits of a Huffman code (docs/formats/packed.md). All positions are read in step, square by square: a
window of eight bits at the place of each says, by a table, which piece stands there and how many bits it took.
"""

import numpy as np

# Numbers of pieces, as cshogi has them: 1 pawn, 2 lance, 3 knight, 4 silver, 5 bishop, 6 rook, 7 gold, 8 king, 8 more
# if promoted, 16 more if White's.
PAWN, LANCE, KNIGHT, SILVER, BISHOP, ROOK, GOLD, KING = range(1, 9)
PROMOTED, WHITE = 8, 16
HAND = [PAWN, LANCE, KNIGHT, SILVER, GOLD, BISHOP, ROOK]

# Bits of a code, the first the lowest, and their number; what follows on the board is colour and promotion.
ON_BOARD = {
    "hcp": {PAWN: (1, 2), LANCE: (3, 4), KNIGHT: (7, 4), SILVER: (11, 4), GOLD: (15, 5), BISHOP: (31, 6), ROOK: (63, 6)},
    "psv": {PAWN: (1, 2), LANCE: (3, 4), KNIGHT: (11, 4), SILVER: (7, 4), GOLD: (15, 5), BISHOP: (31, 6), ROOK: (63, 6)},
}
IN_HAND = {
    "hcp": {PAWN: (0, 3), LANCE: (1, 5), KNIGHT: (3, 5), SILVER: (5, 5), GOLD: (7, 5), BISHOP: (31, 7), ROOK: (63, 7)},
    "psv": {PAWN: (0, 3), LANCE: (1, 5), KNIGHT: (5, 5), SILVER: (3, 5), GOLD: (7, 5), BISHOP: (15, 7), ROOK: (31, 7)},
}
IN_BOX = {
    "hcp": {PAWN: (2, 3), LANCE: (9, 5), KNIGHT: (11, 5), SILVER: (13, 5), GOLD: (29, 5), BISHOP: (15, 7), ROOK: (47, 7)},
    "psv": {PAWN: (2, 3), LANCE: (9, 5), KNIGHT: (13, 5), SILVER: (11, 5), GOLD: (27, 5), BISHOP: (47, 7), ROOK: (63, 7)},
}
NONE = 255


def _table(codes):
    """Which piece the next eight bits begin with, and the number of its bits."""
    pieces, lengths = np.full(256, NONE, np.uint8), np.ones(256, np.int64)
    for code, length, piece in codes:
        windows = np.arange(code, 256, 1 << length)
        pieces[windows], lengths[windows] = piece, length
    return pieces, lengths


def _board_codes(family):
    yield 0, 1, 0
    for piece, (code, length) in ON_BOARD[family].items():
        for white in (0, 1):
            if piece == GOLD:
                yield code | white << length, length + 1, piece + WHITE * white
                continue
            for promoted in (0, 1):
                # In hcp the colour comes first, in psv the promotion.
                first, second = (white, promoted) if family == "hcp" else (promoted, white)
                number = piece + PROMOTED * promoted + WHITE * white
                yield code | first << length | second << length + 1, length + 2, number


def _hand_codes(family):
    for piece, (code, length) in IN_HAND[family].items():
        yield code, length, piece
        yield code | 1 << length - 1, length, piece + WHITE
    for _, (code, length) in IN_BOX[family].items():
        yield code, length, 0


TABLES = {family: (_table(_board_codes(family)), _table(_hand_codes(family))) for family in ON_BOARD}


def decode(positions, family):
    """Side to move [N] (1: White), boards [N, 81] and hands [N, 2, 7] (Black's and White's, in the order of HAND) of
    positions [N, 32] of a family, `hcp` or `psv`. Squares are numbered 9 * (file - 1) + rank - 1."""
    count, rows = len(positions), np.arange(len(positions))
    bits = np.unpackbits(np.asarray(positions), axis=1, bitorder="little")
    bits = np.concatenate([bits, np.zeros((count, 8), np.uint8)], axis=1)
    (board_pieces, board_lengths), (hand_pieces, hand_lengths) = TABLES[family]
    weights = 1 << np.arange(8)

    def window(places):
        return bits[rows[:, None], places[:, None] + np.arange(8)] @ weights

    boards, hands = np.zeros((count, 81), np.uint8), np.zeros((count, 2, 7), np.uint8)
    kings = [window(np.full(count, place)) & 127 for place in (1, 8)]
    place = np.full(count, 15)
    for square in range(81):
        is_king = (kings[0] == square) | (kings[1] == square)
        code = window(place)
        boards[:, square] = np.where(is_king, 0, board_pieces[code])
        place += np.where(is_king, 0, board_lengths[code])
    for colour, king in enumerate(kings):
        boards[rows, king] = KING + WHITE * colour
    while (place < 256).any():
        code = window(np.minimum(place, 256))
        piece = np.where(place < 256, hand_pieces[code], 0)
        place += np.where(place < 256, hand_lengths[code], 0)
        for index, kind in enumerate(HAND):
            hands[:, 0, index] += piece == kind
            hands[:, 1, index] += piece == kind + WHITE
    return bits[:, 0], boards, hands


def from_side_to_move(to_move, boards, hands):
    """The same as the side to move sees it: its pieces are Black's, and its own side of the board is below."""
    turned = boards[:, ::-1]
    turned = np.where(turned == 0, 0, turned ^ WHITE)
    is_white = to_move.astype(bool)
    return (
        np.where(is_white[:, None], turned, boards),
        np.where(is_white[:, None, None], hands[:, ::-1], hands),
    )
