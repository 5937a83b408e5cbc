//! The sum of a sequence of codes in one word: bits, squares, and pieces of each kind.

use kyokumen_shogi::{Hand, HandKind};

use crate::packed::words::BITS;

/// Number of bits read, squares filled and pieces found, or the contribution of a code.
///
/// The bits are lowest, so the sum can be used as a shift. The squares are highest, so one comparison shows whether a
/// board is full. Between them are the piece counts, laid out as in [`Hand`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct PackedSum(u64);

/// Even invalid bits give at most 79 squares of eight bits.
const BIT_MASK: u64 = (1 << COUNT_SHIFT) - 1;
const COUNT_SHIFT: u32 = 10;
const SQUARE_SHIFT: u32 = 57;
/// Number of squares without kings.
const OTHER_SQUARES: u64 = 79;
/// Side to move and two kings.
const HEADER_BITS: u64 = 15;

impl PackedSum {
    pub(super) const ZERO: Self = Self(0);
    /// Before the first square.
    pub(super) const HEADER: Self = Self(HEADER_BITS);
    /// The sum of a complete position. No other input has this sum, not even an invalid one. A count that overflows
    /// carries into the count of the next kind, but 64 pawns, 16 lances, …, 8 bishops take more bits than the one piece
    /// that they would be counted as, and a full set leaves no bits to spare.
    pub(super) const WHOLE: Self = {
        let mut set = Hand::EMPTY;
        let mut i = 0;
        while i < HandKind::COUNT {
            set = set.with_count(HandKind::ALL[i], HandKind::SET[i]);
            i += 1;
        }
        Self(BITS as u64 | (set.bits() as u64) << COUNT_SHIFT | OTHER_SQUARES << SQUARE_SHIFT)
    };
    /// The smallest sum with all squares filled.
    const FULL_BOARD: u64 = OTHER_SQUARES << SQUARE_SHIFT;

    /// A piece of this kind, on or off the board.
    pub(super) const fn piece(kind: HandKind) -> Self {
        Self((Hand::EMPTY.with_count(kind, 1).bits() as u64) << COUNT_SHIFT)
    }

    /// One square filled.
    pub(super) const SQUARE: Self = Self(1 << SQUARE_SHIFT);

    pub(super) const fn bits(bits: u8) -> Self {
        Self(bits as u64)
    }

    #[inline]
    pub(super) const fn plus(self, other: Self) -> Self {
        Self(self.0.wrapping_add(other.0))
    }

    /// Number of the next bit.
    #[inline]
    pub(super) const fn bit(self) -> usize {
        (self.0 & BIT_MASK) as usize
    }

    /// Removes these bits, at most 63, from a window.
    #[inline]
    pub(super) const fn shift_out(self, window: u64) -> u64 {
        window >> (self.0 & 63)
    }

    /// Squares filled.
    #[inline]
    pub(super) const fn squares(self) -> usize {
        (self.0 >> SQUARE_SHIFT) as usize
    }

    #[inline]
    pub(super) const fn fills_board(self) -> bool {
        self.0 >= Self::FULL_BOARD
    }

    /// Number of squares that are not filled yet.
    #[inline]
    pub(super) const fn squares_left(self) -> usize {
        OTHER_SQUARES as usize - self.squares()
    }

    /// Adds the last step of a board: `step` with `bits` as its number of bits and with the remaining squares.
    #[inline]
    pub(super) const fn plus_last(self, step: Self, bits: u8) -> Self {
        let before = self.0 & !(!0 << SQUARE_SHIFT);
        let counts = step.0 & !BIT_MASK & !(!0 << SQUARE_SHIFT);
        Self(before + counts + bits as u64 + Self::FULL_BOARD)
    }

    /// The pieces off the board, given the sum of a board. The caller ensures that it belongs to a complete position.
    #[inline]
    pub(super) const fn off_board(self) -> Hand {
        Hand::from_bits(((Self::WHOLE.0 - self.0) >> COUNT_SHIFT) as u32)
    }
}
