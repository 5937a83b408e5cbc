//! Reads files, objects and standard input, compressed or not, and divides them into blocks of whole chunks.
//!
//! Block and record boundaries depend only on the bytes, not on the sizes of single reads. So every way of reading the
//! same data gives the same blocks.

mod blocks;
mod bytes;
mod cut;
mod decompression;
mod frames;
mod input;
mod input_range;
mod offset_table;
mod stages;
mod xz;

use std::ops::Range;

use crate::format::move16::Dialect;
use crate::format::{Chunks, DecodeError, Decoded, Decoder, Format, RawChunk, RecordRef};

pub(crate) use self::bytes::open_sequential;
pub use self::decompression::MAX_WINDOW_MIB;
pub(crate) use self::frames::FrameReader;
pub use self::offset_table::OffsetTable;
pub(crate) use self::stages::{DeliveredBlocks, MemoryBudget, MemoryPermit};
pub use crate::storage::objects::Object;
pub(crate) use blocks::is_cheap_to_count;
pub use blocks::{Source, count_records, has_random_access};
pub(crate) use input::SKIPPED_RECORDS;
pub use input::{FirstBlock, Input, InputLocation};
pub(crate) use input_range::OFFSET_TABLE_SUFFIX;
pub use input_range::{InputRange, RangeRead, RecordCount, SeekPoint};

/// Consecutive chunks of one input.
#[derive(Debug)]
pub struct Block {
    /// Index of the input range, from 0.
    pub input: usize,
    /// Format of the records.
    pub format: Format,
    /// Move encoding.
    pub dialect: Dialect,
    /// Index of the first record of the first chunk in its input.
    pub first_index: u64,
    /// Offset of the first chunk in its input, uncompressed.
    pub offset: u64,
    /// Number of the first wanted record over all inputs.
    pub first_number: u64,
    /// Indices of the wanted records. The chunks may contain other records, which are not processed.
    pub wanted: Range<u64>,
    /// Whether the first chunk continues one that was too long.
    pub(crate) starts_mid_chunk: bool,
    pub(crate) bytes: Vec<u8>,
    /// How much of the input range was read up to the end of this block.
    pub(crate) read: RangeRead,
    /// Memory permit for the bytes. `None` if memory is not limited.
    pub(crate) permit: Option<MemoryPermit>,
}

impl Block {
    /// Bytes of all chunks.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// How much of the input range was read up to the end of this block.
    pub const fn read(&self) -> RangeRead {
        self.read
    }

    /// Number over all inputs of the record with this index.
    pub(crate) const fn number_of(&self, index: u64) -> u64 {
        (self.first_number + index).saturating_sub(self.wanted.start)
    }

    /// The bytes of this block after a chunk.
    pub(crate) fn bytes_after(&self, chunk: &RawChunk<'_>) -> &[u8] {
        let end =
            usize::try_from(chunk.offset).unwrap_or(usize::MAX).saturating_add(chunk.bytes.len());
        self.bytes.get(end..).unwrap_or_default()
    }

    /// The chunks, in order.
    pub fn chunks(&self) -> Chunks<'_> {
        Chunks::new(self.format, &self.bytes, self.starts_mid_chunk)
    }

    /// All records, wanted or not, in order.
    pub fn records(&self) -> Decoder<'_> {
        Decoder::of_chunks(self.chunks(), self.dialect, self.first_index)
    }

    /// All records of a chunk, wanted or not.
    pub(crate) fn records_in<'a>(
        &self,
        chunk: &RawChunk<'a>,
    ) -> impl Iterator<Item = Result<RecordRef<'a>, DecodeError>> + use<'a> {
        chunk.records(self.format, self.dialect)
    }

    /// The wanted records, in order.
    pub fn wanted_records(&self) -> impl Iterator<Item = Decoded<'_>> {
        self.records().filter(|read| self.wanted.contains(&read.index))
    }
}
