//! Shows properties of a position file and selected records.
//!
//! The properties come from a sample: records from the whole file if it supports random access, otherwise the first
//! records.

mod choice;

use std::path::Path;

use self::choice::sampled;

use crate::error::Error;
use crate::format::move16::Dialect;
use crate::format::{Decoded, RecordRef, Survey};
use crate::records::claims::FileClaims;
use crate::records::evidence::{self, PROBE_RECORDS, SAMPLE_RECORDS, survey_block};
use crate::records::format_name::FormatName;
use crate::records::opening::{self, Unreadable};
use crate::records::reading::RecordError;
use crate::records::source::{self, Block, Input, InputLocation, InputRange, Source};
use crate::storage::quantity::quantity;

pub use choice::{RecordChoice, RecordRange};

/// Records are read by random access if fewer than one in this many is chosen. Otherwise the whole file is read.
const RECORDS_PER_PLACE: u64 = 1 << 12;

/// A sample of the first records ends after this many bytes, even if it has few records.
const SAMPLE_BYTES: usize = 1 << 25;

/// Properties of a file, known before its records are shown.
#[derive(Clone, Debug)]
pub struct Header {
    /// The input.
    pub input: Input,
    /// Number of records, including an incomplete last one. `None` if the end was not read.
    pub records: Option<u64>,
    /// Properties of the sampled records.
    pub survey: Survey,
}

/// A record, or the error that makes it unusable.
#[derive(Debug)]
pub struct InspectedRecord<'a> {
    /// Number of the record in the file, from 0.
    pub index: u64,
    /// Offset of the record in the uncompressed file.
    pub offset: u64,
    /// The bytes of the record.
    pub bytes: &'a [u8],
    /// The record.
    pub record: Result<RecordRef<'a>, RecordError>,
}

/// An opened file.
pub struct Inspection {
    /// Properties of the file.
    pub header: Header,
    wanted: Wanted,
    blocks: Blocks,
}

enum Wanted {
    /// If `is_required`, it is an error if the file ends before the end of the range.
    Range { range: RecordRange, is_required: bool },
    /// In ascending order.
    Numbers(Vec<u64>),
}

type Blocks = Box<dyn Iterator<Item = Result<Block, Error>>>;

impl Inspection {
    /// Opens a file and reads a sample. `-` is standard input.
    ///
    /// # Errors
    /// [`Error`] if the file cannot be read or a range is known to end after the last record.
    pub fn open(
        path: &Path,
        from: Option<FormatName>,
        dialect: Option<Dialect>,
        choice: RecordChoice,
    ) -> Result<Self, Error> {
        let inputs = opening::inputs(&[path.to_owned()], from, dialect, Unreadable::Accepted)?;
        let input = inputs.into_iter().next().ok_or_else(Error::no_input)?;
        FileClaims::reading(std::slice::from_ref(&input))?;
        Self::from_input(input, choice)
    }

    /// Reads a sample of an opened input.
    ///
    /// # Errors
    /// [`Error`] if the input cannot be read or a range is known to end after the last record.
    pub fn from_input(input: Input, choice: RecordChoice) -> Result<Self, Error> {
        let range = match choice {
            RecordChoice::First(count) => RecordRange { from: 0, to: Some(count) },
            RecordChoice::Range(range) => range,
            RecordChoice::Sample { count, seed } => return Self::from_sample(input, count, seed),
        };
        let is_required = matches!(choice, RecordChoice::Range(_));
        let wanted = Wanted::Range { range, is_required };
        let (header, blocks) = if source::is_cheap_to_count(&input) {
            let records = source::count_records(&input)?;
            let input_range = InputRange::range(input.clone(), range.from, range.to);
            (Header::from_file(input, records)?, blocks_of(vec![input_range]))
        } else {
            sample_start(input)?
        };
        let inspection = Self { header, wanted, blocks };
        inspection.header.records.map_or(Ok(()), |records| inspection.check(records))?;
        Ok(inspection)
    }

