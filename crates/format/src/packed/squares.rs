//! Collects the contents of the 79 squares without kings, and inserts the kings to get the board.

use kyokumen_shogi::byte_board::{EMPTY, number};
use kyokumen_shogi::{ByteBoard, Color, Piece, PieceKind, Square};

use super::tables::STEP_SQUARES;

/// Contents of the squares without kings, as piece numbers.
///
/// Begins with one spare byte per king. Inserting a king shifts the following squares by one, which is read as a
/// smaller index.
pub(super) struct OtherSquares([u8; CAPACITY]);

const KINGS: usize = 2;
/// Includes the bytes after the last square that a whole step writes.
const CAPACITY: usize = 128 + KINGS + STEP_SQUARES;

/// Ones for every square, followed by zeros for every square.
static BELOW: [u8; 2 * Square::COUNT] = {
    let mut below = [0; 2 * Square::COUNT];
    let mut i = 0;
    while i < Square::COUNT {
        below[i] = u8::MAX;
        i += 1;
    }
    below
};

impl OtherSquares {
    pub(super) const ALL_EMPTY: Self = Self([EMPTY; CAPACITY]);

    /// Writes a step that begins at square `at`.
    #[inline]
    pub(super) fn write(&mut self, at: usize, contents: [u8; STEP_SQUARES]) {
        let at = at % 128 + KINGS;
        self.0[at..at + STEP_SQUARES].copy_from_slice(&contents);
    }

    /// The board with both kings, Black's first. They must be on different squares.
    #[inline]
    pub(super) fn with_kings(&self, kings: [Square; KINGS]) -> ByteBoard {
        let [black, white] = Color::ALL.map(|color| number(Piece::new(color, PieceKind::King)));
        let ((first, first_king), (second, second_king)) = if kings[0] < kings[1] {
            ((kings[0].index(), black), (kings[1].index(), white))
        } else {
            ((kings[1].index(), white), (kings[0].index(), black))
        };
        let (before_first, to_first) = (below(first), below(first + 1));
        let (before_second, to_second) = (below(second), below(second + 1));
        let content = |i: usize| {
            (self.0[i + 2] & before_first[i])
                | (first_king & to_first[i] & !before_first[i])
                | (self.0[i + 1] & before_second[i] & !to_first[i])
                | (second_king & to_second[i] & !before_second[i])
                | (self.0[i] & !to_second[i])
        };
        let mut board = [EMPTY; Square::COUNT];
        let (blocks, rest) = board.as_chunks_mut::<16>();
        // Whole vectors. Otherwise the compiler would handle a fifth of the board byte by byte.
        for (block, squares) in blocks.iter_mut().enumerate() {
            for (i, square) in squares.iter_mut().enumerate() {
                *square = content(16 * block + i);
            }
        }
        rest[0] = content(Square::COUNT - 1);
        ByteBoard::from_numbers(board)
    }
}

/// Ones for the squares below `count`, zeros for the others.
#[inline]
fn below(count: usize) -> &'static [u8] {
    &BELOW[Square::COUNT - count..][..Square::COUNT]
}
