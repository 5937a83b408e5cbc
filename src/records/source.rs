//! Where records come from: files, standard input, compressed streams, cut into blocks of whole units.
//!
//! Block and record boundaries depend on the bytes alone, never on how they arrive, so that every way of
//! reading the same data gives the same blocks.

mod bytes;
mod checksummed;
mod cut;
mod decompression;
mod frames;
mod index;
mod room;
mod skip;

use crate::storage::compression::Compression;
use std::ffi::OsStr;
use std::fs::Metadata;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use self::bytes::Bytes;
use self::cut::{Reach, is_cut_piece, unit_end};
use self::room::Share;
use crate::format::move16::Dialect;
use crate::format::{Format, Survey};
use crate::records::format_name::{FormatName, without_compression};
use crate::storage::checksum::Sum;
use crate::storage::files;
use crate::storage::files::State;

pub use crate::storage::objects::Object;

pub(crate) use self::checksummed::Checksummed;
pub use self::cut::{MAX_GROUP_BYTES, MAX_LINE_BYTES};
pub use self::decompression::MOST_WINDOW_MIB;
pub use self::index::{INDEX_SUFFIX, Index, Mark};
pub(crate) use self::room::{Room, Within};
pub(crate) use self::skip::Skipping;

/// Records that are passed over at a time.
const SKIPPED_RECORDS: u64 = 1 << 10;

/// One input, as it was given.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Input {
    /// The name on the command line; `-` for standard input.
    pub name: String,
    /// Where the bytes are.
    pub place: Place,
    /// Format of the records.
    pub format: Format,
    /// How its packed moves are encoded.
    pub dialect: Dialect,
    /// How the bytes are compressed.
    pub compression: Compression,
    /// What a sample of its records shows, if one was looked at.
    pub evidence: Option<Box<Survey>>,
}

/// Where the bytes of an input are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Place {
    /// Standard input.
    Stdin,
    /// A file.
    File(PathBuf),
    /// An object of a store.
    Object(Object),
}

impl Place {
    /// What is there at the moment; of an object, what was there when it was looked at first. None of
    /// standard input, of pipes and of what cannot be looked at.
    pub(crate) fn state(&self) -> Option<State> {
        match self {
            Self::Stdin => None,
            Self::File(path) => {
                let metadata = path.metadata().ok();
                metadata.filter(Metadata::is_file).map(|metadata| State::of(&metadata))
            }
            Self::Object(object) => object.state().ok().cloned(),
        }
    }

    /// Whether it can be measured before it is read, and read again: a pipe or a device cannot. What is not
    /// there is told where it is opened.
    pub(crate) fn can_be_read_again(&self) -> bool {
        match self {
            Self::Stdin => false,
            Self::File(path) => path.is_file() || path.is_dir() || !path.exists(),
            Self::Object(_) => true,
        }
    }

    /// Its last name, without the folder; none of standard input.
    pub(crate) fn file_name(&self) -> Option<&OsStr> {
        match self {
            Self::Stdin => None,
            Self::File(path) => path.file_name(),
            Self::Object(object) => Path::new(object.url()).file_name(),
        }
    }
}

impl Input {
    /// The input of this name, `-` for standard input, in this format. A compressed file says so in its
    /// name, whatever is said about the records inside.
    pub fn named(path: &Path, format: FormatName) -> Self {
        let name = path.to_string_lossy().into_owned();
        let by_name = without_compression(&name).1;
        let place = match &*name {
            "-" => Place::Stdin,
            url if files::is_object(path) => Place::Object(Object::named(url)),
            _ => Place::File(path.to_owned()),
        };
        let FormatName { format, compression } = format;
        let compression = if compression == Compression::None { by_name } else { compression };
        Self { name, place, format, dialect: format.dialect(), compression, evidence: None }
    }

    /// What it is called in a sentence.
    pub(crate) fn said(&self) -> String {
        let is_stdin = self.place == Place::Stdin;
        if is_stdin { "standard input".to_owned() } else { self.name.clone() }
    }
}

/// Why an input could not be read to its end.
#[derive(Debug, Error)]
pub enum SourceError {
    /// It could not be opened.
    #[error("cannot open {input}")]
    Open {
        /// Name of the input.
        input: String,
        /// What the system says.
        source: io::Error,
    },
    /// Reading or decompressing failed.
    #[error("cannot read {input} after byte {offset}")]
    Read {
        /// Name of the input.
        input: String,
        /// Bytes of records, uncompressed, that had been read.
        offset: u64,
        /// What the system or the decompressor says.
        source: io::Error,
    },
    /// It is not what an interrupted run read.
    #[error("{input} is not what the interrupted run read; start afresh with --force")]
    NotAsLeft {
        /// Name of the input.
        input: String,
    },
    /// It was counted wrong.
    #[error(
        "{input} holds {} records than the {counted} that its table of frames or its {INDEX_SUFFIX} says; \
         remove the index, or write the file anew with `kyokumen convert`",
        if found < counted { "fewer" } else { "more" }
    )]
    Count {
        /// Name of the input.
        input: String,
        /// Records it should hold.
        counted: u64,
        /// Records up to the place in which that showed.
        found: u64,
    },
    /// Somebody wrote to it meanwhile.
    #[error("{input} changed while it was read")]
    Changed {
        /// Name of the input.
        input: String,
    },
}

