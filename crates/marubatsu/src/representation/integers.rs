//! An array of integers: 1 for ○, −1 for ×, 0 for an empty square. The sum of a line shows a win.
//!
//! The articles' `NpIntBoard`.

use super::super::board::Mark;
use super::super::lines::LINES_THROUGH;
use super::super::square::Square;
use super::interface::Representation;

/// 1, −1 or 0 for each square.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Integers([i8; Square::COUNT]);

const fn integer(mark: Mark) -> i8 {
    match mark {
        Mark::Circle => 1,
        Mark::Cross => -1,
    }
}

impl Representation for Integers {
    const NAME: &'static str = "integers";

    fn mark_on(&self, square: Square) -> Option<Mark> {
        let found = self.0[square.index()];
        Mark::ALL.into_iter().find(|&mark| integer(mark) == found)
    }

    fn put(&mut self, square: Square, mark: Mark) {
        self.0[square.index()] = integer(mark);
    }

    fn remove(&mut self, square: Square, _: Mark) {
        self.0[square.index()] = 0;
    }

    fn has_line_through(&self, square: Square, mark: Mark) -> bool {
        let sum = |line: &[Square; 3]| line.iter().map(|square| self.0[square.index()]).sum::<i8>();
        LINES_THROUGH[square.index()].iter().any(|line| sum(line) == 3 * integer(mark))
    }
}
