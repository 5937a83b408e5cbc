//! The interface of all representations: put marks, remove them, detect a line.
//!
//! These methods are common to the boards of the articles.

use super::super::board::{Board, Mark};
use super::super::square::Square;
use super::super::squares::Squares;

/// The marks on nine squares. The side to move and the winner are stored elsewhere.
pub trait Representation: Clone + Default {
    /// Its name in tables.
    const NAME: &'static str;
    /// Whether it counts the marks on each line.
    const COUNTS_LINES: bool = false;

    /// The mark on a square.
    fn mark_on(&self, square: Square) -> Option<Mark>;

    /// Puts a mark on a square, which must be free.
    fn put(&mut self, square: Square, mark: Mark);

    /// Removes this mark from a square, which must have it.
    fn remove(&mut self, square: Square, mark: Mark);

    /// Whether a line through a square has this mark on all its squares.
    fn has_line_through(&self, square: Square, mark: Mark) -> bool;

    /// Squares without a mark.
    fn free(&self) -> Squares {
        Square::all().filter(|&square| self.mark_on(square).is_none()).collect()
    }

    /// The same marks as a position.
    fn board(&self) -> Board {
        let plane = |mark| {
            let squares = Square::all().filter(|&square| self.mark_on(square) == Some(mark));
            squares.collect::<Squares>().bits()
        };
        Board::from_planes(Mark::ALL.map(plane))
    }
}
