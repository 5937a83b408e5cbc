//! A representation with counts of the marks on every line, which each move updates.
//!
//! This is `count_linemark=True` in the articles: the counts show a win without looking at squares.

use super::super::board::{Board, Mark};
use super::super::square::Square;
use super::super::squares::Squares;
use super::interface::Representation;

/// A representation, and the number of marks of each side on each line.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Counted<R> {
    marks: R,
    columns: [[u8; 3]; 2],
    rows: [[u8; 3]; 2],
    /// The falling diagonal, then the rising one.
    diagonals: [[u8; 2]; 2],
}

impl<R> Counted<R> {
    /// Adds `number` to the counts of all lines through a square. `u8::MAX` subtracts 1.
    fn add(&mut self, square: Square, mark: Mark, number: u8) {
        let (mark, x, y) = (mark.index(), usize::from(square.x()), usize::from(square.y()));
        let change = |count: &mut u8| *count = count.wrapping_add(number);
        change(&mut self.columns[mark][x]);
        change(&mut self.rows[mark][y]);
        if x == y {
            change(&mut self.diagonals[mark][0]);
        }
        if x + y == 2 {
            change(&mut self.diagonals[mark][1]);
        }
    }
}

impl<R: Representation> Representation for Counted<R> {
    const NAME: &'static str = R::NAME;
    const COUNTS_LINES: bool = true;

    fn mark_on(&self, square: Square) -> Option<Mark> {
        self.marks.mark_on(square)
    }

    fn put(&mut self, square: Square, mark: Mark) {
        self.marks.put(square, mark);
        self.add(square, mark, 1);
    }

    fn remove(&mut self, square: Square, mark: Mark) {
        self.marks.remove(square, mark);
        self.add(square, mark, u8::MAX);
    }

    fn has_line_through(&self, square: Square, mark: Mark) -> bool {
        let (mark, x, y) = (mark.index(), usize::from(square.x()), usize::from(square.y()));
        self.columns[mark][x] == 3
            || self.rows[mark][y] == 3
            || x == y && self.diagonals[mark][0] == 3
            || x + y == 2 && self.diagonals[mark][1] == 3
    }

    fn free(&self) -> Squares {
        self.marks.free()
    }

    fn board(&self) -> Board {
        self.marks.board()
    }
}
