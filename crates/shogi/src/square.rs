//! The 81 squares of the board.
//!
//! Squares are numbered as in Apery and YaneuraOu: file 1 is the right-hand column as Black sees it, rank 1 is the top,
//! and the number is `(file - 1) * 9 + (rank - 1)`.

use std::fmt;

use super::piece::Color;

/// One of the 81 squares, numbered file by file: 1a is 0, 1i is 8, 9i is 80.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Square(u8);

impl Square {
    /// Number of squares.
    pub const COUNT: usize = 81;

    /// The square with this number, if it is on the board.
    #[inline]
    pub const fn new(number: u8) -> Option<Self> {
        if number < 81 { Some(Self(number)) } else { None }
    }

    /// The square on `file` (0 = file 1) and `rank` (0 = rank a).
    ///
    /// # Panics
    /// If either is 9 or more.
    #[inline]
    pub const fn from_file_rank(file: u8, rank: u8) -> Self {
        assert!(file < 9 && rank < 9, "file and rank count from 0 to 8");
        Self(file * 9 + rank)
    }

    /// For numbers from an 81-bit set, which are always in range.
    #[inline]
    pub(crate) const fn from_bit(number: u32) -> Self {
        debug_assert!(number < 81);
        Self(number as u8)
    }

    /// All squares in number order.
    pub fn all() -> impl DoubleEndedIterator<Item = Self> {
        (0..81).map(Self)
    }

    /// Number of the square, 0 to 80.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Number of the square as a byte, 0 to 80.
    #[inline]
    pub const fn number(self) -> u8 {
        self.0
    }

    /// File counted from 0 (file 1, the right-hand column) to 8.
    #[inline]
    pub const fn file(self) -> u8 {
        self.0 / 9
    }

    /// Rank counted from 0 (rank a, the top) to 8.
    #[inline]
    pub const fn rank(self) -> u8 {
        self.0 % 9
    }

    /// Rank as `color` sees it; 0 is the farthest rank.
    #[inline]
    pub const fn relative_rank(self, color: Color) -> u8 {
        match color {
            Color::Black => self.rank(),
            Color::White => 8 - self.rank(),
        }
    }

    /// The square `files` to the left and `ranks` down, if it is on the board.
    #[inline]
    #[expect(
        clippy::cast_possible_wrap,
        clippy::cast_sign_loss,
        reason = "files and ranks are 0 to 8"
    )]
    pub const fn offset(self, files: i8, ranks: i8) -> Option<Self> {
        let file = self.file() as i8 + files;
        let rank = self.rank() as i8 + ranks;
        if file < 0 || file > 8 || rank < 0 || rank > 8 {
            None
        } else {
            Some(Self((file * 9 + rank) as u8))
        }
    }

    /// The same square seen from the other side of the board.
    #[inline]
    #[must_use]
    pub const fn rotated(self) -> Self {
        Self(80 - self.0)
    }

    /// The square mirrored at the middle file: 9a for 1a.
    #[inline]
    #[must_use]
    pub const fn mirrored(self) -> Self {
        Self((8 - self.file()) * 9 + self.rank())
    }

    /// Reads USI notation such as `7g`.
    pub const fn from_usi(text: &[u8]) -> Option<Self> {
        if let [file @ b'1'..=b'9', rank @ b'a'..=b'i'] = text {
            Some(Self::from_file_rank(*file - b'1', *rank - b'a'))
        } else {
            None
        }
    }
}

impl fmt::Display for Square {
    /// USI notation: `7g`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.file() + 1, char::from(b'a' + self.rank()))
    }
}

impl fmt::Debug for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbering_matches_the_packed_formats() {
        assert_eq!(Square::from_usi(b"1a").map(Square::number), Some(0));
        assert_eq!(Square::from_usi(b"5i").map(Square::number), Some(44));
        assert_eq!(Square::from_usi(b"9i").map(Square::number), Some(80));
        assert_eq!(Square::from_usi(b"0a"), None);
        assert_eq!(Square::from_usi(b"1j"), None);
    }

    #[test]
    fn text_and_number_agree() {
        for square in Square::all() {
            assert_eq!(Square::from_usi(square.to_string().as_bytes()), Some(square));
            assert_eq!(square.rotated().rotated(), square);
            assert_eq!(square.mirrored().mirrored(), square);
            assert_eq!(square.mirrored().rank(), square.rank());
        }
    }
}
