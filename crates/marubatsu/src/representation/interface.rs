//! What every representation can do: put marks, take them back, see a line.
//!
//! The methods that the boards of the articles have in common.

use super::super::board::{Board, Mark};
use super::super::square::Square;
use super::super::squares::Squares;

/// The marks on nine squares; whose turn it is and who has won is kept elsewhere.
pub trait Representation: Clone + Default {
    /// What it is called in tables.
    const NAME: &'static str;
    /// Whether moves also count the marks on each line.
    const COUNTS_LINES: bool = false;

    /// What stands on a square.
    fn mark_on(&self, square: Square) -> Option<Mark>;

    /// Puts a mark on a square, which is to be free.
    fn put(&mut self, square: Square, mark: Mark);

    /// Takes the mark from a square, which is to be this one.
    fn remove(&mut self, square: Square, mark: Mark);

    /// Whether a line through a square holds this mark on all its squares.
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
