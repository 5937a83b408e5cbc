//! One raw record on its way to a position, and all that can be wrong with it on the way.
//!
//! What makes a record unusable is the same for every command; what becomes of it is the command's concern.

use thiserror::Error;

use super::judge::NothingToMate;
use super::source::{Block, MAX_GROUP_BYTES, MAX_LINE_BYTES, RawUnit};
use crate::format::{
    self, ConvertError, DecodeError, DecodeErrorKind, EncodeError, Fields, RecordRef,
};
use crate::shogi::PositionError;

/// Why a record cannot be used.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum Fault {
    #[error(
        "part of a line longer than {MAX_LINE_BYTES} bytes, or of a game longer than {MAX_GROUP_BYTES}"
    )]
    CutUnit,
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

/// A record of a block, or why it is none.
pub(super) struct Read<'a> {
    /// Number within the input, from 0.
    pub(super) index: u64,
    /// The unit that it stands in.
    pub(super) unit: RawUnit<'a>,
    pub(super) record: Result<RecordRef<'a>, Fault>,
}

impl Read<'_> {
    /// Whether it is of this unit and bad for the same reason.
    pub(super) fn is_bad_with(&self, unit: &RawUnit<'_>, fault: &Fault) -> bool {
        let is_same = match (&self.record, fault) {
            (Err(Fault::Decode(own)), Fault::Decode(other)) => own == other,
            _ => false,
        };
        is_same && self.unit.offset == unit.offset
    }
}

/// The records of a block that are wanted, in order.
pub(super) fn records(block: &Block) -> impl Iterator<Item = Read<'_>> {
    let in_units =
        block.units().flat_map(|unit| in_unit(block, &unit).map(move |record| (unit, record)));
    in_units
        .zip(block.first_index..)
        .map(|((unit, record), index)| Read { index, unit, record })
        .filter(|read| block.wanted.contains(&read.index))
}

/// The records of one unit.
fn in_unit<'a>(
    block: &Block,
    unit: &RawUnit<'a>,
) -> impl Iterator<Item = Result<RecordRef<'a>, Fault>> + use<'a> {
    let cut = unit.is_cut.then_some(Err(Fault::CutUnit));
    let whole = (!unit.is_cut)
        .then(|| format::records(block.format, block.dialect, unit.without_line_end(block.format)));
    cut.into_iter().chain(whole.into_iter().flatten().map(|record| Ok(record?)))
}
