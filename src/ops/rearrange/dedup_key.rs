//! Which records are equal.

use std::fmt;
use std::str::FromStr;

use crate::storage::value_error::ParseValueError;

/// What makes two records one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum DedupKey {
    /// Board, hands and side to move.
    #[default]
    Position,
    /// The same, and the stored move.
    PositionAndMove,
    /// All that a record says, in whatever bytes.
    Content,
    /// Its bytes, padding included.
    Bytes,
}

impl DedupKey {
    /// Every key.
    pub const ALL: [Self; 4] = [Self::Position, Self::PositionAndMove, Self::Content, Self::Bytes];

    /// Its name on the command line and in manifests.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Position => "position",
            Self::PositionAndMove => "position+move",
            Self::Content => "content",
            Self::Bytes => "bytes",
        }
    }
}

impl fmt::Display for DedupKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for DedupKey {
    type Err = ParseValueError;

    fn from_str(name: &str) -> Result<Self, ParseValueError> {
        let found = Self::ALL.into_iter().find(|key| key.name() == name);
        found.ok_or_else(|| {
            ParseValueError::new(name, "no key", "position, position+move, content or bytes")
        })
    }
}
