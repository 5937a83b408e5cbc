//! Why a record or a game cannot be read, and where it stands.

use std::io;

use thiserror::Error;

use super::unit::UnitError;

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
#[error("record {}, at byte {}: {kind}", place.index, place.offset)]
pub struct ReadError {
    /// Where it stands.
    pub place: RecordPlace,
    /// What is wrong.
    pub kind: ReadErrorKind,
}

/// Why a record or a game cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// The system, or whatever stands between it and the reader. Nothing is read behind it.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The bytes are no record. The reader goes on with the next one.
    #[error(transparent)]
    Unit(#[from] UnitError),
}
