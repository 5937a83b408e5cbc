//! A look into a file of positions: what it is, what its records show of their writer, chosen records.
//!
//! Of a file that can be read at any place a sample from all of it is looked at, of a stream its start.

mod choice;

use std::path::Path;

use self::choice::sampled;

use crate::error::Error;
use crate::format::move16::Dialect;
use crate::format::{Decoded, RecordRef, Survey};
use crate::records::claims::FileClaims;
use crate::records::evidence::{self, PROBE_RECORDS, SAMPLE_RECORDS, take_into};
use crate::records::format_name::FormatName;
use crate::records::opening::{self, Unreadable};
use crate::records::reading::RecordError;
use crate::records::source::{self, Block, Input, InputLocation, InputRange, Source};
use crate::storage::quantity::quantity;

pub use choice::{RecordChoice, RecordRange};

/// If fewer than one record in this many is chosen, each is read by random access. Otherwise the file is read through.
const RECORDS_PER_PLACE: u64 = 1 << 12;

/// The sample of a stream ends after this many bytes, however few records they are.
const SAMPLE_BYTES: usize = 1 << 25;

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
    wanted: Wanted,
    blocks: Blocks,
}

enum Wanted {
    /// With `must_be_there`, a file that ends earlier is an error.
    Range { range: RecordRange, must_be_there: bool },
    /// Ascending.
    Numbers(Vec<u64>),
}

type Blocks = Box<dyn Iterator<Item = Result<Block, Error>>>;

impl Inspection {
    /// Opens a file (`-` is standard input) and looks at a sample.
    ///
    /// # Errors
    /// [`Error`], also if a range is known to go beyond the end.
    pub fn open(
        path: &Path,
        from: Option<FormatName>,
        dialect: Option<Dialect>,
        choice: RecordChoice,
    ) -> Result<Self, Error> {
        let inputs = opening::inputs(&[path.to_owned()], from, dialect, Unreadable::Accepted)?;
        let input = inputs.into_iter().next().ok_or_else(Error::no_input)?;
        FileClaims::reading(std::slice::from_ref(&input))?;
        Self::of(input, choice)
    }

    /// The same for an input that is opened.
    ///
    /// # Errors
    /// [`Error`], also if a range is known to go beyond the end.
    pub fn of(input: Input, choice: RecordChoice) -> Result<Self, Error> {
        let range = match choice {
            RecordChoice::First(count) => RecordRange { from: 0, to: Some(count) },
            RecordChoice::Range(range) => range,
            RecordChoice::Sample { count, seed } => return Self::of_sample(input, count, seed),
        };
        let must_be_there = matches!(choice, RecordChoice::Range(_));
        let wanted = Wanted::Range { range, must_be_there };
        let (header, blocks) = if source::is_cheap_to_count(&input) {
            let records = source::count_records(&input)?;
            let part = InputRange::range(input.clone(), range.from, range.to);
            (Header::of_file(input, records)?, blocks_of(vec![part]))
        } else {
            sample_pipe(input)?
        };
        let inspection = Self { header, wanted, blocks };
        inspection.header.records.map_or(Ok(()), |records| inspection.check(records))?;
        Ok(inspection)
    }

    fn of_sample(input: Input, count: usize, seed: u64) -> Result<Self, Error> {
        if matches!(&input.location, InputLocation::File(path) if path.is_file()) {
            let records = source::count_records(&input)?;
            let numbers = sampled(records, count, seed);
            let are_far_apart = (numbers.len() as u64).saturating_mul(RECORDS_PER_PLACE) < records;
            let ranges = if are_far_apart && source::can_be_computed(&input) {
                let part =
                    |&number: &u64| InputRange::range(input.clone(), number, Some(number + 1));
                numbers.iter().map(part).collect()
            } else {
                vec![InputRange::whole(input.clone())]
            };
            let header = Header::of_file(input, records)?;
            return Ok(Self {
                header,
                wanted: Wanted::Numbers(numbers),
                blocks: blocks_of(ranges),
            });
        }
        Err(Error::usage(format!(
            "{} is read once, and a sample needs the number of its records first; write it to a file, or take --range",
            input.name
        )))
    }

    /// Shows the chosen records one after the other.
    ///
    /// # Errors
    /// [`Error`] if reading fails or the input ends before the range does, or whatever `show`
    /// fails with.
    pub fn for_each<E: From<Error>>(
        mut self,
        mut show: impl FnMut(&InspectedRecord<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut read = None;
        for block in self.blocks.by_ref() {
            for found in found(&block?) {
                read = Some(found.index + 1);
                if self.wanted.is_behind(found.index) {
                    return Ok(());
                }
                if self.wanted.has(found.index) {
                    show(&found)?;
                }
            }
        }
        let records = self.header.records.or(read).unwrap_or(0);
        Ok(self.check(records)?)
    }

    fn check(&self, records: u64) -> Result<(), Error> {
        let Wanted::Range { range, must_be_there: true } = self.wanted else { return Ok(()) };
        let last = range.to.unwrap_or(range.from);
        if range.from > records || last > records {
            let input = self.header.input.name.clone();
            return Err(Error::usage(format!(
                "{input} has {}, numbered from 0: {range} goes beyond that",
                quantity(records, "record")
            )));
        }
        Ok(())
    }
}

impl Wanted {
    fn has(&self, number: u64) -> bool {
        match self {
            Self::Range { range, .. } => {
                range.from <= number && range.to.is_none_or(|to| number < to)
            }
            Self::Numbers(numbers) => numbers.binary_search(&number).is_ok(),
        }
    }

    /// Whether no record from this number on is wanted.
    fn is_behind(&self, number: u64) -> bool {
        match self {
            Self::Range { range, .. } => range.to.is_some_and(|to| number >= to),
            Self::Numbers(numbers) => numbers.last().is_none_or(|&last| number > last),
        }
    }
}

impl Header {
    fn of_file(input: Input, records: u64) -> Result<Self, Error> {
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

fn found(block: &Block) -> impl Iterator<Item = InspectedRecord<'_>> {
    block.wanted_records().map(|Decoded { index, chunk, record }| InspectedRecord {
        index,
        offset: block.offset + chunk.offset,
        bytes: chunk.bytes,
        record: record.map_err(RecordError::from),
    })
}

/// Reads the start of a stream. The blocks returned begin with what was read.
fn sample_pipe(input: Input) -> Result<(Header, Blocks), Error> {
    let part = InputRange::whole(input.clone());
    let mut source = Source::new(vec![part], PROBE_RECORDS);
    let mut survey = Survey::default();
    let mut start = Vec::new();
    let (mut records, mut read, mut bytes) = (None, 0, 0);
    while survey.records < SAMPLE_RECORDS && bytes < SAMPLE_BYTES {
        let Some(block) = source.next().transpose()? else {
            records = Some(read);
            break;
        };
        take_into(&mut survey, &block);
        bytes += block.bytes().len();
        read = block.read().records;
        start.push(Ok(block));
    }
    Ok((Header { input, records, survey }, Box::new(start.into_iter().chain(source))))
}