impl SourceError {
    /// Whether the system refused, as opposed to what is wrong with the input.
    pub(crate) fn is_of_system(&self) -> bool {
        match self {
            Self::Open { source, .. } | Self::Read { source, .. } => {
                source.raw_os_error().is_some()
            }
            Self::NotAsLeft { .. } | Self::Count { .. } | Self::Changed { .. } => false,
        }
    }
}

/// Which records of an input are wanted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    /// The input.
    pub input: Input,
    /// Index of the first record wanted.
    pub from: u64,
    /// Index behind the last record wanted; `None` for all there are.
    pub to: Option<u64>,
    /// A record at or before the first one wanted, whose place is known.
    pub mark: Mark,
    /// How many records the whole input has, if they were counted.
    pub counted: Option<Counted>,
}

/// How many records an input has, as they were counted before they are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Counted {
    /// The number.
    pub records: u64,
    /// Whether it says where others begin to read: a wrong one is an error then, and else a warning.
    pub is_relied_on: bool,
}

impl Part {
    /// All of an input.
    pub const fn whole(input: Input) -> Self {
        Self::range(input, 0, None)
    }

    /// Some records of an input, of which nobody knows where they are.
    pub const fn range(input: Input, from: u64, to: Option<u64>) -> Self {
        Self { input, from, to, mark: Mark { record: 0, offset: 0 }, counted: None }
    }

    /// Index behind the last record wanted, where that is known.
    pub fn end(&self) -> Option<u64> {
        self.to.or(self.counted.map(|counted| counted.records))
    }

    /// Whether the last of so many records of the input is among those wanted; or there is none at all.
    fn reaches(&self, counted: u64) -> bool {
        self.to.is_none_or(|to| to >= counted) && (self.from < counted || counted == 0)
    }
}

/// Consecutive units of one input.
#[derive(Debug)]
pub struct Block {
    /// Which of the parts, from 0.
    pub part: usize,
    /// Format of the records.
    pub format: Format,
    /// How packed moves are encoded.
    pub dialect: Dialect,
    /// Index, within its input, of the first record of the first unit.
    pub first_index: u64,
    /// Offset of the first unit within its input, uncompressed.
    pub offset: u64,
    /// Number, over all inputs, of the first record that is wanted.
    pub first_number: u64,
    /// Indices of the records that are wanted. A group may hold others, of which this block speaks not.
    pub wanted: Range<u64>,
    /// Whether the first unit continues one that was too long.
    starts_mid_unit: bool,
    bytes: Vec<u8>,
    /// What was read of the input up to its end.
    read: PartRead,
    /// The room that its bytes take, where that is bounded.
    share: Option<Share>,
}

/// What the source delivers, in order.
#[derive(Debug)]
pub enum Delivery {
    /// The next records.
    Block(Block),
    /// A part was read to its end.
    End(PartRead),
}

/// What was read of one input.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PartRead {
    /// Which of the parts, from 0.
    pub part: usize,
    /// Records read.
    pub records: u64,
    /// Offset of the first byte read, uncompressed.
    pub offset: u64,
    /// Bytes read, uncompressed.
    pub bytes: u64,
    /// SHA-256 of these bytes, if it was asked for: a [`Source`] by itself makes none.
    pub sha256: Option<Sum>,
}

/// The bytes of one unit, not yet understood.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RawUnit<'a> {
    /// All its bytes, the line end of a text included.
    pub bytes: &'a [u8],
    /// Offset within the block.
    pub offset: u64,
    /// Whether this is a piece of a unit longer than the most that is read at once.
    pub is_cut: bool,
}

impl<'a> RawUnit<'a> {
    /// Appends the bytes as they are. The last unit of a file may lack its end; what follows must not
    /// join it.
    pub fn copy(&self, format: Format, out: &mut Vec<u8>) {
        format.copy_unit(self.bytes, out);
    }

    /// The bytes without the line end of a text whose lines are units.
    pub fn without_line_end(&self, format: Format) -> &'a [u8] {
        if !format.is_lines() {
            return self.bytes;
        }
        let line = self.bytes.strip_suffix(b"\n").unwrap_or(self.bytes);
        line.strip_suffix(b"\r").unwrap_or(line)
    }
}

