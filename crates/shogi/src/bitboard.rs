//! A set of squares: bit *n* of a 128-bit word is square *n*.
//!
//! Files are runs of nine adjacent bits, so a step up or down the board is a shift by one, and a step sideways a shift
//! by nine. Bits 81 and above are always zero.

use std::fmt;
use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Not};

use super::piece::Color;
use super::square::Square;

/// A set of squares.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Bitboard(u128);

const BOARD: u128 = (1 << 81) - 1;
const FILE_1: u128 = 0x1ff;
/// The nine squares of rank a.
const RANK_A: u128 = {
    let mut rank = 0;
    let mut file = 0;
    while file < 9 {
        rank |= 1 << (9 * file);
        file += 1;
    }
    rank
};

impl Bitboard {
    /// The empty set.
    pub const EMPTY: Self = Self(0);
    /// All 81 squares.
    pub const ALL: Self = Self(BOARD);

    /// Creates a set from bits. Bits above 80 are dropped.
    #[inline]
    pub const fn from_bits(bits: u128) -> Self {
        Self(bits & BOARD)
    }

    /// The set as bits.
    #[inline]
    pub const fn bits(self) -> u128 {
        self.0
    }

    /// The set of one square.
    #[inline]
    pub const fn from_square(square: Square) -> Self {
        Self(1 << square.index())
    }

    /// The squares of a file (0 = file 1).
    #[inline]
    pub const fn file(file: u8) -> Self {
        Self(FILE_1 << (9 * file as u32))
    }

    /// The squares of a rank (0 = rank a).
    #[inline]
    pub const fn rank(rank: u8) -> Self {
        Self(RANK_A << rank)
    }

    /// The `count` ranks farthest from `color`, where its pieces promote (3) or could not move again (1, 2).
    #[inline]
    pub const fn far_ranks(color: Color, count: u8) -> Self {
        let rows = (1u128 << count) - 1;
        let rows = match color {
            Color::Black => rows,
            Color::White => rows << (9 - count),
        };
        // No two products overlap: `rows` fits in nine bits.
        Self(RANK_A.wrapping_mul(rows) & BOARD)
    }

    /// Whether the set is empty.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether the set is not empty.
    #[inline]
    pub const fn has_any(self) -> bool {
        self.0 != 0
    }

    /// Number of squares.
    #[inline]
    pub const fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// Number of squares in a set of neighbours of `square`. These span at most 21 bits.
    #[inline]
    pub(crate) const fn count_near(self, square: Square) -> u32 {
        ((self.0 >> square.number().saturating_sub(10)) as u32).count_ones()
    }

    /// Number of squares in a set of squares at most two files and four ranks from `square`. These span at most 45
    /// bits.
    #[inline]
    pub(crate) const fn count_two_steps_near(self, square: Square) -> u32 {
        ((self.0 >> square.number().saturating_sub(22)) as u64).count_ones()
    }

    /// Whether the set has at least two squares.
    #[inline]
    pub const fn has_many(self) -> bool {
        self.0 & self.0.wrapping_sub(1) != 0
    }

    /// Whether `square` is in the set.
    #[inline]
    pub const fn contains(self, square: Square) -> bool {
        (self.0 >> square.index()) & 1 != 0
    }

    /// The square with the lowest number; `None` if the set is empty.
    #[inline]
    pub const fn first(self) -> Option<Square> {
        if self.0 == 0 { None } else { Some(Square::from_bit(self.0.trailing_zeros())) }
    }

    /// Squares of `self` that are not in `other`.
    #[inline]
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The set with `square` added.
    #[inline]
    #[must_use]
    pub const fn with(self, square: Square) -> Self {
        Self(self.0 | 1 << square.index())
    }

    /// Moves all squares one step forward for `color`. Drops squares that leave the board.
    #[inline]
    #[must_use]
    pub const fn forward(self, color: Color) -> Self {
        match color {
            Color::Black => Self((self.0 & !RANK_A) >> 1),
            Color::White => Self((self.0 & !(RANK_A << 8)) << 1),
        }
    }

