//! An array of marks: for each square what stands on it.
//!
//! The articles' `ListBoard` and `NpBoard`, which keep a letter for each square.

use super::super::board::Mark;
use super::super::lines::LINES_THROUGH;
use super::super::square::Square;
use super::interface::Representation;

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
