//! Reading inputs block by block.

use crate::error::Error;
use crate::records::content::check_start;
use crate::records::source::bytes::Bytes;
use crate::records::source::cut::{FULL_BLOCK_BYTES, TakeLimit};
use crate::records::source::{
    Block, FirstBlock, Input, InputLocation, InputRange, OFFSET_TABLE_SUFFIX, RangeRead,
    RecordCount, SKIPPED_RECORDS, SeekPoint,
};
use crate::storage::compression::Compression;

/// Reads input ranges one after the other, as one sequence of blocks.
pub struct Source {
    ranges: Vec<InputRange>,
    input: usize,
    current: Option<OpenRange>,
    block_records: u64,
    /// Number of the next record over all inputs.
    number: u64,
    records_left: u64,
    /// A block must end where this earlier reading ended.
    boundary: Option<RangeRead>,
}

impl Source {
    /// Reads blocks of `block_records` records. A block has fewer records at the end of a range or if it reaches the
    /// limit of its bytes, and more if its last chunk holds several. No input is opened before the first block is
    /// requested.
    pub fn new(ranges: Vec<InputRange>, block_records: u64) -> Self {
        Self {
            ranges,
            input: 0,
            current: None,
            block_records,
            number: 0,
            records_left: u64::MAX,
            boundary: None,
        }
    }

    /// Sets the number of the first record over all inputs. In a shard it may be above 0.
    #[must_use]
    pub(crate) fn numbered_from(self, number: u64) -> Self {
        Self { number, ..self }
    }

    /// Limits the number of records over all ranges.
    #[must_use]
    pub(crate) fn limited_to(self, records: u64) -> Self {
        Self { records_left: records, ..self }
    }

    /// Ends a block exactly where the reading that `boundary` describes ended, even if the block size has changed since
    /// the checkpoint.
    #[must_use]
    pub(crate) fn with_boundary(self, boundary: Option<RangeRead>) -> Self {
        Self { boundary, ..self }
    }

    /// The next block, in this range or a later one. A range without records yields one empty block.
    pub(crate) fn next_or_empty(&mut self) -> Option<Result<Block, Error>> {
        let block = self.read().transpose();
        if matches!(block, Some(Err(_))) {
            // Reading again from a failed decoder may never return.
            self.current = None;
            self.input = self.ranges.len();
        }
        block
    }

    fn read(&mut self) -> Result<Option<Block>, Error> {
        while let Some(range) = self.ranges.get(self.input) {
            let open_range = match &mut self.current {
                Some(open_range) => open_range,
                none => none.insert(OpenRange::start(range, self.input)?),
            };
            let limit = open_range.block_limit(self.block_records, self.boundary);
            let mut block = open_range.block(range, limit, self.records_left)?;
            let is_last = block.bytes.is_empty();
            if block.first_index == 0 && !is_last {
                check_first(&range.input, &block, self.block_records)?;
            }
            if is_last {
                self.current = None;
                self.input += 1;
            }
            if !is_last || block.read.bytes == 0 {
                let records = block.wanted.end - block.wanted.start;
                block.first_number = self.number;
                self.number += records;
                self.records_left -= records;
                return Ok(Some(block));
            }
        }
        Ok(None)
    }
}

/// Checks the first block against the format in the name, if the input was not sampled.
fn check_first(input: &Input, block: &Block, block_records: u64) -> Result<(), Error> {
    let FirstBlock::Checked { accepts_unreadable } = input.first_block else { return Ok(()) };
    let is_all = block.records().count() < usize::try_from(block_records).unwrap_or(usize::MAX)
        && block.bytes().len() < FULL_BLOCK_BYTES;
    let (name, format) = (&input.name, input.format_name());
    check_start(name, format, block.bytes(), is_all, accepts_unreadable)
}

impl Iterator for Source {
    type Item = Result<Block, Error>;

    /// The next block, in this range or a later one.
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.next_or_empty()? {
                Ok(block) if block.bytes.is_empty() => {}
                block => return Some(block),
            }
        }
    }
}

/// Counts the records of an input. A file of fixed-size records is not read.
///
/// # Errors
/// [`Error`] if the input cannot be read to its end.
pub fn count_records(input: &Input) -> Result<u64, Error> {
    let mut bytes = Bytes::open(input)?;
    if let (Some(size), Some(len)) = (bytes.size(), input.format.record_len()) {
        return Ok(size.div_ceil(len as u64));
    }
    let mut count = 0;
    while let Some(taken) = bytes.take(input, TakeLimit::at_least(SKIPPED_RECORDS))? {
        count += taken.records;
    }
    Ok(count)
}

/// Whether [`count_records`] needs no decompression and does not consume the input.
pub(crate) fn is_cheap_to_count(input: &Input) -> bool {
    match &input.location {
        InputLocation::File(path) if !path.is_file() => false,
        InputLocation::File(_) => {
            input.compression == Compression::None || has_random_access(input)
        }
        // Counting the lines of an object would download it once more.
        InputLocation::Object(_) => has_random_access(input),
        InputLocation::Stdin => false,
    }
}

/// Whether the offset of a record can be computed from its number, and the input is seekable.
pub fn has_random_access(input: &Input) -> bool {
    input.format.record_len().is_some()
        && Bytes::open(input).is_ok_and(|bytes| bytes.size().is_some())
}

