//! Where records come from: memory maps, standard input, zstd streams, cut into blocks of raw records.
//!
//! Block and record boundaries depend on the bytes alone, never on how they arrive, so that every way of
//! reading the same data gives the same blocks.

#![expect(unsafe_code, reason = "memory maps; each block states its proof")]

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use memmap2::Mmap;
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::format::Format;

/// Records that are passed over at a time on the way to the first one wanted.
const SKIPPED_RECORDS: u64 = 1 << 10;

/// A text line longer than this is cut into records of this many bytes, all of them bad: memory stays
/// bounded and no byte is lost. A position with every field takes some 200 bytes.
pub const MAX_LINE_BYTES: usize = 1 << 16;

/// A block is closed when it has this many bytes, however few records they are.
const FULL_BLOCK_BYTES: usize = 1 << 20;

/// One input, as it was given.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Input {
    /// The name on the command line; `-` for standard input.
    pub name: String,
    /// Where the bytes are.
    pub place: Place,
    /// Format of the records.
    pub format: Format,
    /// Whether the bytes are a zstd stream.
    pub is_zstd: bool,
}

/// Where the bytes of an input are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Place {
    /// Standard input.
    Stdin,
    /// A file.
    File(PathBuf),
}

/// Why an input could not be read to its end.
#[derive(Debug, Error)]
pub enum SourceError {
    /// It could not be opened or mapped.
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
    /// Somebody wrote to it meanwhile.
    #[error("{input} changed while it was read")]
    Changed {
        /// Name of the input.
        input: String,
    },
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
}

/// Consecutive records of one input.
#[derive(Debug)]
pub struct Block {
    /// Which of the parts, from 0.
    pub part: usize,
    /// Format of the records.
    pub format: Format,
    /// Index of the first record within its input.
    pub first_index: u64,
    /// Offset of the first record within its input, uncompressed.
    pub offset: u64,
    /// Whether the first record continues a line that was too long.
    starts_mid_line: bool,
    content: Content,
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
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PartRead {
    /// Which of the parts, from 0.
    pub part: usize,
    /// Records read.
    pub records: u64,
    /// Offset of the first byte read, uncompressed.
    pub offset: u64,
    /// Bytes read, uncompressed.
    pub bytes: u64,
    /// SHA-256 of these bytes.
    pub sha256: [u8; 32],
}

/// The bytes of one record, not yet understood.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RawRecord<'a> {
    /// All bytes of the record, the line end of a text included.
    pub bytes: &'a [u8],
    /// Offset within the block.
    pub offset: u64,
    /// Whether this is a piece of a line longer than [`MAX_LINE_BYTES`].
    pub is_cut: bool,
}

impl<'a> RawRecord<'a> {
    /// The bytes without the line end of a text.
    pub fn without_line_end(&self, format: Format) -> &'a [u8] {
        if format.record_len().is_some() {
            return self.bytes;
        }
        let line = self.bytes.strip_suffix(b"\n").unwrap_or(self.bytes);
        line.strip_suffix(b"\r").unwrap_or(line)
    }
}

#[derive(Debug)]
enum Content {
    Mapped { map: Arc<Mmap>, range: Range<usize> },
    Owned(Vec<u8>),
}

impl Block {
    /// Bytes of all its records.
    pub fn bytes(&self) -> &[u8] {
        &self.content
    }

    /// Its records, in order.
    pub fn records(&self) -> impl Iterator<Item = RawRecord<'_>> {
        let bytes = self.bytes();
        let mut at = 0;
        let mut mid_line = self.starts_mid_line;
        std::iter::from_fn(move || {
            let rest = bytes.get(at..).filter(|rest| !rest.is_empty())?;
            let record = &rest[..record_end(self.format, rest)];
            let goes_on = is_cut_piece(self.format, record);
            let raw = RawRecord { bytes: record, offset: at as u64, is_cut: mid_line || goes_on };
            at += record.len();
            mid_line = goes_on;
            Some(raw)
        })
    }
}

/// Reads parts one after the other as if they were one.
pub struct Source {
    parts: Vec<Part>,
    part: usize,
    current: Option<Reading>,
    block_records: u64,
    records_left: u64,
}

impl Source {
    /// Blocks of `block_records` records, fewer at the end of a part. Nothing is opened before the first
    /// one is asked for.
    pub fn new(parts: Vec<Part>, block_records: u64) -> Self {
        Self { parts, part: 0, current: None, block_records, records_left: u64::MAX }
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
        let wanted = self.block_records.min(self.records_left);
        if let Some((block, records)) = reading.block(part, wanted)? {
            self.records_left -= records;
            return Ok(Some(Delivery::Block(block)));
        }
        let end = reading.end(part)?;
        self.current = None;
        self.part += 1;
        Ok(Some(Delivery::End(end)))
    }
}

impl Iterator for Source {
    type Item = Result<Delivery, SourceError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.deliver().transpose()
    }
}

