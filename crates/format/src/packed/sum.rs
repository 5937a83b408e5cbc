//! What a run of codes comes to, added up in one word: bits, squares, and pieces of each kind.

use kyokumen_shogi::{Hand, HandKind};

use crate::packed::words::BITS;

/// Bits read, squares filled and pieces met so far, or what a code adds to them.
///
/// Bits stand lowest, so that a sum is the number of bits to shift by; squares stand highest, so that
/// one comparison says whether a board is full; between them the counts, laid out as in [`Hand`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct PackedSum(u64);

/// Hostile bits make no more than 79 squares of eight bits.
const BIT_MASK: u64 = (1 << COUNT_SHIFT) - 1;
const COUNT_SHIFT: u32 = 10;
const SQUARE_SHIFT: u32 = 57;
/// Squares besides those of the kings.
const OTHER_SQUARES: u64 = 79;
/// Side to move, two kings.
const HEADER_BITS: u64 = 15;

impl PackedSum {
    pub(super) const ZERO: Self = Self(0);
    /// Before the first square.
    pub(super) const HEADER: Self = Self(HEADER_BITS);
    /// A whole position. Nothing else has this sum, hostile bits included: a count that overflows
    /// carries into that of the next kind, but 64 pawns, 16 lances, …, 8 bishops cost more bits than
    /// the one piece which they pass for, and a full set leaves no bit to spare.
    pub(super) const WHOLE: Self = {
        let mut set = Hand::EMPTY;
        let mut i = 0;
        while i < HandKind::COUNT {
            set = set.with_count(HandKind::ALL[i], HandKind::SET[i]);
            i += 1;
        }
        Self(BITS as u64 | (set.bits() as u64) << COUNT_SHIFT | OTHER_SQUARES << SQUARE_SHIFT)
    };
    /// The first sum with all squares filled.
    const FULL_BOARD: u64 = OTHER_SQUARES << SQUARE_SHIFT;

    /// A piece of this kind, on the board or off it.
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

    /// What is left of a window when these bits are gone; at most 63.
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

    /// Squares that are still to be filled.
    #[inline]
    pub(super) const fn squares_left(self) -> usize {
        OTHER_SQUARES as usize - self.squares()
    }

    /// This sum and the last piece of a board: `step` with `bits` for its bits, and the squares that
    /// were left.
    #[inline]
    pub(super) const fn plus_last(self, step: Self, bits: u8) -> Self {
        let before = self.0 & !(!0 << SQUARE_SHIFT);
        let counts = step.0 & !BIT_MASK & !(!0 << SQUARE_SHIFT);
        Self(before + counts + bits as u64 + Self::FULL_BOARD)
    }

    /// The pieces off a board whose sum this is, which the caller knows to be part of a whole position.
    #[inline]
    pub(super) const fn off_board(self) -> Hand {
        Hand::from_bits(((Self::WHOLE.0 - self.0) >> COUNT_SHIFT) as u32)
    }
}