pub(crate) struct OpenRange {
    input: usize,
    bytes: Bytes,
    /// Index of the first record of the next chunk.
    index: u64,
    /// Byte offset of the next chunk.
    offset: u64,
    /// Whether the next block starts within a chunk.
    starts_mid_chunk: bool,
    /// The part of the range that has been read.
    read: RangeRead,
}

impl OpenRange {
    fn start(range: &InputRange, number: usize) -> Result<Self, Error> {
        let input = &range.input;
        let mut bytes = Bytes::open(input)?;
        let (mut index, mut offset) = (0, 0);
        // A whole input is read without its frame table, because the table may be wrong.
        if (range.from, range.to) != (0, None)
            && let Some(size) = bytes.size()
        {
            let computed = |len: usize| SeekPoint {
                record: range.from,
                offset: range.from.saturating_mul(len as u64).min(size),
            };
            let start = input.format.record_len().map_or(range.mark, computed);
            let until = range.to.zip(input.format.record_len());
            let until = until.map_or(u64::MAX, |(to, len)| to.saturating_mul(len as u64));
            bytes.seek(input, start.offset, until)?;
            (index, offset) = (start.record, start.offset);
        }
        let mut starts_mid_chunk = false;
        while index < range.from {
            let take_limit = TakeLimit::at_most(range.from - index);
            let Some(skipped) = bytes.take(input, take_limit)? else { break };
            if skipped.bytes.is_empty() {
                // The first wanted record is within the next chunk.
                break;
            }
            index += skipped.records;
            offset += skipped.bytes.len() as u64;
            starts_mid_chunk = skipped.ends_mid_chunk;
        }
        let read = RangeRead { input: number, records: 0, offset, bytes: 0, sha256: None };
        Ok(Self { input: number, bytes, index, offset, starts_mid_chunk, read })
    }

    /// Where the next block ends: after `records` records, or at the boundary if that comes first.
    fn block_limit(&self, records: u64, boundary: Option<RangeRead>) -> TakeLimit {
        let boundary = boundary.filter(|boundary| boundary.input == self.input);
        let bytes = boundary.map_or(0, |boundary| boundary.bytes.saturating_sub(self.read.bytes));
        let bytes =
            usize::try_from(bytes).ok().filter(|&bytes| (1..FULL_BLOCK_BYTES).contains(&bytes));
        TakeLimit { bytes: bytes.unwrap_or(FULL_BLOCK_BYTES), ..TakeLimit::at_least(records) }
    }

    /// The next block. It has the wanted number of records, unless the range ends or the block is full first. It is
    /// empty at the end of the range.
    fn block(
        &mut self,
        range: &InputRange,
        limit: TakeLimit,
        max_records: u64,
    ) -> Result<Block, Error> {
        let from = self.index.max(range.from);
        let to = range.to.unwrap_or(u64::MAX).min(from.saturating_add(max_records)).max(from);
        let taken = if from < to {
            let records = limit.records.min(to - self.index);
            self.bytes.take(&range.input, TakeLimit { records, ..limit })?
        } else {
            None
        };
        if taken.is_none() {
            self.check_end(range, max_records == 0)?;
        }
        let (taken, first_index) = (taken.unwrap_or_default(), self.index);
        self.index += taken.records;
        let mut block = Block {
            input: self.input,
            format: range.input.format,
            dialect: range.input.dialect,
            first_index,
            offset: self.offset,
            first_number: 0,
            wanted: from.min(self.index)..to.min(self.index),
            starts_mid_chunk: std::mem::replace(&mut self.starts_mid_chunk, taken.ends_mid_chunk),
            bytes: taken.bytes,
            read: self.read,
            permit: None,
        };
        self.offset += block.bytes.len() as u64;
        self.read.records += block.wanted.end - block.wanted.start;
        self.read.bytes += block.bytes.len() as u64;
        block.read = self.read;
        Ok(block)
    }

    /// Checks that the input has as many records as were counted. The check is skipped if the caller stopped early. It
    /// is also skipped for an empty range: if the range lies within a game, the next index is not that of the range.
    /// The ranges before and after it are checked.
    fn check_end(&mut self, range: &InputRange, is_limited: bool) -> Result<(), Error> {
        let input = &range.input;
        self.bytes.check_unchanged(input)?;
        let counted = range.counted.filter(|_| !is_limited && !range.is_empty());
        let Some(counted) = counted else { return Ok(()) };
        let RecordCount { records, is_relied_on } = counted;
        let last = range.to.unwrap_or(u64::MAX).min(records).max(range.from);
        let has_more =
            self.index >= last && range.reaches(records) && self.has_more(input, records)?;
        if self.index >= last && !has_more {
            return Ok(());
        }
        let (input, actual) = (&input.name, self.index);
        let error = Error::changed(format!(
            "{input} holds {} records than the {records} stated in its frame table or offset table \
             ({OFFSET_TABLE_SUFFIX}); delete the offset table, or rewrite the file with `kyokumen convert`",
            if actual < records { "fewer" } else { "more" }
        ))
        .in_file(&input);
        if is_relied_on {
            return Err(error);
        }
        tracing::warn!("{error}");
        Ok(())
    }

    /// Whether the input has more than `records` records.
    fn has_more(&mut self, input: &Input, records: u64) -> Result<bool, Error> {
        let more = self.bytes.take(input, TakeLimit::at_least(1))?;
        self.index += more.map_or(0, |more| more.records);
        Ok(self.index > records)
    }
}
