//! Moves that a search tried.

use kyokumen_shogi::Move;

/// A move that a search tried, and how often.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Candidate {
    /// The move.
    pub best_move: Move,
    /// Visits of the search.
    pub visits: u16,
}

impl Candidate {
    /// The same on a board whose left and right are exchanged.
    #[must_use]
    pub const fn mirrored(self) -> Self {
        Self { best_move: self.best_move.mirrored(), ..self }
    }
}
