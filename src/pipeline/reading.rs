//! One raw record on its way to a position, and all that can be wrong with it on the way.
//!
//! What makes a record unusable is the same for every command; what becomes of it is the command's concern.

use thiserror::Error;

use super::judge::NothingToMate;
use super::source::{MAX_LINE_BYTES, RawRecord};
use crate::format::{
    ConvertError, DecodeError, DecodeErrorKind, EncodeError, Fields, Format, RecordRef,
};
use crate::shogi::PositionError;

/// Why a record cannot be used.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum Fault {
    #[error("part of a line longer than {MAX_LINE_BYTES} bytes")]
    CutLine,
    #[error(transparent)]
    Decode(#[from] DecodeError),
    #[error(transparent)]
    Position(#[from] PositionError),
    #[error(transparent)]
    NothingToMate(#[from] NothingToMate),
    #[error(transparent)]
    Convert(#[from] ConvertError),
}

impl Fault {
    /// Whether it is no record at all but a comment in a text.
    pub(super) fn is_comment(&self) -> bool {
        matches!(self, Self::Decode(error) if error.kind == DecodeErrorKind::Comment)
    }

    /// Fields that the output needs and the record lacks, if that is all that is wrong.
    pub(super) fn missing(&self) -> Fields {
        match self {
            Self::Convert(ConvertError::Encode(EncodeError::Missing { fields })) => *fields,
            _ => Fields::NONE,
        }
    }
}

/// The record in these bytes, if they are as many as there should be.
pub(super) fn record<'a>(raw: &RawRecord<'a>, format: Format) -> Result<RecordRef<'a>, Fault> {
    if raw.is_cut {
        return Err(Fault::CutLine);
    }
    Ok(RecordRef::new(format, raw.without_line_end(format))?)
}
