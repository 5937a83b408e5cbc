//! Numbers of games of a match, by result.
//!
//! The fields are `o`, `x` and `draw`, as in the tables of the articles.

use serde::Serialize;

use super::super::board::{Mark, Status};

/// Numbers of games by result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Tally {
    /// Games won by ○.
    pub o: u64,
    /// Games won by ×.
    pub x: u64,
    /// Drawn games.
    pub draw: u64,
}

impl Tally {
    /// Number of games.
    pub const fn games(self) -> u64 {
        self.o + self.x + self.draw
    }

    /// Games won by ○, games won by ×, drawn games.
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
