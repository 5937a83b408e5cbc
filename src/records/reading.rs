//! The errors that make a record unusable.

use std::ops::Range;

use thiserror::Error;

use super::bad_record::BadRecord;
use crate::format::{ConvertError, DecodeError, DecodeErrorKind, EncodeError, Fields};
use crate::shogi::{Color, PositionError};

/// Why a record cannot be used.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages describe the variants")]
#[non_exhaustive]
pub enum RecordError {
    #[error(transparent)]
    Decode(#[from] DecodeError),
    #[error(transparent)]
    Position(#[from] PositionError),
    #[error("the {king:?} king is missing, so there is no king to mate")]
    NothingToMate { king: Color },
    #[error(transparent)]
    Encode(#[from] EncodeError),
    #[error("{what} would be lost; --strict allows no losses")]
    Loss { what: String },
    #[error("the best move that the engine found, {text:?}, is not legal")]
    IllegalBestMove { text: String },
    #[error(transparent)]
    PreviousRun(Box<dyn std::error::Error + Send + Sync>),
}

impl From<ConvertError> for RecordError {
    fn from(error: ConvertError) -> Self {
        match error {
            ConvertError::Decode(error) => error.into(),
            ConvertError::Encode(error) => error.into(),
        }
    }
}

impl RecordError {
    /// Describes bad records of `file`, which are in a chunk of `bytes` bytes at `offset`.
    pub(crate) fn bad_record(
        &self,
        file: &str,
        records: Range<u64>,
        (offset, bytes): (u64, usize),
    ) -> BadRecord {
        let index = records.start;
        let is_cut_off =
            matches!(self, Self::Decode(DecodeError { kind: DecodeErrorKind::Length { .. }, .. }));
        let reason = match index {
            1 if is_cut_off => format!("{self}; 1 complete record precedes it"),
            _ if is_cut_off => format!("{self}; {index} complete records precede it"),
            _ => self.to_string(),
        };
        let missing = match self {
            Self::Encode(EncodeError::Missing { fields }) => *fields,
            _ => Fields::NONE,
        };
        let (records, file) = (records.end - index, file.to_owned());
        BadRecord { file, index, records, offset, bytes, reason, missing, byte: self.byte() }
    }

    /// Offset of the fault from the start of the chunk, if it concerns one place.
    pub(crate) const fn byte(&self) -> Option<usize> {
        match self {
            Self::Decode(error) => error.byte(),
            _ => None,
        }
    }

    pub(crate) fn is_comment(&self) -> bool {
        matches!(self, Self::Decode(error) if error.kind == DecodeErrorKind::Comment)
    }

    /// Name in reports: `snake_case`, stable.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Decode(error) => error.kind.name(),
            Self::Position(_) => "opponent_in_check",
            Self::NothingToMate { .. } => "nothing_to_mate",
            Self::Encode(_) => "cannot_be_written",
            Self::Loss { .. } => "loss",
            Self::IllegalBestMove { .. } => "illegal_best_move",
            Self::PreviousRun(_) => "first_pass",
        }
    }

    /// Whether it ends the run under every policy for bad records.
    pub(crate) const fn ends_run(&self) -> bool {
        matches!(self, Self::Loss { .. } | Self::PreviousRun(_))
    }
}
