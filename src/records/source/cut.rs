//! Finds the ends of blocks. Blocks consist of whole chunks.

use crate::format::Format;

/// A block is full when it has this many bytes, even if it has few records.
pub(super) const FULL_BLOCK_BYTES: usize = 1 << 20;

/// How many whole chunks to take.
#[derive(Clone, Copy)]
pub(super) struct TakeLimit {
    /// The block ends with the chunk that reaches this many records.
    pub(super) records: u64,
    /// Whether a chunk that would exceed the number of records is not taken.
    pub(super) is_maximum: bool,
    /// The block ends with the chunk that reaches this many bytes, even with fewer records.
    pub(super) bytes: usize,
}

impl TakeLimit {
    /// This many records, or more if the last chunk holds more.
    pub(super) const fn at_least(records: u64) -> Self {
        Self { records, is_maximum: false, bytes: FULL_BLOCK_BYTES }
    }

    /// This many records, or fewer if the next chunk would exceed the number.
    pub(super) const fn at_most(records: u64) -> Self {
        Self { is_maximum: true, ..Self::at_least(records) }
    }
}

/// Scanned whole chunks at the start of a buffer.
#[derive(Clone, Copy, Default)]
pub(super) struct ScannedChunks {
    pub(super) bytes: usize,
    pub(super) records: u64,
    /// Whether the last chunk is a piece of a longer chunk. Without chunks: whether the next chunk continues such a
    /// piece.
    pub(super) ends_mid_chunk: bool,
}

impl ScannedChunks {
    /// The empty scan after these chunks.
    pub(super) const fn next(self) -> Self {
        Self { bytes: 0, records: 0, ..self }
    }

    /// Scans chunks up to the end of a block, or all chunks if the input is `at_end`. Returns `false` if more bytes are
    /// needed, and keeps the scanned chunks.
    pub(super) fn extend(
        &mut self,
        format: Format,
        bytes: &[u8],
        take_limit: TakeLimit,
        at_end: bool,
    ) -> bool {
        let TakeLimit { records: wanted, is_maximum, bytes: most_bytes } = take_limit;
        if let Some(len) = format.record_len() {
            let wanted = wanted.min(most_bytes.div_ceil(len) as u64);
            return self.take_fixed(len, bytes, wanted, at_end);
        }
        while self.records < wanted && self.bytes < most_bytes {
            let rest = &bytes[self.bytes..];
            if rest.is_empty() {
                return at_end;
            }
            let mut is_mid_chunk = self.ends_mid_chunk;
            let Some(chunk) = format.first_chunk(rest, at_end, &mut is_mid_chunk) else {
                return false;
            };
            let records = chunk.count(format);
            if is_maximum && self.records + records > wanted {
                return true;
            }
            self.bytes += chunk.bytes.len();
            self.records += records;
            self.ends_mid_chunk = is_mid_chunk;
        }
        true
    }

    fn take_fixed(&mut self, len: usize, bytes: &[u8], wanted: u64, at_end: bool) -> bool {
        let wanted = usize::try_from(wanted).map_or(usize::MAX, |most| most.saturating_mul(len));
        if bytes.len() < wanted && !at_end {
            return false;
        }
        self.bytes = bytes.len().min(wanted);
        self.records = self.bytes.div_ceil(len) as u64;
        true
    }
}
