//! How many games of a match ended in each way.
//!
//! `o`, `x` and `draw`, as the tables of the articles have them.

use serde::Serialize;

use super::super::board::{Mark, Status};

/// How many games ended in each way.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Tally {
    /// Won by ○.
    pub o: u64,
    /// Won by ×.
    pub x: u64,
    /// Drawn.
    pub draw: u64,
}

impl Tally {
    /// All games.
    pub const fn games(self) -> u64 {
        self.o + self.x + self.draw
    }

    /// Won by ○, won by ×, drawn.
    pub const fn counts(self) -> [u64; 3] {
        [self.o, self.x, self.draw]
    }

    /// Counts a game that has ended.
    pub const fn count(&mut self, status: Status) {
        match status {
            Status::Won(Mark::Circle) => self.o += 1,
            Status::Won(Mark::Cross) => self.x += 1,
            Status::Draw => self.draw += 1,
            Status::Playing => {}
        }
    }
}
