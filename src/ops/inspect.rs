//! A look into a file of positions: what it is, what its records show of their writer, chosen records.
//!
//! Of a file that can be read at any place a sample from all of it is looked at, of a stream its start.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use thiserror::Error;

use crate::format::move16::Dialect;
use crate::format::{Decoded, RecordRef, Survey};
use crate::records::claims::FileClaims;
use crate::records::evidence::{PROBE_RECORDS, SAMPLE_RECORDS, take_into};
use crate::records::format_name::FormatName;
use crate::records::opening::input;
use crate::records::plan_error::PlanError;
use crate::records::reading::RecordError;
use crate::records::source::{Block, Delivery, Input, Part, Source, SourceError};
use crate::records::{evidence, source};
use crate::storage::value_error::ParseValueError;

/// Of a stream no more is held than this and a block, however few records it is.
const SAMPLE_BYTES: usize = 1 << 25;

/// Numbers of records, from 0: `5`, `5..8`, `5..` or `..8`; the last one is not in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecordRange {
    /// The first record.
    pub from: u64,
    /// The record behind the last one; none for all there are.
    pub to: Option<u64>,
}

impl FromStr for RecordRange {
    type Err = ParseValueError;

    fn from_str(text: &str) -> Result<Self, ParseValueError> {
        let number = |text: &str| match text {
            "" => Some(None),
            _ => text.parse::<u64>().ok().map(Some),
        };
        let range = match text.split_once("..") {
            Some((from, to)) => {
                number(from).zip(number(to)).map(|(from, to)| Self { from: from.unwrap_or(0), to })
            }
            None => text.parse().ok().map(|from: u64| Self { from, to: from.checked_add(1) }),
        };
        range.filter(|range| range.to.is_none_or(|to| range.from < to)).ok_or_else(|| {
            ParseValueError::new(
                text,
                "not a range of records",
                "a..b with a < b, a.., ..b or a, counted from 0",
            )
        })
    }
}

impl fmt::Display for RecordRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to {
            Some(to) => write!(f, "{}..{to}", self.from),
            None => write!(f, "{}..", self.from),
        }
    }
}

/// Why a file cannot be looked into.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum InspectError {
    /// The name does not say the format, or the file is not there.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// It could not be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// There are not that many records.
    #[error("{input} has {records} records, numbered from 0: {range} goes beyond them")]
    Range {
        /// The input.
        input: String,
        /// Its records.
        records: u64,
        /// The range asked for.
        range: RecordRange,
    },
}

/// What is known about a file before its records are shown.
#[derive(Clone, Debug)]
pub struct Header {
    /// The input.
    pub input: Input,
    /// Records in it, an incomplete last one included; none if the end was not read.
    pub records: Option<u64>,
    /// What the sample shows.
    pub survey: Survey,
}

/// A record, or the error that makes it unusable.
#[derive(Debug)]
pub struct InspectedRecord<'a> {
    /// Number within the file, from 0.
    pub index: u64,
    /// Where it begins within the file, uncompressed.
    pub offset: u64,
    /// All its bytes.
    pub bytes: &'a [u8],
    /// The record.
    pub record: Result<RecordRef<'a>, RecordError>,
}

/// An opened file.
pub struct Inspection {
    /// What is known about it.
    pub header: Header,
    range: RecordRange,
    blocks: Deliveries,
}

type Deliveries = Box<dyn Iterator<Item = Result<Delivery, SourceError>>>;