impl Block {
    /// Bytes of all its units.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What was read of the input up to the end of this block.
    pub const fn read(&self) -> PartRead {
        self.read
    }

    /// Number over all inputs of a record with this index.
    pub const fn number_of(&self, index: u64) -> u64 {
        (self.first_number + index).saturating_sub(self.wanted.start)
    }

    /// What follows a unit of this block, as far as it was read.
    pub(crate) fn behind(&self, unit: &RawUnit<'_>) -> &[u8] {
        let end =
            usize::try_from(unit.offset).unwrap_or(usize::MAX).saturating_add(unit.bytes.len());
        self.bytes.get(end..).unwrap_or_default()
    }

    /// Its units, in order.
    pub fn units(&self) -> Units<'_> {
        Units { block: self, at: 0, mid_unit: self.starts_mid_unit }
    }
}

/// The units of a block.
#[derive(Clone, Debug)]
pub struct Units<'a> {
    block: &'a Block,
    at: usize,
    mid_unit: bool,
}

impl<'a> Iterator for Units<'a> {
    type Item = RawUnit<'a>;

    #[inline]
    fn next(&mut self) -> Option<RawUnit<'a>> {
        let (format, offset) = (self.block.format, self.at as u64);
        let rest = self.block.bytes.get(self.at..).filter(|rest| !rest.is_empty())?;
        if let Some(len) = format.record_len() {
            let bytes = &rest[..len.min(rest.len())];
            self.at += bytes.len();
            return Some(RawUnit { bytes, offset, is_cut: false });
        }
        let bytes = &rest[..unit_end(format, rest, true).unwrap_or(rest.len())];
        let goes_on = is_cut_piece(format, bytes);
        let is_cut = std::mem::replace(&mut self.mid_unit, goes_on) || goes_on;
        self.at += bytes.len();
        Some(RawUnit { bytes, offset, is_cut })
    }
}

/// Reads parts one after the other as if they were one.
pub struct Source {
    parts: Vec<Part>,
    part: usize,
    current: Option<Reading>,
    block_records: u64,
    /// Number, over all inputs, of the next record.
    number: u64,
    records_left: u64,
}

impl Source {
    /// Blocks of `block_records` records, fewer at the end of a part or where a block is full before, more
    /// where a unit holds several. Nothing is opened before the first one is asked for.
    pub fn new(parts: Vec<Part>, block_records: u64) -> Self {
        Self { parts, part: 0, current: None, block_records, number: 0, records_left: u64::MAX }
    }

    /// The same, but the first record is not number 0 over all inputs: it is that of a shard.
    #[must_use]
    pub fn numbered_from(self, number: u64) -> Self {
        Self { number, ..self }
    }

    /// The same, but no more than this many records over all parts.
    #[must_use]
    pub fn limited_to(self, records: u64) -> Self {
        Self { records_left: records, ..self }
    }

    fn deliver(&mut self) -> Result<Option<Delivery>, SourceError> {
        let Some(part) = self.parts.get(self.part) else { return Ok(None) };
        let reading = match &mut self.current {
            Some(reading) => reading,
            none => none.insert(Reading::start(part, self.part)?),
        };
        let block = reading.block(part, self.block_records, self.records_left)?;
        if let Some(mut block) = block {
            let records = block.wanted.end - block.wanted.start;
            block.first_number = self.number;
            self.number += records;
            self.records_left -= records;
            return Ok(Some(Delivery::Block(block)));
        }
        let end = reading.end(part, self.records_left == 0)?;
        self.current = None;
        self.part += 1;
        Ok(Some(Delivery::End(end)))
    }
}

impl Iterator for Source {
    type Item = Result<Delivery, SourceError>;

    fn next(&mut self) -> Option<Self::Item> {
        let delivery = self.deliver().transpose();
        if matches!(delivery, Some(Err(_))) {
            // A decoder that has failed may, read again, never come back.
            self.current = None;
            self.part = self.parts.len();
        }
        delivery
    }
}

/// Counts the records of an input. A file of fixed-size records is not read for it.
///
/// # Errors
/// [`SourceError`] if the input cannot be read to its end.
pub fn count_records(input: &Input) -> Result<u64, SourceError> {
    let mut bytes = Bytes::open(input)?;
    if let (Some(size), Some(len)) = (bytes.size(), input.format.record_len()) {
        return Ok(size.div_ceil(len as u64));
    }
    let mut count = 0;
    while let Some(taken) = bytes.take(input, Reach::AtLeast(SKIPPED_RECORDS))? {
        count += taken.records;
    }
    Ok(count)
}