    fn from_sample(input: Input, count: usize, seed: u64) -> Result<Self, Error> {
        if matches!(&input.location, InputLocation::File(path) if path.is_file()) {
            let records = source::count_records(&input)?;
            let numbers = sampled(records, count, seed);
            let are_far_apart = (numbers.len() as u64).saturating_mul(RECORDS_PER_PLACE) < records;
            let ranges = if are_far_apart && source::has_random_access(&input) {
                let single_record =
                    |&number: &u64| InputRange::range(input.clone(), number, Some(number + 1));
                numbers.iter().map(single_record).collect()
            } else {
                vec![InputRange::whole(input.clone())]
            };
            let header = Header::from_file(input, records)?;
            return Ok(Self {
                header,
                wanted: Wanted::Numbers(numbers),
                blocks: blocks_of(ranges),
            });
        }
        Err(Error::usage(format!(
            "{} can only be read once, but a random sample must count the records first; write the data to a file or use --range",
            input.display_name()
        )))
    }

    /// Calls `show` with each chosen record in file order.
    ///
    /// # Errors
    /// [`Error`] if reading fails or the input ends before the end of the range, or any error of `show`.
    pub fn for_each<E: From<Error>>(
        mut self,
        mut show: impl FnMut(&InspectedRecord<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut read = None;
        for block in self.blocks.by_ref() {
            for record in inspected_records(&block?) {
                read = Some(record.index + 1);
                if self.wanted.ends_before(record.index) {
                    return Ok(());
                }
                if self.wanted.contains(record.index) {
                    show(&record)?;
                }
            }
        }
        let records = self.header.records.or(read).unwrap_or(0);
        Ok(self.check(records)?)
    }

    fn check(&self, records: u64) -> Result<(), Error> {
        let Wanted::Range { range, is_required: true } = self.wanted else { return Ok(()) };
        let last = range.to.unwrap_or(range.from);
        if range.from > records || last > records {
            let input = self.header.input.display_name();
            let (verb, number) =
                if range.from < records { ("ends", last - 1) } else { ("begins", range.from) };
            return Err(Error::usage(format!(
                "{input} has {}, numbered from 0, but {range} {verb} with record {number}",
                quantity(records, "record")
            )));
        }
        Ok(())
    }
}

impl Wanted {
    fn contains(&self, number: u64) -> bool {
        match self {
            Self::Range { range, .. } => {
                range.from <= number && range.to.is_none_or(|to| number < to)
            }
            Self::Numbers(numbers) => numbers.binary_search(&number).is_ok(),
        }
    }

    /// Whether all chosen records have lower numbers.
    fn ends_before(&self, number: u64) -> bool {
        match self {
            Self::Range { range, .. } => range.to.is_some_and(|to| number >= to),
            Self::Numbers(numbers) => numbers.last().is_none_or(|&last| number > last),
        }
    }
}

impl Header {
    fn from_file(input: Input, records: u64) -> Result<Self, Error> {
        let survey = match &input.evidence {
            Some(survey) => Survey::clone(survey),
            None => evidence::sample(&input, PROBE_RECORDS)?,
        };
        Ok(Self { input, records: Some(records), survey })
    }
}

fn blocks_of(ranges: Vec<InputRange>) -> Blocks {
    Box::new(Source::new(ranges, PROBE_RECORDS))
}

fn inspected_records(block: &Block) -> impl Iterator<Item = InspectedRecord<'_>> {
    block.wanted_records().map(|Decoded { index, chunk, record }| InspectedRecord {
        index,
        offset: block.offset + chunk.offset,
        bytes: chunk.bytes,
        record: record.map_err(RecordError::from),
    })
}

/// Reads the first records of an input as a sample. The returned blocks include the sample.
fn sample_start(input: Input) -> Result<(Header, Blocks), Error> {
    let range = InputRange::whole(input.clone());
    let mut source = Source::new(vec![range], PROBE_RECORDS);
    let mut survey = Survey::default();
    let mut start = Vec::new();
    let (mut records, mut read, mut bytes) = (None, 0, 0);
    while survey.records < SAMPLE_RECORDS && bytes < SAMPLE_BYTES {
        let Some(block) = source.next().transpose()? else {
            records = Some(read);
            break;
        };
        survey_block(&mut survey, &block);
        bytes += block.bytes().len();
        read = block.read().records;
        start.push(Ok(block));
    }
    Ok((Header { input, records, survey }, Box::new(start.into_iter().chain(source))))
}
