"""Decodes the boards and hands of many packed positions at once with numpy.

A position is 256 bits of a Huffman code (docs/formats/packed.md). All positions are decoded in parallel, square by
square. For each position, a table gives the piece and the length of its code for the next eight bits.
"""

import numpy as np

# The piece numbers of cshogi: 1 pawn, 2 lance, 3 knight, 4 silver, 5 bishop, 6 rook, 7 gold, 8 king. Promoted pieces
# have 8 more, White's pieces 16 more.
PAWN, LANCE, KNIGHT, SILVER, BISHOP, ROOK, GOLD, KING = range(1, 9)
PROMOTED, WHITE = 8, 16
HAND = [PAWN, LANCE, KNIGHT, SILVER, GOLD, BISHOP, ROOK]

# The bits of each code, starting at the lowest bit, and their number. On the board, colour and promotion follow.
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
    """Maps the next eight bits to the first piece in them and the number of its bits."""
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
                # hcp has the colour first, psv the promotion.
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
    """Decodes positions [N, 32] of a family, `hcp` or `psv`.

    Returns the side to move [N] (1 for White), the boards [N, 81] and the hands [N, 2, 7] of Black and White in the
    order of HAND. Squares are numbered 9 * (file - 1) + rank - 1."""
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
    """Turns boards and hands so that the side to move has Black's pieces and plays from the bottom of the board."""
    turned = boards[:, ::-1]
    turned = np.where(turned == 0, 0, turned ^ WHITE)
    is_white = to_move.astype(bool)
    return (
        np.where(is_white[:, None], turned, boards),
        np.where(is_white[:, None, None], hands[:, ::-1], hands),
    )
