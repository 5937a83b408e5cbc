//! Hashes the compared content of records with 128-bit XXH3: <https://github.com/Cyan4973/xxHash>.

use std::sync::atomic::AtomicBool;

use twox_hash::XxHash3_128;

use super::super::chunks::{ChunkReading, for_each_chunk, process_fixed_size};
use super::super::partitioned::{KeyedItems, PartitionedItems};
use super::super::pass::block_worker;
use super::super::plan::RearrangePlan;
use crate::engine::job::BlockFunction;
use crate::format::move16::Dialect;
use crate::format::{Lookahead, PositionKey, Record, RecordRef, position_keys_of_row};
use crate::jobs::operation_totals::AverageCounts;
use crate::ops::rearrange::dedup_key::DedupKey;
use crate::records::processing::{AfterRecord, NumberedRecord, ProcessedBlock, process_block};
use crate::records::reading::RecordError;
use crate::records::source::Block;

/// Bytes stored per record in addition to its key: the low half of the hash and the record number. The key is the high
/// half of the hash.
pub(super) const COMPARED_BYTES: usize = 2 * size_of::<u64>();

/// The record number that all reference records share.
pub(super) const REFERENCE_NUMBER: u64 = u64::MAX;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Input,
    Reference,
}

/// Number of slots of [`Hashes::recent`].
const RECENT_HASHES: usize = 1 << 10;

/// Hashes and record numbers of a block, partitioned by hash.
pub(super) struct HashedBlock {
    pub(super) partitioned: PartitionedItems,
    /// Numbers of records that repeat an earlier record of the block. Not all of them are found. The purpose is that
    /// frequent positions, such as the start position, reach the partitions only once per block.
    pub(super) repeated: Vec<u64>,
    /// Numbers of unreadable records.
    pub(super) bad: Vec<u64>,
}

pub(super) fn hashing_worker(
    plan: &RearrangePlan,
    key: DedupKey,
    role: Role,
) -> BlockFunction<HashedBlock> {
    let reading = plan.reading(plan.on_error);
    block_worker(plan, move |block, file, cancel| {
        let (processed, mut hashes, bad) = match hash_row(block, key, &reading) {
            Some((hashes, len)) => {
                (process_fixed_size(block, len, file, reading.on_error).0, hashes, Vec::new())
            }
            None if key == DedupKey::Bytes => {
                let (processed, hashes) = hash_chunks(block, file, &reading);
                (processed, hashes, Vec::new())
            }
            None => {
                let mut hashes = Hashes::default();
                let (processed, bad) =
                    hash_records(block, (file, &reading), key, cancel, |hash, item| {
                        hashes.push(hash, item.number);
                        Ok(())
                    })?;
                (processed, hashes, bad)
            }
        };
        if role == Role::Reference {
            for item in hashes.items.bytes.chunks_exact_mut(COMPARED_BYTES) {
                item[size_of::<u64>()..].copy_from_slice(&REFERENCE_NUMBER.to_le_bytes());
            }
        }
        let partitioned = PartitionedItems::new(&hashes.items, Some(COMPARED_BYTES), 0);
        Some((processed, HashedBlock { partitioned, repeated: hashes.repeated, bad }))
    })
}

/// Hashes fixed-size records. Returns the hashes and the record size. `None` if a record is bad or the records must be
/// decoded one by one.
fn hash_row(block: &Block, key: DedupKey, reading: &ChunkReading) -> Option<(Hashes, usize)> {
    let row_len = reading.row_len(block.format);
    let len = row_len.filter(|len| block.bytes().len().is_multiple_of(*len))?;
    let mut numbers = block.first_number..;
    let mut hashes = Hashes::default();
    let mut push = |bytes: &[u8]| {
        let number = numbers.next().unwrap_or(u64::MAX);
        hashes.push(XxHash3_128::oneshot(bytes), number);
    };
    match key {
        DedupKey::Bytes => block.bytes().chunks_exact(len).for_each(push),
        DedupKey::Position => {
            position_keys_of_row(block.format, block.bytes(), &mut |key| push(key.bytes()))?;
        }
        DedupKey::PositionAndMove | DedupKey::Content => return None,
    }
    Some((hashes, len))
}

/// Hashes the bytes of chunks as they would be written.
fn hash_chunks(block: &Block, file: &str, reading: &ChunkReading) -> (ProcessedBlock, Hashes) {
    let mut hashes = Hashes::default();
    let processed = for_each_chunk(block, file, reading, |item| {
        // A game without moves has no record number. It is always kept.
        if item.records > 0 {
            hashes.push(XxHash3_128::oneshot(item.bytes), item.number);
        }
    });
    (processed, hashes)
}

