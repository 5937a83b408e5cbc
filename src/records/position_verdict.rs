//! The verdict on a position.

pub use crate::search::Stop;

/// The verdict on a position, seen from the side to move.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PositionVerdict {
    /// The side to move can force mate.
    Win,
    /// The side to move is being mated by force, or has no legal move.
    Loss,
    /// Neither is the case at any depth.
    NoMate,
    /// The search stopped without a verdict.
    Unknown(Stop),
}

impl PositionVerdict {
    /// `win`, `loss`, `no_mate` or `unknown`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Win => "win",
            Self::Loss => "loss",
            Self::NoMate => "no_mate",
            Self::Unknown(_) => "unknown",
        }
    }

    /// Whether one side is proven to be mated.
    pub const fn is_mate(self) -> bool {
        matches!(self, Self::Win | Self::Loss)
    }
}
