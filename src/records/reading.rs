//! Decoding of raw records, and every error that can make a record unusable.
//!
//! The definition of an unusable record is the same for every command; each command decides how to handle it.

use thiserror::Error;

use super::source::{Block, MAX_GROUP_BYTES, MAX_LINE_BYTES, RawUnit, Units};
use crate::format;
use crate::format::{ConvertError, DecodeError, DecodeErrorKind, EncodeError, Fields, RecordRef};
use crate::shogi::{Color, PositionError};

/// Why a record cannot be used.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum RecordError {
    #[error(
        "part of a line longer than {MAX_LINE_BYTES} bytes, or of a game longer than {MAX_GROUP_BYTES}"
    )]
    CutUnit,
    #[error(transparent)]
    Decode(#[from] DecodeError),
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

impl RecordError {
    /// What is wrong with the record of this number.
    pub(crate) fn reason(&self, index: u64) -> String {
        let is_cut_off = matches!(
            self,
            Self::Decode(DecodeError { kind: DecodeErrorKind::Length { .. }, .. })
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
        matches!(self, Self::Decode(error) if error.kind == DecodeErrorKind::Comment)
    }

    /// Its name in reports: `snake_case`, stable.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::CutUnit => "too_long",
            Self::Decode(error) | Self::Convert(ConvertError::Decode(error)) => error.kind.name(),
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

/// A record of a block, or the error that makes it unusable.
pub(crate) struct ReadRecord<'a> {
    /// Number within the input, from 0.
    pub(crate) index: u64,
    /// The unit that it stands in.
    pub(crate) unit: RawUnit<'a>,
    pub(crate) record: Result<RecordRef<'a>, RecordError>,
}

impl ReadRecord<'_> {
    /// Whether it is of this unit and bad for the same reason.
    pub(crate) fn is_bad_with(&self, unit: &RawUnit<'_>, error: &RecordError) -> bool {
        let is_same = match (&self.record, error) {
            (Err(RecordError::Decode(own)), RecordError::Decode(other)) => own == other,
            _ => false,
        };
        is_same && self.unit.offset == unit.offset
    }
}

/// The records of a block that are wanted, in order.
pub(crate) fn wanted_records(block: &Block) -> impl Iterator<Item = ReadRecord<'_>> {
    all_records(block).filter(|read| block.wanted.contains(&read.index))
}

/// The records of a block, wanted or not, in order.
pub(crate) fn all_records(block: &Block) -> BlockRecords<'_> {
    BlockRecords { block, units: block.units(), current: None, index: block.first_index }
}

/// The records of one unit, wanted or not.
pub(crate) fn records_in_unit<'a>(
    block: &Block,
    unit: &RawUnit<'a>,
) -> impl Iterator<Item = Result<RecordRef<'a>, RecordError>> + use<'a> {
    let cut = unit.is_cut.then_some(Err(RecordError::CutUnit));
    let whole = (!unit.is_cut)
        .then(|| format::records(block.format, block.dialect, unit.without_line_end(block.format)));
    cut.into_iter().chain(whole.into_iter().flatten().map(|record| Ok(record?)))
}

/// The iterator of [`all_records`].
pub(crate) struct BlockRecords<'a> {
    block: &'a Block,
    units: Units<'a>,
    /// The unit that is being read, if it may hold several records.
    current: Option<(RawUnit<'a>, format::Records<'a>)>,
    /// Number of the next record.
    index: u64,
}

impl<'a> BlockRecords<'a> {
    #[inline]
    fn read(&mut self) -> Option<(RawUnit<'a>, Result<RecordRef<'a>, RecordError>)> {
        let (format, dialect) = (self.block.format, self.block.dialect);
        loop {
            if let Some((unit, records)) = &mut self.current {
                if let Some(record) = records.next() {
                    return Some((*unit, record.map_err(RecordError::from)));
                }
                self.current = None;
            }
            let unit = self.units.next()?;
            if unit.is_cut {
                return Some((unit, Err(RecordError::CutUnit)));
            }
            let bytes = unit.without_line_end(format);
            if format.record_len().is_some() {
                let record = RecordRef::with_dialect(format, dialect, bytes);
                return Some((unit, record.map_err(RecordError::from)));
            }
            self.current = Some((unit, format::records(format, dialect, bytes)));
        }
    }
}

impl<'a> Iterator for BlockRecords<'a> {
    type Item = ReadRecord<'a>;

    #[inline]
    fn next(&mut self) -> Option<ReadRecord<'a>> {
        let (unit, record) = self.read()?;
        let index = self.index;
        self.index += 1;
        Some(ReadRecord { index, unit, record })
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