/// Calls `on_hash` with the hash of the compared content of each record that passes the filters. Also returns the
/// numbers of unreadable records.
pub(super) fn hash_records(
    block: &Block,
    (file, reading): (&str, &ChunkReading),
    key: DedupKey,
    cancel: &AtomicBool,
    mut on_hash: impl FnMut(u128, &NumberedRecord<'_>) -> Result<(), RecordError>,
) -> Option<(ProcessedBlock, Vec<u64>)> {
    let (mut bytes, mut bad) = (Vec::new(), Vec::new());
    let mut lookahead = Lookahead::default();
    let mut next = block.first_number;
    let processed = process_block(block, file, reading.on_error, cancel, |item, processed| {
        if let Some(condition) = reading.filters.failed_condition(item.number, &item.record)? {
            bad.extend(next..item.number);
            next = item.number + 1;
            return Ok(AfterRecord::Filtered(condition));
        }
        bytes.clear();
        let bytes_after = || block.bytes_after(&item.chunk);
        append_compared(&item.record, key, (&mut lookahead, &bytes_after), &mut bytes)?;
        on_hash(XxHash3_128::oneshot(&bytes), item)?;
        processed.counts.kept += 1;
        bad.extend(next..item.number);
        next = item.number + 1;
        Ok(AfterRecord::Continue)
    })?;
    bad.extend(next..block.number_of(block.wanted.end));
    Some((processed, bad))
}

struct Hashes {
    items: KeyedItems,
    repeated: Vec<u64>,
    /// Direct-mapped cache of recent hashes, indexed by their low bits.
    recent: Vec<u128>,
}

impl Default for Hashes {
    fn default() -> Self {
        let (items, repeated) = (KeyedItems::default(), Vec::new());
        Self { items, repeated, recent: vec![0; RECENT_HASHES] }
    }
}

impl Hashes {
    #[inline]
    fn push(&mut self, hash: u128, number: u64) {
        let recent = &mut self.recent[hash as usize % RECENT_HASHES];
        if *recent == hash {
            return self.repeated.push(number);
        }
        *recent = hash;
        let mut bytes = [0; COMPARED_BYTES];
        bytes[..8].copy_from_slice(&(hash as u64).to_le_bytes());
        bytes[8..].copy_from_slice(&number.to_le_bytes());
        self.items.push((hash >> u64::BITS) as u64, &bytes, Some(COMPARED_BYTES));
    }
}

/// Appends the content to compare. Appends nothing for [`DedupKey::Bytes`].
fn append_compared<'a>(
    record: &RecordRef<'_>,
    key: DedupKey,
    lookahead: (&mut Lookahead, &dyn Fn() -> &'a [u8]),
    out: &mut Vec<u8>,
) -> Result<(), RecordError> {
    match key {
        DedupKey::Position => {
            out.extend_from_slice(record.position_key_with_lookahead(lookahead)?.bytes());
        }
        DedupKey::PositionAndMove => {
            out.extend_from_slice(record.position_key_with_lookahead(lookahead)?.bytes());
            let bits = record.best_move()?.map(|best| Dialect::YaneuraOu.encode(best));
            // 0 encodes no move: it is not the encoding of any YaneuraOu move.
            out.extend_from_slice(&bits.unwrap_or(0).to_le_bytes());
        }
        DedupKey::Content => append_content(&record.record()?, out),
        DedupKey::Bytes => {}
    }
    Ok(())
}

/// Appends all fields of a record. Each field has a presence byte and a fixed length, so the result is unambiguous.
fn append_content(record: &Record, out: &mut Vec<u8>) {
    let Record { setup, best_move, eval_cp, ply, result, ending, end_ply, candidates, .. } = record;
    out.extend_from_slice(PositionKey::of(setup).bytes());
    let mut field = |field: Option<u16>| {
        out.push(field.is_some().into());
        out.extend_from_slice(&field.unwrap_or(0).to_le_bytes());
    };
    field(best_move.map(|best| Dialect::YaneuraOu.encode(best)));
    field(eval_cp.map(i16::cast_unsigned));
    field(*ply);
    field(result.map(|result| result as u16));
    field(ending.map(|ending| ending as u16));
    field(*end_ply);
    field(Some(record.is_not_for_training.into()));
    if !candidates.is_empty() {
        out.extend_from_slice(format!("{candidates:?}").as_bytes());
    }
}

/// Upper bound for the number of records of an archive.
pub(super) const MAX_RECORDS: u64 = 1 << 40;

/// Size of the averaged labels of equal records, which are stored until the first record is written.
pub(super) const LABEL_BYTES: usize = 6;

/// The duplicates of a partition.
#[derive(Default)]
pub(super) struct ComparedPartition {
    /// Number of items in the partition. An item is a record or, with averaging, a sum of several records.
    pub(super) items: u64,
    /// Numbers of the records that repeat an earlier record.
    pub(super) repeated: Vec<u64>,
    /// With averaging: numbers of the records that replace several copies, with their averaged labels.
    pub(super) averaged: Vec<(u64, [u8; LABEL_BYTES])>,
    pub(super) counts: AverageCounts,
}