/// Whether [`count_records`] needs no decompression and does not consume the input.
pub fn is_cheap_to_count(input: &Input) -> bool {
    match &input.place {
        Place::File(path) if !path.is_file() => false,
        Place::File(_) => input.compression == Compression::None || can_be_computed(input),
        // To count the lines of an object is to carry it once more.
        Place::Object(_) => can_be_computed(input),
        Place::Stdin => false,
    }
}

/// Whether the place of a record follows from its number, and can be gone to.
pub fn can_be_computed(input: &Input) -> bool {
    input.format.record_len().is_some()
        && Bytes::open(input).is_ok_and(|bytes| bytes.size().is_some())
}

/// One part being read.
struct Reading {
    part: usize,
    bytes: Bytes,
    /// Index of the first record of the next unit.
    index: u64,
    offset: u64,
    mid_unit: bool,
    done: PartRead,
}

impl Reading {
    fn start(part: &Part, number: usize) -> Result<Self, SourceError> {
        let input = &part.input;
        let mut bytes = Bytes::open(input)?;
        let (mut index, mut offset) = (0, 0);
        // All of it is read without a table of frames, which may be wrong.
        if (part.from, part.to) != (0, None)
            && let Some(size) = bytes.size()
        {
            let computed = |len: usize| Mark {
                record: part.from,
                offset: part.from.saturating_mul(len as u64).min(size),
            };
            let mark = input.format.record_len().map_or(part.mark, computed);
            let until = part.to.zip(input.format.record_len());
            let until = until.map_or(u64::MAX, |(to, len)| to.saturating_mul(len as u64));
            bytes.go_to(input, mark.offset, until)?;
            (index, offset) = (mark.record, mark.offset);
        }
        let mut mid_unit = false;
        while index < part.from {
            let reach = Reach::AtMost(part.from - index);
            let Some(skipped) = bytes.take(input, reach)? else { break };
            if skipped.bytes.is_empty() {
                // The first record wanted is within the next unit.
                break;
            }
            index += skipped.records;
            offset += skipped.bytes.len() as u64;
            mid_unit = skipped.ends_mid_unit;
        }
        let done = PartRead { part: number, records: 0, offset, bytes: 0, sha256: None };
        Ok(Self { part: number, bytes, index, offset, mid_unit, done })
    }

    /// The next records, as many as wanted unless the part ends or the block is full before.
    fn block(&mut self, part: &Part, wanted: u64, most: u64) -> Result<Option<Block>, SourceError> {
        let from = self.index.max(part.from);
        let to = part.to.unwrap_or(u64::MAX).min(from.saturating_add(most));
        if from >= to {
            return Ok(None);
        }
        let reach = Reach::AtLeast(wanted.min(to - self.index));
        let Some(taken) = self.bytes.take(&part.input, reach)? else { return Ok(None) };
        let first_index = self.index;
        self.index += taken.records;
        let mut block = Block {
            part: self.part,
            format: part.input.format,
            dialect: part.input.dialect,
            first_index,
            offset: self.offset,
            first_number: 0,
            wanted: from.min(self.index)..to.min(self.index),
            starts_mid_unit: std::mem::replace(&mut self.mid_unit, taken.ends_mid_unit),
            bytes: taken.bytes,
            read: self.done,
            share: None,
        };
        self.offset += block.bytes.len() as u64;
        self.done.records += block.wanted.end - block.wanted.start;
        self.done.bytes += block.bytes.len() as u64;
        block.read = self.done;
        Ok(Some(block))
    }

    /// What was read, once it is clear that nothing was left out. Of records that nobody wants any more
    /// that is not asked.
    fn end(&mut self, part: &Part, is_limited: bool) -> Result<PartRead, SourceError> {
        let input = &part.input;
        self.bytes.still_as_opened(input)?;
        let Some(counted) = part.counted.filter(|_| !is_limited) else { return Ok(self.done) };
        let Counted { records, is_relied_on } = counted;
        let last = part.to.unwrap_or(u64::MAX).min(records).max(part.from);
        let goes_on =
            self.index >= last && part.reaches(records) && self.goes_on(input, records)?;
        if self.index >= last && !goes_on {
            return Ok(self.done);
        }
        let (input, found) = (input.name.clone(), self.index);
        let error = SourceError::Count { input, counted: records, found };
        if is_relied_on {
            return Err(error);
        }
        tracing::warn!("{error}");
        Ok(self.done)
    }

    /// Whether there are more records in the input than so many.
    fn goes_on(&mut self, input: &Input, records: u64) -> Result<bool, SourceError> {
        let more = self.bytes.take(input, Reach::AtLeast(1))?;
        self.index += more.map_or(0, |more| more.records);
        Ok(self.index > records)
    }
}
