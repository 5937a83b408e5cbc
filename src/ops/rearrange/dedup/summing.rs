//! Sums the labels of equal records with the same move, block by block.

use twox_hash::XxHash3_128;

use super::super::chunks::{ChunkReading, process_fixed_size};
use super::super::partitioned::{KeyedItems, PartitionedItems};
use super::super::pass::block_worker;
use super::super::plan::RearrangePlan;
use super::hashing::{HashedBlock, REFERENCE_NUMBER, Role, hash_records};
use super::mean::{Copies, EvalKind};
use crate::engine::job::BlockFunction;
use crate::format::move16::Dialect;
use crate::format::{DecodeError, RecordRef, position_keys_of_row};
use crate::ops::rearrange::dedup_key::DedupKey;
use crate::records::source::Block;

/// Bytes stored per item in addition to its key: the low half of the hash and [`Copies`]. The key is the high half of
/// the hash.
pub(super) const SUMMED_BYTES: usize = size_of::<u64>() + Copies::LEN;

/// Number of slots of [`Sums::open`]. With them, frequent positions such as the start position reach the partitions
/// only about once per block and move.
const OPEN_SUMS: usize = 1 << 10;

pub(super) fn summing_worker(
    plan: &RearrangePlan,
    key: DedupKey,
    role: Role,
) -> BlockFunction<HashedBlock> {
    let reading = plan.reading(plan.on_error);
    block_worker(plan, move |block, file, cancel| {
        let row = sum_row(block, key, role, &reading);
        let (processed, sums, bad) = if let Some((sums, len)) = row {
            (process_fixed_size(block, len, file, reading.on_error).0, sums, Vec::new())
        } else {
            let mut sums = Sums::new(role);
            let (processed, bad) =
                hash_records(block, (file, &reading), key, cancel, |hash, item| {
                    sums.push(hash, &copy(&item.record, item.number)?);
                    Ok(())
                })?;
            (processed, sums, bad)
        };
        let Sums { items, repeated, .. } = sums.closed();
        let partitioned = PartitionedItems::new(&items, Some(SUMMED_BYTES), 0);
        Some((processed, HashedBlock { partitioned, repeated, bad }))
    })
}

/// Sums fixed-size records. Returns the sums and the record size. `None` if a record is bad or the records must be
/// decoded one by one.
fn sum_row(
    block: &Block,
    key: DedupKey,
    role: Role,
    reading: &ChunkReading,
) -> Option<(Sums, usize)> {
    let row_len = reading.row_len(block.format);
    let len = row_len.filter(|len| block.bytes().len().is_multiple_of(*len))?;
    if key != DedupKey::Position {
        return None;
    }
    let mut hashes = Vec::with_capacity(block.bytes().len() / len);
    position_keys_of_row(block.format, block.bytes(), &mut |key| {
        hashes.push(XxHash3_128::oneshot(key.bytes()));
    })?;
    let mut sums = Sums::new(role);
    let records = block.bytes().chunks_exact(len).zip(hashes);
    for ((bytes, hash), number) in records.zip(block.first_number..) {
        let record = RecordRef::with_dialect(block.format, block.dialect, bytes).ok()?;
        sums.push(hash, &copy(&record, number).ok()?);
    }
    Some((sums, len))
}

/// Converts one record to [`Copies`].
fn copy(record: &RecordRef<'_>, number: u64) -> Result<Copies, DecodeError> {
    let (eval_cp, result, best_move) = (record.eval_cp()?, record.result()?, record.best_move()?);
    let mut results = [0; 3];
    if let Some(result) = result {
        results[result as usize] = 1;
    }
    Ok(Copies {
        number,
        move_bits: best_move.map_or(0, |best_move| Dialect::YaneuraOu.encode(best_move)),
        kind: eval_cp.map(EvalKind::from_eval),
        eval_sum_cp: eval_cp.unwrap_or(0).into(),
        records: 1,
        results,
    })
}

struct Sums {
    items: KeyedItems,
    /// Numbers of records that were added to the sum of an earlier record.
    repeated: Vec<u64>,
    role: Role,
    /// Sums that accept more records: a direct-mapped table, indexed by hash and move.
    open: Vec<Option<(u128, Copies)>>,
}

impl Sums {
    fn new(role: Role) -> Self {
        let (items, repeated) = (KeyedItems::default(), Vec::new());
        Self { items, repeated, role, open: vec![None; OPEN_SUMS] }
    }

    fn push(&mut self, hash: u128, copy: &Copies) {
        let place = (hash as usize ^ usize::from(copy.move_bits)) % OPEN_SUMS;
        if let Some((other, copies)) = &mut self.open[place]
            && *other == hash
            && (copies.move_bits, copies.kind) == (copy.move_bits, copy.kind)
            && copies.add(copy)
        {
            return self.repeated.push(copy.number);
        }
        if let Some((hash, copies)) = self.open[place].replace((hash, *copy)) {
            self.close(hash, copies);
        }
    }

    fn close(&mut self, hash: u128, mut copies: Copies) {
        if self.role == Role::Reference {
            copies.number = REFERENCE_NUMBER;
        }
        let mut bytes = [0; SUMMED_BYTES];
        bytes[..8].copy_from_slice(&(hash as u64).to_le_bytes());
        bytes[8..].copy_from_slice(&copies.to_bytes());
        self.items.push((hash >> u64::BITS) as u64, &bytes, Some(SUMMED_BYTES));
    }

    /// Closes all open sums.
    fn closed(mut self) -> Self {
        for (hash, copies) in std::mem::take(&mut self.open).into_iter().flatten() {
            self.close(hash, copies);
        }
        self
    }
}
