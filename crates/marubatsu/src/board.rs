//! The rules: marks on nine squares, in two planes of nine bits.
//!
//! ○ moves first. Squares are numbered row by row, and moves have that order, as in the articles where the figures come
//! from.

use std::fmt;
use std::ops::Not;
use std::str::FromStr;

use serde::{Serialize, Serializer};
use thiserror::Error;

use super::lines::{SETS, holds_line};
use super::square::Square;
use super::squares::Squares;

/// A side and its mark.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[repr(u8)]
pub enum Mark {
    /// ○, who moves first.
    #[serde(rename = "o")]
    Circle,
    /// ×.
    #[serde(rename = "x")]
    Cross,
}

impl Mark {
    /// Both sides, ○ first.
    pub const ALL: [Self; 2] = [Self::Circle, Self::Cross];

    /// 0 for ○, 1 for ×.
    pub const fn index(self) -> usize {
        self as usize
    }
}

impl Not for Mark {
    type Output = Self;

    fn not(self) -> Self {
        match self {
            Self::Circle => Self::Cross,
            Self::Cross => Self::Circle,
        }
    }
}

impl fmt::Display for Mark {
    /// `o` or `x`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Circle => "o",
            Self::Cross => "x",
        })
    }
}

/// For each set of squares: a number in base 3 that has the digit 1 on these squares. Square 0 is the highest digit.
static DIGITS: [u16; SETS] = {
    let mut table = [0; SETS];
    let mut plane = 0;
    while plane < table.len() {
        let mut square = 0;
        while square < Square::COUNT {
            table[plane] = 3 * table[plane] + (plane >> square & 1) as u16;
            square += 1;
        }
        plane += 1;
    }
    table
};

/// The state of a game.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Status {
    /// The game continues.
    Playing,
    /// One side has three in a row.
    Won(Mark),
    /// The board is full, and neither side has three in a row.
    Draw,
}

/// A position that can occur when the sides move in turn.
///
/// ```
/// use kyokumen_marubatsu::{Board, Mark, Status};
/// let mut board: Board = "oo./xx./...".parse().unwrap();
/// let winning = board.moves().first().unwrap();
/// board.play(winning);
/// assert_eq!(board.to_string(), "ooo/xx./...");
/// assert_eq!(board.status(), Status::Won(Mark::Circle));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Board {
    planes: [u16; 2],
}

/// All nine squares.
const FULL: u16 = Squares::ALL.bits();

impl Board {
    /// The start: no marks.
    pub const EMPTY: Self = Self { planes: [0; 2] };

    /// Squares with this mark, bit i for square number i.
    pub const fn plane(self, mark: Mark) -> u16 {
        self.planes[mark.index()]
    }

    /// The planes of ○ and of ×.
    pub(super) const fn planes(self) -> [u16; 2] {
        self.planes
    }

    /// A board with these planes, which must have no square in common.
    pub(super) const fn from_planes(planes: [u16; 2]) -> Self {
        Self { planes }
    }

    /// Squares without a mark.
    pub const fn free(self) -> Squares {
        Squares::from_bits(!(self.planes[0] | self.planes[1]))
    }

    /// The mark on a square.
    pub fn mark_on(self, square: Square) -> Option<Mark> {
        Mark::ALL.into_iter().find(|mark| self.plane(*mark) & square.bit() != 0)
    }

    /// Number of marks, which is the number of moves made, 0 to 9.
    pub const fn ply(self) -> u32 {
        (self.planes[0] | self.planes[1]).count_ones()
    }

    /// The side to move. If the game is over, the side that would be next.
    pub const fn side_to_move(self) -> Mark {
        if self.ply().is_multiple_of(2) { Mark::Circle } else { Mark::Cross }
    }

    /// The state of the game.
    pub fn status(self) -> Status {
        let has_line = |mark: Mark| holds_line(self.plane(mark));
        match Mark::ALL.into_iter().find(|&mark| has_line(mark)) {
            Some(mark) => Status::Won(mark),
            None if self.planes[0] | self.planes[1] == FULL => Status::Draw,
            None => Status::Playing,
        }
    }

    /// The legal moves, row by row. Empty if the game is over.
    pub fn moves(self) -> Squares {
        match self.status() {
            Status::Playing => self.free(),
            _ => Squares::EMPTY,
        }
    }

    /// The position after the side to move has marked a square, which must be in [`Board::moves`].
    #[must_use]
    pub const fn after(mut self, square: Square) -> Self {
        self.play(square);
        self
    }

    /// Marks a square for the side to move. The square must be in [`Board::moves`].
    pub const fn play(&mut self, square: Square) {
        debug_assert!((self.planes[0] | self.planes[1]) & square.bit() == 0);
        self.planes[self.side_to_move().index()] |= square.bit();
    }

    /// Takes back the move to a square, which must be the last move.
    pub const fn take_back(&mut self, square: Square) {
        self.planes[0] &= !square.bit();
        self.planes[1] &= !square.bit();
    }

    /// Number of arrangements of ○, × and empty on nine squares, 3⁹. [`Board::index`] is less.
    pub const ARRANGEMENTS: usize = 19_683;

    /// A number that differs between positions and has the order of their texts. In base 3, square 0 is the highest
    /// digit, 1 is ○ and 2 is ×.
    pub fn index(self) -> usize {
        let [circles, crosses] = self.planes.map(|plane| DIGITS[usize::from(plane & FULL)]);
        usize::from(circles + 2 * crosses)
    }

