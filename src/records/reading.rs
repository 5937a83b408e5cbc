//! Decoding of raw records, and every error that can make a record unusable.
//!
//! The definition of an unusable record is the same for every command; each command decides how to handle it.

use thiserror::Error;

use crate::format::{ConvertError, DecodeError, DecodeErrorKind, EncodeError, Fields, UnitError};
use crate::shogi::{Color, PositionError};

/// Why a record cannot be used.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum RecordError {
    #[error(transparent)]
    Unit(#[from] UnitError),
    #[error(transparent)]
    Position(#[from] PositionError),
    #[error(transparent)]
    NothingToMate(#[from] NothingToMateError),
    #[error(transparent)]
    Convert(#[from] ConvertError),
    #[error(transparent)]
    Loss(#[from] LossError),
    #[error(transparent)]
    PreviousRun(Box<dyn std::error::Error + Send + Sync>),
}

impl From<DecodeError> for RecordError {
    fn from(error: DecodeError) -> Self {
        Self::Unit(error.into())
    }
}

impl RecordError {
    /// What is wrong with the record of this number.
    pub(crate) fn reason(&self, index: u64) -> String {
        let is_cut_off = matches!(
            self,
            Self::Unit(UnitError::Decode(DecodeError { kind: DecodeErrorKind::Length { .. }, .. }))
                | Self::Convert(ConvertError::Decode(DecodeError {
                    kind: DecodeErrorKind::Length { .. },
                    ..
                }))
        );
        match index {
            1 if is_cut_off => format!("{self}; 1 whole record stands before it"),
            _ if is_cut_off => format!("{self}; {index} whole records stand before it"),
            _ => self.to_string(),
        }
    }

    /// Whether it is no record at all but a comment in a text.
    pub(crate) fn is_comment(&self) -> bool {
        matches!(self, Self::Unit(UnitError::Decode(error)) if error.kind == DecodeErrorKind::Comment)
    }

    /// Its name in reports: `snake_case`, stable.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Unit(UnitError::TooLong) => "too_long",
            Self::Unit(UnitError::Decode(error)) | Self::Convert(ConvertError::Decode(error)) => {
                error.kind.name()
            }
            Self::Position(_) => "opponent_in_check",
            Self::NothingToMate(_) => "nothing_to_mate",
            Self::Convert(ConvertError::Encode(_)) => "cannot_be_written",
            Self::Loss(_) => "loss",
            Self::PreviousRun(_) => "first_pass",
        }
    }

    /// Whether the run ends with it, whatever the policy for bad records.
    pub(crate) const fn ends_run(&self) -> bool {
        matches!(self, Self::Loss(_) | Self::PreviousRun(_))
    }

    /// Fields that the output needs and the record lacks, if that is all that is wrong.
    pub(crate) fn missing(&self) -> Fields {
        match self {
            Self::Convert(ConvertError::Encode(EncodeError::Missing { fields })) => *fields,
            _ => Fields::NONE,
        }
    }
}

/// A position that lacks the king that would be mated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("the {0:?} king is missing: there is nothing to mate")]
pub struct NothingToMateError(pub Color);

/// Content of a record that the output format cannot hold.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{what} would be lost, which --strict refuses")]
pub struct LossError {
    pub(crate) what: String,
}
