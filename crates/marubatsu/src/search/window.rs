//! Bounds between which the value of a node matters.
//!
//! α and β of Knuth and Moore (1975).

use super::super::evaluation::Score;

/// Between which values a node is searched, seen from the side to move.
#[derive(Clone, Copy)]
pub(super) struct Window {
    pub(super) alpha: Score,
    pub(super) beta: Score,
}

impl Window {
    pub(super) const OPEN: Self = Self { alpha: Score::MIN, beta: Score::MAX };

    /// The same for the other side.
    pub(super) fn turned(self) -> Self {
        Self { alpha: -self.beta, beta: -self.alpha }
    }

    /// One point above what is there already: is a move better?
    pub(super) const fn test(self) -> Self {
        Self { alpha: self.alpha, beta: self.alpha.point_more() }
    }
}