    /// A number that differs between positions: ○'s plane in bits 0–8, ×'s in bits 9–17.
    pub const fn bits(self) -> u32 {
        self.planes[0] as u32 | (self.planes[1] as u32) << Square::COUNT
    }
}

impl fmt::Display for Board {
    /// Rows from the top, with `o`, `x` or `.` for each square: `oo./xx./...`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for square in Square::all() {
            if square.x() == 0 && square.y() > 0 {
                f.write_str("/")?;
            }
            match self.mark_on(square) {
                Some(mark) => write!(f, "{mark}")?,
                None => f.write_str(".")?,
            }
        }
        Ok(())
    }
}

impl Serialize for Board {
    /// The text of `Display`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Why a text is not a position.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum ParseBoardError {
    /// The text is not three rows of three, divided by slashes.
    #[error("character {offset}: expected {expected}")]
    Character {
        /// Number of characters before the error.
        offset: usize,
        /// The characters that would be allowed.
        expected: &'static str,
    },
    /// The sides did not take turns.
    #[error("{circles} o and {crosses} x: o moves first, and the sides take turns")]
    Turns {
        /// Number of ○.
        circles: u32,
        /// Number of ×.
        crosses: u32,
    },
    /// A side moved after the end of the game.
    #[error("{0} moved although the other side had three in a row")]
    MovedAfterEnd(Mark),
}

impl FromStr for Board {
    type Err = ParseBoardError;

    /// Reads the text of `Display`.
    fn from_str(text: &str) -> Result<Self, ParseBoardError> {
        let mut board = Self::EMPTY;
        let mut characters = text.chars().enumerate();
        let mut next = |expected| {
            let at_end = ParseBoardError::Character { offset: text.chars().count(), expected };
            characters.next().ok_or(at_end)
        };
        for square in Square::all() {
            if square.x() == 0 && square.y() > 0 {
                let (offset, found) = next("/")?;
                if found != '/' {
                    return Err(ParseBoardError::Character { offset, expected: "/" });
                }
            }
            match next("o, x or .")? {
                (_, 'o') => board.planes[0] |= square.bit(),
                (_, 'x') => board.planes[1] |= square.bit(),
                (_, '.') => {}
                (offset, _) => {
                    return Err(ParseBoardError::Character { offset, expected: "o, x or ." });
                }
            }
        }
        if let Some((offset, _)) = characters.next() {
            return Err(ParseBoardError::Character { offset, expected: "the end" });
        }
        board.checked()
    }
}

impl Board {
    fn checked(self) -> Result<Self, ParseBoardError> {
        let [circles, crosses] = self.planes.map(u16::count_ones);
        if circles != crosses && circles != crosses + 1 {
            return Err(ParseBoardError::Turns { circles, crosses });
        }
        let moved_last = !self.side_to_move();
        if holds_line(self.plane(!moved_last)) {
            return Err(ParseBoardError::MovedAfterEnd(moved_last));
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::super::lines::LINES;
    use super::*;

    /// Counts the nodes of the whole tree, including the root. `seen` receives the positions.
    fn count_nodes(board: &mut Board, seen: &mut HashSet<Board>) -> u64 {
        seen.insert(*board);
        let mut nodes = 1;
        for square in board.moves() {
            let before = *board;
            board.play(square);
            nodes += count_nodes(board, seen);
            board.take_back(square);
            assert_eq!(*board, before);
        }
        nodes
    }

    #[test]
    fn the_complete_tree_has_549946_nodes_and_5478_positions() {
        let mut seen = HashSet::new();
        assert_eq!(count_nodes(&mut Board::default(), &mut seen), 549_946);
        assert_eq!(seen.len(), 5_478);
        let playing = seen.iter().filter(|board| board.status() == Status::Playing).count();
        assert_eq!(playing, 4_520);
        for &board in &seen {
            assert_eq!(board.to_string().parse(), Ok(board));
        }
        let mut by_index: Vec<Board> = seen.into_iter().collect();
        by_index.sort_by_key(|board| board.index());
        assert!(by_index.is_sorted_by_key(Board::to_string));
        assert!(by_index.windows(2).all(|pair| pair[0].index() < pair[1].index()));
        assert!(by_index.iter().all(|board| board.index() < Board::ARRANGEMENTS));
    }

    #[test]
    fn boards_that_cannot_occur_are_refused() {
        let error = |text: &str| text.parse::<Board>().unwrap_err().to_string();
        assert_eq!(error("oo./xx"), "character 6: expected o, x or .");
        assert_eq!(error("oo.xx"), "character 3: expected /");
        assert_eq!(error("oo./x○./..."), "character 5: expected o, x or .");
        assert_eq!(error(".../.../.../"), "character 11: expected the end");
        assert_eq!(error("x../.../..."), "0 o and 1 x: o moves first, and the sides take turns");
        assert_eq!(error("ooo/xxx/..."), "x moved although the other side had three in a row");
    }

    #[test]
    fn every_line_wins() {
        for line in LINES {
            let squares = Square::all().filter(|square| line & square.bit() != 0);
            assert_eq!(squares.count(), 3);
            let board = Board { planes: [line, 0] };
            assert_eq!(board.status(), Status::Won(Mark::Circle));
        }
        let drawn: Board = "oxo/oox/xox".parse().unwrap();
        assert_eq!(drawn.status(), Status::Draw);
        assert!(drawn.moves().is_empty());
    }
}
