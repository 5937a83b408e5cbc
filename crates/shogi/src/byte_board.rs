//! The contents of the 81 squares, one byte each: the board of a [`Setup`](super::Setup).
//!
//! Codecs copy eight squares at a time. One multiplication extracts eight bits of a bitboard from eight squares.

use std::fmt;
use std::ops::Index;

use super::bitboard::Bitboard;
use super::piece::{Color, Piece, PieceKind};
use super::square::Square;

/// Contents of the 81 squares by square number, as an [`Option`] each.
pub type Board = [Option<Piece>; Square::COUNT];

/// Contents of the 81 squares, by square number.
///
/// ```
/// use kyokumen_shogi::{Color, Piece, PieceKind, Position};
/// let board = *Position::start().setup().board();
/// assert_eq!(board[0], Some(Piece::new(Color::White, PieceKind::Lance)));
/// assert_eq!(board.iter().flatten().count(), 40);
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ByteBoard([u8; Square::COUNT]);

/// Number of a square without a piece.
pub const EMPTY: u8 = 0;
/// Length of a table indexed by [`number`].
pub const NUMBERS: usize = 32;
const WHITE: u8 = 16;
/// Bits of a number. The highest bit is the colour.
const NUMBER_BITS: usize = 5;

/// The five-bit number of a piece: 1 and up by kind, plus 16 for White.
pub const fn number(piece: Piece) -> u8 {
    WHITE * piece.color as u8 + piece.kind as u8 + 1
}

static CONTENTS: [Option<Piece>; NUMBERS] = {
    let mut contents = [None; NUMBERS];
    let mut kind = 0;
    while kind < PieceKind::COUNT {
        let mut color = 0;
        while color < Color::ALL.len() {
            let piece = Piece::new(Color::ALL[color], PieceKind::ALL[kind]);
            contents[number(piece) as usize] = Some(piece);
            color += 1;
        }
        kind += 1;
    }
    contents
};

impl ByteBoard {
    /// Creates a board from numbers, for decoders. Every byte must be a [`number`] or [`EMPTY`].
    pub const fn from_numbers(numbers: [u8; Square::COUNT]) -> Self {
        Self(numbers)
    }

    /// The contents as numbers, by square number.
    pub const fn numbers(&self) -> &[u8; Square::COUNT] {
        &self.0
    }

    /// The contents of the squares, by square number.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Option<Piece>> {
        self.0.iter().map(|&number| contents(number))
    }

    /// The board as bit planes.
    #[inline]
    pub(crate) fn planes(&self) -> Planes {
        let mut bits = [0u128; NUMBER_BITS];
        let (words, rest) = self.0.as_chunks::<8>();
        for (i, word) in words.iter().enumerate() {
            let word = u64::from_le_bytes(*word);
            for (bit, plane) in bits.iter_mut().enumerate() {
                *plane |= u128::from(lowest_bits(word >> bit)) << (8 * i);
            }
        }
        for (bit, plane) in bits.iter_mut().enumerate() {
            *plane |= u128::from(rest[0] >> bit & 1) << (8 * words.len());
        }
        Planes { bits: bits.map(Bitboard::from_bits) }
    }
}

/// The piece with this [`number`]; `None` for an empty square.
#[inline]
pub(crate) fn contents(number: u8) -> Option<Piece> {
    CONTENTS[usize::from(number) % NUMBERS]
}

/// The lowest bit of each byte, lowest byte first.
#[inline]
const fn lowest_bits(word: u64) -> u8 {
    // Byte n is added to byte 7 at bit n, and no two products overlap.
    ((word & 0x0101_0101_0101_0101).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8
}

/// One bitboard for each bit of the numbers on the squares.
#[derive(Clone, Copy)]
pub(crate) struct Planes {
    bits: [Bitboard; NUMBER_BITS],
}

impl Planes {
    /// Squares with a piece of each kind, of both sides.
    #[inline]
    pub(crate) fn kinds(&self) -> [Bitboard; PieceKind::COUNT] {
        let mut numbered = [Bitboard::EMPTY; WHITE as usize];
        numbered[0] = Bitboard::ALL;
        for (bit, &plane) in self.bits[..NUMBER_BITS - 1].iter().enumerate() {
            for i in 0..1 << bit {
                numbered[i + (1 << bit)] = numbered[i] & plane;
                numbered[i] = numbered[i].without(plane);
            }
        }
        std::array::from_fn(|kind| numbered[kind + 1])
    }

    /// Squares with a piece of White.
    #[inline]
    pub(crate) const fn white(&self) -> Bitboard {
        self.bits[NUMBER_BITS - 1]
    }

    /// Squares with a piece.
    #[inline]
    pub(crate) fn occupied(&self) -> Bitboard {
        // No kind has number 0.
        self.bits[..NUMBER_BITS - 1].iter().fold(Bitboard::EMPTY, |squares, &plane| squares | plane)
    }

    /// Squares with a piece of this side.
    #[inline]
    pub(crate) fn color(&self, color: Color) -> Bitboard {
        match color {
            Color::Black => self.occupied().without(self.white()),
            Color::White => self.white(),
        }
    }
}

impl From<Board> for ByteBoard {
    #[inline]
    fn from(board: Board) -> Self {
        Self(board.map(|content| content.map_or(EMPTY, number)))
    }
}

impl From<&ByteBoard> for Board {
    #[inline]
    fn from(board: &ByteBoard) -> Self {
        board.0.map(contents)
    }
}

impl Index<usize> for ByteBoard {
    type Output = Option<Piece>;

    /// The contents of the square with this number.
    #[inline]
    fn index(&self, square: usize) -> &Option<Piece> {
        &CONTENTS[usize::from(self.0[square]) % NUMBERS]
    }
}

impl fmt::Debug for ByteBoard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every content, on many squares: it is read back, and is in the planes of its kind and side.
    #[test]
    fn numbers_and_planes_match_the_contents_of_the_squares() {
        let pieces = Color::ALL
            .into_iter()
            .flat_map(|color| PieceKind::ALL.map(|kind| Some(Piece::new(color, kind))));
        for (shift, content) in pieces.chain([None]).enumerate() {
            let mut board: Board = [None; Square::COUNT];
            for square in Square::all().skip(shift % 5).step_by(3) {
                board[square.index()] = content;
            }
            let bytes = ByteBoard::from(board);
            assert_eq!(Board::from(&bytes), board);
            let planes = bytes.planes();
            for square in Square::all() {
                let here = board[square.index()];
                assert_eq!(bytes[square.index()], here);
                assert_eq!(planes.occupied().contains(square), here.is_some());
                for kind in PieceKind::ALL {
                    let expected = here.is_some_and(|piece| piece.kind == kind);
                    assert_eq!(planes.kinds()[kind.index()].contains(square), expected);
                }
                for color in Color::ALL {
                    let expected = here.is_some_and(|piece| piece.color == color);
                    assert_eq!(planes.color(color).contains(square), expected);
                }
            }
        }
    }
}
