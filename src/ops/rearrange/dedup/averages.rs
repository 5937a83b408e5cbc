//! Averages the labels of equal records, partition by partition. The second pass writes them.

use super::super::chunks::BlockChunks;
use super::super::numbers::{AscendingValues, NumberedValues};
use super::super::partitioned::significant_bits;
use super::super::plan::RearrangePlan;
use super::super::sorted_partition::SortedPartition;
use super::hashing::{ComparedPartition, LABEL_BYTES, MAX_RECORDS, REFERENCE_NUMBER};
use super::mean::{Copies, Total};
use super::summing::SUMMED_BYTES;
use crate::error::Error;
use crate::format::move16::Dialect;
use crate::format::{Field, GameResult, MergedLabels, RawChunk};
use crate::jobs::operation_totals::AverageCounts;
use crate::ops::rearrange::partitions::MemoryShare;

/// Finds the copies in a partition. The first copy of a record is written with the mean labels of all copies.
pub(super) fn averaged(partition: &SortedPartition) -> ComparedPartition {
    let SortedPartition { items, order, .. } = partition;
    let (bytes, _) = items.bytes.as_chunks::<SUMMED_BYTES>();
    let mut compared = ComparedPartition { items: items.keys.len() as u64, ..Default::default() };
    // The groups of the current keys with equal significant bits.
    let mut groups: Vec<Group> = Vec::new();
    let mut current_bits = None;
    for &item in order {
        let (key, bytes) = (items.keys[item as usize], &bytes[item as usize]);
        if current_bits.replace(significant_bits(key)) != Some(significant_bits(key)) {
            groups.drain(..).for_each(|group| group.close(&mut compared));
        }
        let (Some((low, _)), Some((_, copies))) =
            (bytes.split_first_chunk(), bytes.split_last_chunk())
        else {
            continue;
        };
        let (hash, copies) = ((key, *low), Copies::from_bytes(copies));
        let known = groups.iter().position(|group| group.hash == hash);
        let place = known.unwrap_or(groups.len());
        if known.is_none() {
            groups.push(Group { hash, numbers: Vec::new(), total: Total::default() });
        }
        groups[place].numbers.push(copies.number);
        groups[place].total.add(&copies);
    }
    groups.drain(..).for_each(|group| group.close(&mut compared));
    compared
}

/// Copies of one record.
struct Group {
    hash: (u64, [u8; 8]),
    /// Number of the first record of each [`Copies`] that was added.
    numbers: Vec<u64>,
    total: Total,
}

impl Group {
    fn close(self, compared: &mut ComparedPartition) {
        let Self { numbers, total, .. } = self;
        let is_in_reference = numbers.contains(&REFERENCE_NUMBER);
        let first = numbers.iter().copied().min().filter(|_| !is_in_reference);
        let is_repeated = |&number: &u64| Some(number) != first && number != REFERENCE_NUMBER;
        compared.repeated.extend(numbers.iter().copied().filter(is_repeated));
        if let Some(first) = first.filter(|_| total.records > 1) {
            compared.averaged.push((first, to_bytes(total.mean())));
            compared.counts.records += 1;
            compared.counts.copies += total.records;
            compared.counts.most_copies = compared.counts.most_copies.max(total.records);
        }
    }
}

fn to_bytes(labels: MergedLabels) -> [u8; LABEL_BYTES] {
    let MergedLabels { best_move, eval_cp, result } = labels;
    let [eval_low, eval_high] = eval_cp.unwrap_or(0).to_le_bytes();
    let bits = best_move.map_or(0, |best_move| Dialect::YaneuraOu.encode(best_move));
    let [move_low, move_high] = bits.to_le_bytes();
    let result = result.map_or(0, |result| result as u8 + 1);
    [eval_low, eval_high, move_low, move_high, result, eval_cp.is_some().into()]
}

fn from_bytes(
    [eval_low, eval_high, move_low, move_high, result, has_eval]: [u8; LABEL_BYTES],
) -> MergedLabels {
    let bits = u16::from_le_bytes([move_low, move_high]);
    MergedLabels {
        best_move: Dialect::YaneuraOu.decode(bits).ok().flatten(),
        eval_cp: (has_eval != 0).then_some(i16::from_le_bytes([eval_low, eval_high])),
        result: GameResult::ALL.into_iter().find(|&own| own as u8 + 1 == result),
    }
}

/// Collects mean labels by record number.
pub(super) struct Averages {
    labels: NumberedValues<LABEL_BYTES>,
    counts: AverageCounts,
}

impl Averages {
    pub(super) fn new(plan: &RearrangePlan) -> Self {
        let end = plan.records.unwrap_or(MAX_RECORDS);
        let labels = NumberedValues::new(&plan.resources, end, MemoryShare::LAST);
        Self { labels, counts: AverageCounts::default() }
    }

    pub(super) fn add(&mut self, compared: &ComparedPartition) -> Result<(), Error> {
        let AverageCounts { records, copies, most_copies, .. } = compared.counts;
        self.counts.records += records;
        self.counts.copies += copies;
        self.counts.most_copies = self.counts.most_copies.max(most_copies);
        self.labels.add_values(compared.averaged.iter().copied())
    }

    pub(super) fn seal(self, plan: &RearrangePlan) -> Result<Relabelling, Error> {
        let dialect = plan.ranges.first().map_or(Dialect::Apery, |range| range.input.dialect);
        Ok(Relabelling { labels: self.labels.ascending()?, counts: self.counts, dialect })
    }
}

/// Mean labels in record order. They are set while the records are written.
pub(super) struct Relabelling {
    labels: AscendingValues<LABEL_BYTES>,
    pub(super) counts: AverageCounts,
    dialect: Dialect,
}

impl Relabelling {
    /// Sets the labels of the averaged records of a block. Blocks must come in input order.
    pub(super) fn relabel(
        &mut self,
        plan: &RearrangePlan,
        chunks: &mut BlockChunks,
    ) -> Result<(), Error> {
        let (mut chunk, mut replaced) = (0, Vec::new());
        while chunk < chunks.len() {
            let number = chunks.get(chunk).number;
            let Some((next, labels)) = self.labels.value_from(number)? else { break };
            chunk = chunks.position(chunk, next);
            if chunk < chunks.len() && chunks.get(chunk).number == next {
                let bytes = self.relabelled(plan, chunks.get(chunk).bytes, from_bytes(labels));
                replaced.extend(bytes.map(|bytes| (chunk, bytes)));
                chunk += 1;
            }
        }
        chunks.replace(&replaced);
        Ok(())
    }

    /// Returns the chunk with new labels. `None` if it already has them.
    fn relabelled(
        &mut self,
        plan: &RearrangePlan,
        bytes: &[u8],
        labels: MergedLabels,
    ) -> Option<Vec<u8>> {
        let chunk = RawChunk { bytes, offset: 0, is_piece: false };
        // Decoding cannot fail: the first pass read the same record.
        let record = chunk.records(plan.format(), self.dialect).next()?.ok()?;
        let mut out = Vec::new();
        let changed = record.with_merged(labels, &mut out).ok()?;
        for (field, count) in [
            (Field::EvalCp, &mut self.counts.evaluations),
            (Field::Result, &mut self.counts.results),
            (Field::BestMove, &mut self.counts.moves),
        ] {
            *count += u64::from(changed.contains(field));
        }
        (!changed.is_empty()).then_some(out)
    }
}