    /// Moves all squares one step towards file 9. Drops squares that leave the board.
    #[inline]
    #[must_use]
    pub const fn leftwards(self) -> Self {
        Self((self.0 << 9) & BOARD)
    }

    /// Moves all squares one step towards file 1. Drops squares that leave the board.
    #[inline]
    #[must_use]
    pub const fn rightwards(self) -> Self {
        Self(self.0 >> 9)
    }

    /// All squares of each file that has a square in the set.
    #[inline]
    #[must_use]
    pub const fn fill_files(self) -> Self {
        // Gather each file into its rank-a bit. Bits that spill over from the next file do not reach it, because no
        // shift is as large as nine.
        let mut fill = self.0 | self.0 >> 1;
        fill |= fill >> 2;
        fill |= fill >> 4;
        fill |= self.0 >> 8;
        let lowest = fill & RANK_A;
        Self((lowest << 9) - lowest)
    }
}

#[expect(clippy::copy_iterator, reason = "iteration consumes a copy of the set")]
impl Iterator for Bitboard {
    type Item = Square;

    #[inline]
    fn next(&mut self) -> Option<Square> {
        let square = self.first()?;
        self.0 &= self.0 - 1;
        Some(square)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let count = self.0.count_ones() as usize;
        (count, Some(count))
    }
}

impl ExactSizeIterator for Bitboard {}

impl FromIterator<Square> for Bitboard {
    fn from_iter<I: IntoIterator<Item = Square>>(squares: I) -> Self {
        squares.into_iter().fold(Self::EMPTY, Self::with)
    }
}

macro_rules! bit_operator {
    ($operator:ident, $method:ident, $assign_operator:ident, $assign:ident) => {
        impl $operator for Bitboard {
            type Output = Self;

            #[inline]
            fn $method(self, other: Self) -> Self {
                Self(self.0.$method(other.0))
            }
        }

        impl $assign_operator for Bitboard {
            #[inline]
            fn $assign(&mut self, other: Self) {
                self.0.$assign(other.0);
            }
        }
    };
}

bit_operator!(BitAnd, bitand, BitAndAssign, bitand_assign);
bit_operator!(BitOr, bitor, BitOrAssign, bitor_assign);
bit_operator!(BitXor, bitxor, BitXorAssign, bitxor_assign);

impl Not for Bitboard {
    type Output = Self;

    #[inline]
    fn not(self) -> Self {
        Self(!self.0 & BOARD)
    }
}

impl fmt::Debug for Bitboard {
    /// A board as Black sees it, file 9 on the left.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for rank in 0..9 {
            writeln!(f)?;
            for file in (0..9).rev() {
                let set = self.contains(Square::from_file_rank(file, rank));
                f.write_str(if set { "*" } else { "." })?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_ranks() {
        for square in Square::all() {
            assert!(Bitboard::file(square.file()).contains(square));
            assert!(Bitboard::rank(square.rank()).contains(square));
            for count in 1..=3 {
                for color in Color::ALL {
                    assert_eq!(
                        Bitboard::far_ranks(color, count).contains(square),
                        square.relative_rank(color) < count
                    );
                }
            }
        }
    }

    #[test]
    fn fill_files_is_exact_even_with_two_pawns_on_a_file() {
        for a in Square::all() {
            for b in Square::all() {
                let set = Bitboard::from_square(a).with(b);
                let expected = Bitboard::file(a.file()) | Bitboard::file(b.file());
                assert_eq!(set.fill_files(), expected, "{a} {b}");
            }
        }
    }

    #[test]
    fn forward_drops_squares_that_leave_the_board() {
        for square in Square::all() {
            let set = Bitboard::from_square(square);
            let up = square.offset(0, -1).map_or(Bitboard::EMPTY, Bitboard::from_square);
            let down = square.offset(0, 1).map_or(Bitboard::EMPTY, Bitboard::from_square);
            assert_eq!(set.forward(Color::Black), up);
            assert_eq!(set.forward(Color::White), down);
        }
    }
}