/// Counts the records of an input. A file of fixed-size records is not read for it.
///
/// # Errors
/// [`SourceError`] if the input cannot be read to its end.
pub fn count_records(input: &Input) -> Result<u64, SourceError> {
    let mut bytes = Bytes::open(input)?;
    if let (Bytes::Mapped { map, .. }, Some(len)) = (&bytes, input.format.record_len()) {
        return Ok(map.len().div_ceil(len) as u64);
    }
    let mut count = 0;
    while let Some((_, records)) = bytes.take(input, 1 << 12)? {
        count += records;
    }
    Ok(count)
}

/// Whether [`count_records`] needs no decompression and does not consume the input.
pub fn is_cheap_to_count(input: &Input) -> bool {
    match &input.place {
        Place::File(path) => !input.is_zstd && path.is_file(),
        Place::Stdin => false,
    }
}

/// One part being read.
struct Reading {
    part: usize,
    bytes: Bytes,
    index: u64,
    offset: u64,
    mid_line: bool,
    done: PartRead,
    digest: Sha256,
}

impl Reading {
    fn start(part: &Part, number: usize) -> Result<Self, SourceError> {
        let mut bytes = Bytes::open(&part.input)?;
        let (mut index, mut offset, mut mid_line) = (0, 0, false);
        if let (Bytes::Mapped { map, at, .. }, Some(len)) =
            (&mut bytes, part.input.format.record_len())
        {
            *at = usize::try_from(part.from)
                .map_or(map.len(), |from| from.saturating_mul(len).min(map.len()));
            (index, offset) = (part.from, *at as u64);
        }
        while index < part.from {
            let wanted = (part.from - index).min(SKIPPED_RECORDS);
            let Some((skipped, records)) = bytes.take(&part.input, wanted)? else { break };
            index += records;
            offset += skipped.len() as u64;
            mid_line = ends_mid_line(part.input.format, &skipped);
        }
        let done = PartRead { part: number, records: 0, offset, bytes: 0, sha256: [0; 32] };
        Ok(Self { part: number, bytes, index, offset, mid_line, done, digest: Sha256::new() })
    }

    /// The next records, as many as wanted unless the part ends or the block is full before, and their number.
    fn block(&mut self, part: &Part, wanted: u64) -> Result<Option<(Block, u64)>, SourceError> {
        let wanted = part.to.map_or(wanted, |to| to.saturating_sub(self.index).min(wanted));
        if wanted == 0 {
            return Ok(None);
        }
        let Some((content, records)) = self.bytes.take(&part.input, wanted)? else {
            return Ok(None);
        };
        let block = Block {
            part: self.part,
            format: part.input.format,
            first_index: self.index,
            offset: self.offset,
            starts_mid_line: self.mid_line,
            content,
        };
        let bytes = block.bytes();
        self.digest.update(bytes);
        self.mid_line = ends_mid_line(part.input.format, bytes);
        self.index += records;
        self.offset += bytes.len() as u64;
        self.done.records += records;
        self.done.bytes += bytes.len() as u64;
        Ok(Some((block, records)))
    }

    fn end(&mut self, part: &Part) -> Result<PartRead, SourceError> {
        self.bytes.still_as_opened(&part.input)?;
        self.done.sha256 = std::mem::take(&mut self.digest).finalize().into();
        Ok(self.done.clone())
    }
}

/// The bytes of an opened input.
enum Bytes {
    Mapped { map: Arc<Mmap>, at: usize, file: File, opened: std::fs::Metadata },
    Stream { reader: Box<dyn Read + Send>, buffer: Vec<u8>, at_end: bool, offset: u64 },
}

impl Bytes {
    fn open(input: &Input) -> Result<Self, SourceError> {
        Self::try_open(input)
            .map_err(|source| SourceError::Open { input: input.name.clone(), source })
    }

    fn try_open(input: &Input) -> io::Result<Self> {
        let reader: Box<dyn Read + Send> = match &input.place {
            Place::Stdin => Box::new(io::stdin()),
            Place::File(path) => {
                let file = File::open(path)?;
                let opened = file.metadata()?;
                if opened.is_dir() {
                    return Err(io::ErrorKind::IsADirectory.into());
                }
                if opened.is_file() && opened.len() > 0 && !input.is_zstd {
                    return Self::map(file, opened);
                }
                Box::new(file)
            }
        };
        let reader = if input.is_zstd { Box::new(zstd::Decoder::new(reader)?) } else { reader };
        Ok(Self::Stream { reader, buffer: Vec::new(), at_end: false, offset: 0 })
    }

