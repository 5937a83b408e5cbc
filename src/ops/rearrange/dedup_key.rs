//! The key that decides which records are equal.

use std::fmt;
use std::str::FromStr;

use crate::storage::value_error::ParseValueError;

/// The content that must be equal for two records to be duplicates.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum DedupKey {
    /// Board, hands and side to move.
    #[default]
    Position,
    /// Board, hands, side to move and the stored move.
    PositionAndMove,
    /// All fields, regardless of their encoding.
    Content,
    /// All bytes, including padding.
    Bytes,
}

impl DedupKey {
    /// All keys.
    pub const ALL: [Self; 4] = [Self::Position, Self::PositionAndMove, Self::Content, Self::Bytes];

    /// The name on the command line and in manifests.
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
        let key = Self::ALL.into_iter().find(|key| key.name() == name);
        key.ok_or_else(|| {
            ParseValueError::new(name, "not a key", "position, position+move, content or bytes")
        })
    }
}
