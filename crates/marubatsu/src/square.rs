//! The nine squares, numbered row by row.
//!
//! Moves have the order of these numbers, as in the articles.

use serde::Serialize;

/// One of the nine squares, numbered row by row: column x and row y have number 3y + x.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
pub struct Square(u8);

impl Square {
    /// Number of squares.
    pub const COUNT: usize = 9;
    /// The middle square.
    pub const CENTRE: Self = Self(4);

    /// All squares, row by row.
    pub const ALL: [Self; Self::COUNT] =
        [Self(0), Self(1), Self(2), Self(3), Self(4), Self(5), Self(6), Self(7), Self(8)];

    /// The square with this number, if it is on the board.
    pub const fn new(number: u8) -> Option<Self> {
        if number < 9 { Some(Self(number)) } else { None }
    }

    /// All squares, row by row.
    pub fn all() -> impl DoubleEndedIterator<Item = Self> {
        Self::ALL.into_iter()
    }

    /// Number of the square, 0 to 8.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Number of the square as a byte, 0 to 8.
    pub const fn number(self) -> u8 {
        self.0
    }

    /// Column, 0 to 2 from the left.
    pub const fn x(self) -> u8 {
        self.0 % 3
    }

    /// Row, 0 to 2 from the top.
    pub const fn y(self) -> u8 {
        self.0 / 3
    }

    /// The bit of the square in a plane.
    pub(super) const fn bit(self) -> u16 {
        1 << self.0
    }
}
