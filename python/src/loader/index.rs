//! Where the chunks of a file begin: whole units of about as many records, games or lines.

use std::sync::atomic::{AtomicBool, Ordering};

use kyokumen::records::source::{Input, Part};

use crate::failure::Failure;
use crate::reading::Reading;

/// Consecutive whole units.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct IndexedChunk {
    /// Offset in the uncompressed file.
    pub(super) offset: u64,
    pub(super) bytes: usize,
    /// Number of the first record.
    pub(super) first: u64,
    pub(super) records: u32,
}

const BLOCK_RECORDS: u64 = 1 << 14;

/// Reads a file to its end and passes its uncompressed bytes to `take`. Incomplete if cancelled.
pub(super) fn index_of(
    input: &Input,
    chunk: u64,
    cancel: &AtomicBool,
    mut take: impl FnMut(&[u8]) -> Result<(), Failure>,
) -> Result<Vec<IndexedChunk>, Failure> {
    let mut reading = Reading::new(Part::whole(input.clone()), BLOCK_RECORDS);
    let mut chunks: Vec<IndexedChunk> = Vec::new();
    let mut before = 0;
    while let Some(block) = reading.block() {
        let block = block?;
        if cancel.load(Ordering::Relaxed) {
            break;
        }
        take(block.bytes())?;
        for unit in block.units() {
            let records = unit.count(input.format);
            let offset = block.offset + unit.offset;
            let goes_on = chunks.last_mut().filter(|last| {
                u64::from(last.records) < chunk && last.offset + last.bytes as u64 == offset
            });
            if let Some(last) = goes_on {
                last.bytes += unit.bytes.len();
                last.records += records as u32;
            } else {
                let (first, bytes) = (before, unit.bytes.len());
                chunks.push(IndexedChunk { offset, bytes, first, records: records as u32 });
            }
            before += records;
        }
    }
    Ok(chunks)
}
