//! Sets of squares, as nine bits.
//!
//! In the articles these are lists of coordinates: legal moves, candidates of a player, best moves.

use std::fmt;
use std::iter::FusedIterator;

use serde::{Serialize, Serializer};

use super::square::Square;

/// A set of squares.
///
/// ```
/// use kyokumen_marubatsu::Board;
/// let board: Board = "ox./.o./..x".parse().unwrap();
/// assert_eq!(board.moves().to_string(), "2 3 5 6 7");
/// assert_eq!(board.moves().iter().map(|square| square.y()).max(), Some(2));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Squares(u16);

impl Squares {
    /// No square.
    pub const EMPTY: Self = Self(0);
    /// All nine squares.
    pub const ALL: Self = Self(0b111_111_111);

    /// Bit i is square number i. Other bits are ignored.
    pub const fn from_bits(bits: u16) -> Self {
        Self(bits & Self::ALL.0)
    }

    /// Bit i is square number i.
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// Number of squares, 0 to 9.
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether a square is in the set.
    pub const fn contains(self, square: Square) -> bool {
        self.0 & square.bit() != 0
    }

    /// Whether all squares are in `others`.
    pub const fn is_subset_of(self, others: Self) -> bool {
        self.0 & !others.0 == 0
    }

    /// Adds a square.
    pub const fn insert(&mut self, square: Square) {
        self.0 |= square.bit();
    }

    /// The squares that are not in `others`.
    #[must_use]
    pub const fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }

    /// The square with the lowest number.
    pub fn first(self) -> Option<Square> {
        self.iter().next()
    }

    /// All squares, row by row.
    pub const fn iter(self) -> Iter {
        Iter(self)
    }
}

impl FromIterator<Square> for Squares {
    fn from_iter<I: IntoIterator<Item = Square>>(squares: I) -> Self {
        let mut set = Self::EMPTY;
        squares.into_iter().for_each(|square| set.insert(square));
        set
    }
}

impl IntoIterator for Squares {
    type Item = Square;
    type IntoIter = Iter;

    fn into_iter(self) -> Iter {
        self.iter()
    }
}

impl IntoIterator for &Squares {
    type Item = Square;
    type IntoIter = Iter;

    fn into_iter(self) -> Iter {
        self.iter()
    }
}

impl fmt::Display for Squares {
    /// Numbers of the squares, separated by blanks; `-` for the empty set.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("-");
        }
        for (i, square) in self.iter().enumerate() {
            let blank = if i == 0 { "" } else { " " };
            write!(f, "{blank}{}", square.number())?;
        }
        Ok(())
    }
}

impl Serialize for Squares {
    /// A list of the numbers of the squares.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(Square::number))
    }
}

/// The squares of a set, row by row.
#[derive(Clone, Debug)]
pub struct Iter(Squares);

impl Iterator for Iter {
    type Item = Square;

    fn next(&mut self) -> Option<Square> {
        let Squares(bits) = self.0;
        // Zero has 16 trailing zeros, which is not the number of a square.
        let square = Square::new(bits.trailing_zeros() as u8)?;
        self.0 = Squares(bits & (bits - 1));
        Some(square)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.0.len(), Some(self.0.len()))
    }
}

impl ExactSizeIterator for Iter {}
impl FusedIterator for Iter {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_contains_the_squares_it_was_made_of() {
        for bits in 0..=Squares::ALL.bits() {
            let set = Squares::from_bits(bits);
            assert_eq!(set.iter().collect::<Squares>(), set);
            assert_eq!(set.iter().count(), set.len());
            assert!(set.iter().is_sorted() && set.iter().all(|square| set.contains(square)));
            assert_eq!(Square::all().filter(|&square| set.contains(square)).count(), set.len());
            assert!(set.is_subset_of(Squares::ALL) && set.without(set).is_empty());
            assert_eq!(Squares::ALL.is_subset_of(set), bits == 0b111_111_111);
        }
        assert_eq!(Squares::from_bits(0xfe00), Squares::EMPTY);
        assert_eq!(Squares::EMPTY.to_string(), "-");
    }
}
