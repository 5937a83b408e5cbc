//! Ways to keep the marks of a board, to be compared: arrays of marks, of integers, two planes of bits.
//!
//! They are those of the articles (`NpBoard`, `NpIntBoard`, `NpBoolBoard` of article 204), as Rust would write
//! them, each also with counts of the marks on every line, which moves keep up to date (`count_linemark`).

mod counted;
mod integers;
mod interface;
mod planes;
mod visitor;

use super::board::Mark;
use super::lines::LINES_THROUGH;
use super::square::Square;

pub use counted::Counted;
pub use integers::Integers;
pub use interface::Representation;
pub use planes::Planes;
pub use visitor::{Visitor, visit_all};

/// For each square its mark.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Marks([Option<Mark>; Square::COUNT]);

impl Representation for Marks {
    const NAME: &'static str = "marks";

    fn mark_on(&self, square: Square) -> Option<Mark> {
        self.0[square.index()]
    }

    fn put(&mut self, square: Square, mark: Mark) {
        self.0[square.index()] = Some(mark);
    }

    fn remove(&mut self, square: Square, _: Mark) {
        self.0[square.index()] = None;
    }

    fn has_line_through(&self, square: Square, mark: Mark) -> bool {
        LINES_THROUGH[square.index()]
            .iter()
            .any(|line| line.iter().all(|&square| self.mark_on(square) == Some(mark)))
    }
}
