//! Two planes of nine bits, one for each mark.
//!
//! In the articles' `NpBoolBoard` the planes are arrays of Booleans. Here they are the planes of [`Board`].

use super::super::board::{Board, Mark};
use super::super::lines::holds_line;
use super::super::square::Square;
use super::super::squares::Squares;
use super::interface::Representation;

/// The squares of each mark, as a set.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Planes([u16; 2]);

impl Representation for Planes {
    const NAME: &'static str = "planes";

    #[inline]
    fn mark_on(&self, square: Square) -> Option<Mark> {
        self.board().mark_on(square)
    }

    #[inline]
    fn put(&mut self, square: Square, mark: Mark) {
        self.0[mark.index()] |= square.bit();
    }

    #[inline]
    fn remove(&mut self, square: Square, mark: Mark) {
        self.0[mark.index()] &= !square.bit();
    }

    #[inline]
    fn has_line_through(&self, _: Square, mark: Mark) -> bool {
        holds_line(self.0[mark.index()])
    }

    #[inline]
    fn free(&self) -> Squares {
        self.board().free()
    }

    #[inline]
    fn board(&self) -> Board {
        Board::from_planes(self.0)
    }
}
