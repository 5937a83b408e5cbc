//! The two Huffman alphabets of packed positions.
//!
//! From the public sources of Apery (`HuffmanCodedPos`) and YaneuraOu (`PackedSfen`). A code is a number whose least
//! significant bit comes first in the packed bytes.

use kyokumen_shogi::{Color, HandKind, Piece, PieceKind};

/// A code word: `len` bits, the least significant of `bits` first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Code {
    pub(super) bits: u8,
    pub(super) len: u8,
}

/// The owner of a piece that is not on the board.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(super) enum PieceOwner {
    /// In the hand of Black.
    Black = 0,
    /// In the hand of White.
    White = 1,
    /// Neither side: handicap games and problems leave pieces in the box.
    Box = 2,
}

impl PieceOwner {
    pub(super) const ALL: [Self; 3] = [Self::Black, Self::White, Self::Box];
}

/// The modifier bit that comes first after the stem of a board code.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FirstModifier {
    Color,
    Promotion,
}

/// The codes of one family. Arrays are in the order P L N S G B R.
pub(super) struct Alphabet {
    stems: [Code; HandKind::COUNT],
    first_modifier: FirstModifier,
    hand: [Code; HandKind::COUNT],
    piece_box: [Code; HandKind::COUNT],
}

const fn code(bits: u8, len: u8) -> Code {
    Code { bits, len }
}

/// Apery: `hcp`, `hcpe`.
pub(super) const APERY: Alphabet = Alphabet {
    stems: [
        code(0b01, 2),
        code(0b0011, 4),
        code(0b0111, 4),
        code(0b1011, 4),
        code(0b01111, 5),
        code(0b011111, 6),
        code(0b111111, 6),
    ],
    first_modifier: FirstModifier::Color,
    hand: [
        code(0b0, 3),
        code(0b1, 5),
        code(0b11, 5),
        code(0b101, 5),
        code(0b111, 5),
        code(0b11111, 7),
        code(0b111111, 7),
    ],
    piece_box: [
        code(0b010, 3),
        code(0b01001, 5),
        code(0b01011, 5),
        code(0b01101, 5),
        code(0b11101, 5),
        code(0b0001111, 7),
        code(0b0101111, 7),
    ],
};

/// YaneuraOu: `psv`.
pub(super) const YANEURAOU: Alphabet = Alphabet {
    stems: [
        code(0b01, 2),
        code(0b0011, 4),
        code(0b1011, 4),
        code(0b0111, 4),
        code(0b01111, 5),
        code(0b011111, 6),
        code(0b111111, 6),
    ],
    first_modifier: FirstModifier::Promotion,
    hand: [
        code(0b0, 3),
        code(0b1, 5),
        code(0b101, 5),
        code(0b11, 5),
        code(0b111, 5),
        code(0b1111, 7),
        code(0b11111, 7),
    ],
    piece_box: [
        code(0b010, 3),
        code(0b01001, 5),
        code(0b01101, 5),
        code(0b01011, 5),
        code(0b11011, 5),
        code(0b0101111, 7),
        code(0b0111111, 7),
    ],
};

impl Alphabet {
    /// Code of a piece on the board. `None` for kings, whose squares are stored separately.
    pub(super) const fn on_board(&self, piece: Piece) -> Option<Code> {
        let Some(kind) = piece.kind.hand_kind() else { return None };
        let stem = self.stems[kind.index()];
        let color = piece.color as u8;
        if matches!(kind, HandKind::Gold) {
            return Some(code(stem.bits | color << stem.len, stem.len + 1));
        }
        let promotion = piece.kind.is_promoted() as u8;
        let modifiers = match self.first_modifier {
            FirstModifier::Color => color | promotion << 1,
            FirstModifier::Promotion => promotion | color << 1,
        };
        Some(code(stem.bits | modifiers << stem.len, stem.len + 2))
    }

    /// Code of a piece in a hand or in the box.
    pub(super) const fn off_board(&self, kind: HandKind, holder: PieceOwner) -> Code {
        let hand = self.hand[kind.index()];
        match holder {
            PieceOwner::Black => hand,
            PieceOwner::White => code(hand.bits | 1 << (hand.len - 1), hand.len),
            PieceOwner::Box => self.piece_box[kind.index()],
        }
    }
}

/// All pieces on the board except kings.
pub(super) fn board_pieces() -> impl Iterator<Item = Piece> {
    Color::ALL.into_iter().flat_map(|color| {
        PieceKind::ALL
            .into_iter()
            .filter(|&kind| kind != PieceKind::King)
            .map(move |kind| Piece::new(color, kind))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Published codes of two single pieces: the white pawn and the promoted black pawn.
    #[test]
    fn pawn_codes_match_the_engines() {
        let white = Piece::new(Color::White, PieceKind::Pawn);
        let promoted = Piece::new(Color::Black, PieceKind::ProPawn);
        assert_eq!(APERY.on_board(white), Some(code(0b101, 4)));
        assert_eq!(APERY.on_board(promoted), Some(code(0b1001, 4)));
        assert_eq!(YANEURAOU.on_board(white), Some(code(0b1001, 4)));
        assert_eq!(YANEURAOU.on_board(promoted), Some(code(0b101, 4)));
    }

    /// A board code is one bit longer than the code of the same piece off the board. The difference is the bit for the
    /// empty square that a captured piece leaves.
    #[test]
    fn a_board_code_is_one_bit_longer_than_a_hand_code() {
        for alphabet in [APERY, YANEURAOU] {
            for piece in board_pieces() {
                let kind = piece.kind.hand_kind().unwrap();
                let on_board = alphabet.on_board(piece).unwrap();
                for holder in PieceOwner::ALL {
                    assert_eq!(on_board.len, alphabet.off_board(kind, holder).len + 1);
                }
            }
        }
    }

    /// No code is a prefix of another code of the same set.
    #[test]
    fn codes_are_prefix_free() {
        for alphabet in [APERY, YANEURAOU] {
            let mut board: Vec<Code> =
                board_pieces().filter_map(|piece| alphabet.on_board(piece)).collect();
            board.push(code(0, 1));
            let hands: Vec<Code> = HandKind::ALL
                .into_iter()
                .flat_map(|kind| PieceOwner::ALL.map(|holder| alphabet.off_board(kind, holder)))
                .collect();
            for words in [board, hands] {
                for (i, a) in words.iter().enumerate() {
                    for b in &words[i + 1..] {
                        let mask = (1u16 << a.len.min(b.len)) - 1;
                        assert_ne!(u16::from(a.bits ^ b.bits) & mask, 0, "{a:?} {b:?}");
                    }
                }
            }
        }
    }
}
