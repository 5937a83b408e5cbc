//! Pieces in hand, packed into an integer with a partial order.
//!
//! Each count has a guard bit above it, so that one subtraction tests "at least as many of every kind": a borrow clears
//! the guard bit of a kind with too few pieces (the idea of Apery's `Hand`).

use std::fmt;

use super::piece::HandKind;

/// Number of pieces of each kind in one hand. At most the 38 pieces of a full set without kings.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Hand(u32);

/// Lowest bit of each count. Counts have 5 bits for pawns, 3 for L N S G and 2 for B R, each with a guard bit above it.
const SHIFT: [u32; HandKind::COUNT] = [0, 6, 10, 14, 18, 22, 25];
const MASK: [u32; HandKind::COUNT] = [31, 7, 7, 7, 7, 3, 3];
const GUARDS: u32 = {
    let mut guards = 0;
    let mut i = 0;
    while i < HandKind::COUNT {
        guards |= (MASK[i] + 1) << SHIFT[i];
        i += 1;
    }
    guards
};

impl Hand {
    /// The empty hand.
    pub const EMPTY: Self = Self(0);

    /// Creates a hand from counts in the order P L N S G B R. `None` if a count exceeds the full set.
    pub fn from_counts(counts: [u8; HandKind::COUNT]) -> Option<Self> {
        let mut hand = Self::EMPTY;
        for kind in HandKind::ALL {
            let count = counts[kind.index()];
            if count > HandKind::SET[kind.index()] {
                return None;
            }
            hand.0 |= u32::from(count) << SHIFT[kind.index()];
        }
        Some(hand)
    }

    /// Creates a hand from [`Hand::bits`]. The caller guarantees that no count exceeds the full set.
    #[inline]
    pub const fn from_bits(bits: u32) -> Self {
        debug_assert!(bits & GUARDS == 0);
        Self(bits)
    }

    /// Number of pieces of one kind.
    #[inline]
    pub const fn count(self, kind: HandKind) -> u8 {
        ((self.0 >> SHIFT[kind.index()]) & MASK[kind.index()]) as u8
    }

    /// Whether there is at least one piece of this kind.
    #[inline]
    pub const fn has(self, kind: HandKind) -> bool {
        self.0 & (MASK[kind.index()] << SHIFT[kind.index()]) != 0
    }

    /// Whether the hand is empty.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Adds one piece. The caller guarantees that the full set is not exceeded.
    #[inline]
    pub const fn add(&mut self, kind: HandKind) {
        self.0 += 1 << SHIFT[kind.index()];
        debug_assert!(self.0 & GUARDS == 0);
    }

    /// Removes one piece. The caller guarantees that the hand has one.
    #[inline]
    pub const fn remove(&mut self, kind: HandKind) {
        debug_assert!(self.has(kind));
        self.0 -= 1 << SHIFT[kind.index()];
    }

    /// The same hand with a different count of one kind.
    #[inline]
    #[must_use]
    pub const fn with_count(self, kind: HandKind, count: u8) -> Self {
        let cleared = self.0 & !(MASK[kind.index()] << SHIFT[kind.index()]);
        Self(cleared | (count as u32) << SHIFT[kind.index()])
    }

    /// Whether this hand has at least as many pieces of every kind as `other`. This is a partial order.
    #[inline]
    pub const fn dominates(self, other: Self) -> bool {
        ((self.0 | GUARDS) - other.0) & GUARDS == GUARDS
    }

    /// The larger count of each kind.
    #[inline]
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        let short = self.short_of(other);
        Self((self.0 & !short) | (other.0 & short))
    }

    /// The smaller count of each kind.
    #[inline]
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        let short = self.short_of(other);
        Self((self.0 & short) | (other.0 & !short))
    }

    /// All-ones in the count of every kind where `self` has fewer than `other`.
    #[inline]
    const fn short_of(self, other: Self) -> u32 {
        // A guard bit that survives the subtraction means "not short". `guard - (guard >> width)` needs the width of
        // each field, so the fields are handled in groups of equal width.
        let lost = GUARDS & !((self.0 | GUARDS) - other.0);
        let pawn = (lost & (1 << 5)) - ((lost & (1 << 5)) >> 5);
        let three = lost & (1 << 9 | 1 << 13 | 1 << 17 | 1 << 21);
        let two = lost & (1 << 24 | 1 << 27);
        pawn | (three - (three >> 3)) | (two - (two >> 2))
    }

    /// The sum of both hands. The caller guarantees that the full set is not exceeded.
    #[inline]
    #[must_use]
    pub const fn sum(self, other: Self) -> Self {
        let sum = Self(self.0 + other.0);
        debug_assert!(sum.0 & GUARDS == 0);
        sum
    }

    /// The hand without `other`, which it must dominate.
    #[inline]
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        debug_assert!(self.dominates(other));
        Self(self.0 - other.0)
    }

    /// The kinds held and their counts, in the order P L N S G B R.
    pub fn iter(self) -> impl Iterator<Item = (HandKind, u8)> {
        HandKind::ALL
            .into_iter()
            .map(move |kind| (kind, self.count(kind)))
            .filter(|&(_, count)| count > 0)
    }

    /// The packed integer, for keys and table entries.
    #[inline]
    pub const fn bits(self) -> u32 {
        self.0
    }
}

impl fmt::Debug for Hand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hand(")?;
        for (kind, count) in self.iter() {
            write!(f, "{count}{}", char::from(kind.piece_kind().letter()))?;
        }
        f.write_str(")")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fixed sample of hands: every count from 0 to the full set occurs.
    fn samples() -> Vec<[u8; 7]> {
        (0..4000u32)
            .map(|n| {
                HandKind::SET.map(|most| {
                    let mixed = n.wrapping_mul(0x9e37_79b9).rotate_left(u32::from(most) + n % 13);
                    (mixed % (u32::from(most) + 1)) as u8
                })
            })
            .collect()
    }

    #[test]
    fn order_union_and_intersection_match_the_counts() {
        let samples = samples();
        for pair in samples.windows(2) {
            let counts = [pair[0], pair[1]];
            let [left, right] =
                counts.map(|counts| Hand::from_counts(counts).expect("within the set"));
            let expected = counts[0].iter().zip(&counts[1]).all(|(more, less)| more >= less);
            assert_eq!(left.dominates(right), expected, "{left:?} {right:?}");
            let (union, intersection) = (left.union(right), left.intersection(right));
            for kind in HandKind::ALL {
                let [first, second] = counts.map(|counts| counts[kind.index()]);
                assert_eq!(union.count(kind), first.max(second));
                assert_eq!(intersection.count(kind), first.min(second));
            }
            assert!(union.dominates(left) && left.dominates(intersection));
        }
    }

    #[test]
    fn counts_beyond_the_set_are_refused() {
        assert!(Hand::from_counts([19, 0, 0, 0, 0, 0, 0]).is_none());
        assert!(Hand::from_counts([18, 4, 4, 4, 4, 2, 2]).is_some());
        assert!(Hand::from_counts([0, 0, 0, 0, 0, 0, 3]).is_none());
    }
}
