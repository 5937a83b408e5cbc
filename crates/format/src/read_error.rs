//! Why a record or a game cannot be read, and where it stands.

use std::io;

use thiserror::Error;

use super::error::DecodeError;

/// Where a record stands in what is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RecordPlace {
    /// Number of the record, from 0; comments in texts are counted.
    pub index: u64,
    /// Offset in bytes of the unit that holds it: the record itself, a line, a game.
    pub offset: u64,
}

/// Why a record or a game cannot be read, and where.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The system, or whatever stands between it and the reader. Nothing is read behind it.
    #[error("record {}, at byte {}: {error}", place.index, place.offset)]
    Io {
        /// Where it stands.
        place: RecordPlace,
        /// What the system says.
        error: io::Error,
    },
    /// The bytes are no record. The reader goes on with the next one.
    #[error("record {}, at byte {}: {error}", place.index, place.offset)]
    Decode {
        /// Where it stands.
        place: RecordPlace,
        /// What is wrong with them.
        error: DecodeError,
    },
}

impl ReadError {
    /// Where it stands.
    pub const fn place(&self) -> RecordPlace {
        match self {
            Self::Io { place, .. } | Self::Decode { place, .. } => *place,
        }
    }
}