    fn map(file: File, opened: std::fs::Metadata) -> io::Result<Self> {
        // SAFETY: the map is read-only and its bytes are only ever read as `u8`, for which any value is
        // valid. Another process that writes to the file meanwhile can change what is read, which
        // `still_as_opened` reports before anything gets a final name; one that shortens it ends us with
        // a signal, which leaves no file under a final name either.
        let map = unsafe { Mmap::map(&file)? };
        #[cfg(unix)]
        map.advise(memmap2::Advice::Sequential)?;
        Ok(Self::Mapped { map: Arc::new(map), at: 0, file, opened })
    }

    /// The next records, as many as wanted unless the input ends or the block is full before; `None` at
    /// the end.
    fn take(&mut self, input: &Input, wanted: u64) -> Result<Option<(Content, u64)>, SourceError> {
        match self {
            Self::Mapped { map, at, .. } => {
                let rest = &map[*at..];
                let cut = cut(input.format, rest, wanted, true).filter(|cut| cut.bytes > 0);
                Ok(cut.map(|cut| {
                    let range = *at..*at + cut.bytes;
                    *at = range.end;
                    (Content::Mapped { map: Arc::clone(map), range }, cut.records)
                }))
            }
            Self::Stream { reader, buffer, at_end, offset } => loop {
                if let Some(cut) = cut(input.format, buffer, wanted, *at_end) {
                    if cut.bytes == 0 {
                        return Ok(None);
                    }
                    let rest = buffer.split_off(cut.bytes);
                    let block = std::mem::replace(buffer, rest);
                    *offset += block.len() as u64;
                    return Ok(Some((Content::Owned(block), cut.records)));
                }
                *at_end = read_more(reader, buffer).map_err(|source| SourceError::Read {
                    input: input.name.clone(),
                    offset: *offset + buffer.len() as u64,
                    source,
                })?;
            },
        }
    }

    /// Size and time of modification of a mapped file are those of the moment it was opened.
    fn still_as_opened(&self, input: &Input) -> Result<(), SourceError> {
        let Self::Mapped { file, opened, .. } = self else { return Ok(()) };
        let open_error = |source| SourceError::Open { input: input.name.clone(), source };
        let now = file.metadata().map_err(open_error)?;
        let is_same = now.len() == opened.len() && now.modified().ok() == opened.modified().ok();
        if is_same { Ok(()) } else { Err(SourceError::Changed { input: input.name.clone() }) }
    }
}

impl std::ops::Deref for Content {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Mapped { map, range } => &map[range.clone()],
            Self::Owned(bytes) => bytes,
        }
    }
}

/// Appends what the reader has at hand; whether it has ended.
fn read_more(reader: &mut dyn Read, buffer: &mut Vec<u8>) -> io::Result<bool> {
    const CHUNK_BYTES: u64 = 1 << 14;
    let before = buffer.len();
    reader.take(CHUNK_BYTES).read_to_end(buffer)?;
    Ok(buffer.len() == before)
}

struct Cut {
    bytes: usize,
    records: u64,
}

/// Where the first `wanted` records end, or those that fill a block, or all there are `at_end`; `None` if
/// more bytes are needed to say.
fn cut(format: Format, bytes: &[u8], wanted: u64, at_end: bool) -> Option<Cut> {
    let mut cut = Cut { bytes: 0, records: 0 };
    while cut.records < wanted && cut.bytes < FULL_BLOCK_BYTES {
        let rest = &bytes[cut.bytes..];
        if rest.is_empty() || !(at_end || is_whole(format, rest)) {
            return at_end.then_some(cut);
        }
        cut.bytes += record_end(format, rest);
        cut.records += 1;
    }
    Some(cut)
}

/// Whether the first record is there to its end whatever follows.
fn is_whole(format: Format, bytes: &[u8]) -> bool {
    match format.record_len() {
        Some(len) => bytes.len() >= len,
        None => bytes.len() >= MAX_LINE_BYTES || memchr::memchr(b'\n', bytes).is_some(),
    }
}

/// Where the first record ends if nothing follows.
fn record_end(format: Format, bytes: &[u8]) -> usize {
    if let Some(len) = format.record_len() {
        return bytes.len().min(len);
    }
    let line = &bytes[..bytes.len().min(MAX_LINE_BYTES)];
    memchr::memchr(b'\n', line).map_or(line.len(), |end| end + 1)
}

/// Whether a record is a piece of a longer line that goes on behind it.
fn is_cut_piece(format: Format, record: &[u8]) -> bool {
    format.record_len().is_none() && record.len() == MAX_LINE_BYTES && !record.ends_with(b"\n")
}

/// Whether the last record of a block is a piece of a line that goes on.
fn ends_mid_line(format: Format, block: &[u8]) -> bool {
    if format.record_len().is_some() || block.len() < MAX_LINE_BYTES || block.ends_with(b"\n") {
        return false;
    }
    let line_start = memchr::memrchr(b'\n', block).map_or(0, |end| end + 1);
    // Pieces are counted from the start of the line or, in a later block of it, from the block's start.
    (block.len() - line_start).is_multiple_of(MAX_LINE_BYTES)
}
