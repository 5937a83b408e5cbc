//! Board representations for comparison: an array of marks, an array of integers, and two bit planes.
//!
//! They correspond to `NpBoard`, `NpIntBoard` and `NpBoolBoard` of article 204. Each also exists with counts of the
//! marks on every line, which moves update (`count_linemark`).

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

/// The mark on each square.
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