impl Inspection {
    /// Opens a file (`-` is standard input) and looks at a sample. Without a range, the first record is
    /// chosen if there is one.
    ///
    /// # Errors
    /// [`InspectError`], also if the range is known to go beyond the end.
    pub fn open(
        path: &Path,
        from: Option<FormatName>,
        dialect: Option<Dialect>,
        range: Option<RecordRange>,
    ) -> Result<Self, InspectError> {
        let input = input(path, from, dialect)?;
        FileClaims::reading(std::slice::from_ref(&input))?;
        let wanted = range.unwrap_or(RecordRange { from: 0, to: Some(1) });
        let (header, blocks) = if source::is_cheap_to_count(&input) {
            let records = source::count_records(&input)?;
            let survey = match &input.evidence {
                Some(survey) => Survey::clone(survey),
                None => evidence::sample(&input)?,
            };
            let part = Part::range(input.clone(), wanted.from, wanted.to);
            let blocks = Box::new(Source::new(vec![part], PROBE_RECORDS)) as Deliveries;
            (Header { input, records: Some(records), survey }, blocks)
        } else {
            sample_stream(input)?
        };
        let range = match (range, header.records) {
            (None, Some(0)) => RecordRange { from: 0, to: Some(0) },
            _ => wanted,
        };
        let inspection = Self { header, range, blocks };
        inspection.header.records.map_or(Ok(()), |records| inspection.check(records))?;
        Ok(inspection)
    }

    /// Shows the chosen records one after the other.
    ///
    /// # Errors
    /// [`InspectError`] if reading fails or the input ends before the range does, or whatever `show`
    /// fails with.
    pub fn for_each<E: From<InspectError>>(
        mut self,
        mut show: impl FnMut(&InspectedRecord<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut read = None;
        for delivery in self.blocks.by_ref() {
            let Delivery::Block(block) = delivery.map_err(InspectError::from)? else { continue };
            for found in found(&block) {
                read = Some(found.index + 1);
                if self.range.to.is_some_and(|to| found.index >= to) {
                    return Ok(());
                }
                if found.index >= self.range.from {
                    show(&found)?;
                }
            }
        }
        let records = self.header.records.or(read).unwrap_or(0);
        Ok(self.check(records)?)
    }

    fn check(&self, records: u64) -> Result<(), InspectError> {
        let last = self.range.to.unwrap_or(self.range.from);
        if self.range.from > records || last > records {
            let (input, range) = (self.header.input.name.clone(), self.range);
            return Err(InspectError::Range { input, records, range });
        }
        Ok(())
    }
}

fn found(block: &Block) -> impl Iterator<Item = InspectedRecord<'_>> {
    block.wanted_records().map(|Decoded { index, unit, record }| InspectedRecord {
        index,
        offset: block.offset + unit.offset,
        bytes: unit.bytes,
        record: record.map_err(RecordError::from),
    })
}

/// Reads the start of a stream; what was read is shown first.
fn sample_stream(input: Input) -> Result<(Header, Deliveries), SourceError> {
    let part = Part::whole(input.clone());
    let mut source = Source::new(vec![part], PROBE_RECORDS);
    let mut survey = Survey::default();
    let mut start = Vec::new();
    let mut records = None;
    let mut bytes = 0;
    while survey.records < SAMPLE_RECORDS && bytes < SAMPLE_BYTES {
        let Some(delivery) = source.next().transpose()? else { break };
        take_into(&mut survey, &delivery);
        if let Delivery::Block(block) = &delivery {
            bytes += block.bytes().len();
        }
        if let Delivery::End(part) = &delivery {
            records = Some(part.records);
        }
        start.push(Ok(delivery));
    }
    Ok((Header { input, records, survey }, Box::new(start.into_iter().chain(source))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_count_from_zero_and_end_before_their_end() {
        let range = |from, to| Ok(RecordRange { from, to });
        assert_eq!("5..8".parse(), range(5, Some(8)));
        assert_eq!("5..".parse(), range(5, None));
        assert_eq!("..8".parse(), range(0, Some(8)));
        assert_eq!("..".parse(), range(0, None));
        assert_eq!("5".parse(), range(5, Some(6)));
        for text in ["", "8..5", "5..5", "a..b", "-1", "1..2..3", "1-2"] {
            assert!(text.parse::<RecordRange>().is_err(), "{text}");
        }
    }
}
