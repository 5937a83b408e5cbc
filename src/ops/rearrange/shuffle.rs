//! Shuffles the chunks of archives.
//!
//! Each chunk gets a random key computed from the seed and its number, and the chunks are sorted by key. So the order
//! does not depend on memory or threads. A key has 48 significant bits. Chunks with equal bits keep their input order
//! (one in 30,000 of 10 billion chunks). Apart from these, all orders are equally likely.
//!
//! The inputs are read once. Chunks that do not fit into memory are distributed to partitions on disk by the first bits
//! of their keys. Each partition is read once, and distributed again only if it does not fit into memory.

use std::sync::atomic::AtomicBool;

use super::Operation;
use super::chunks::{ChunkReading, for_each_chunk, process_fixed_size};
use super::copying::gather;
use super::partitioned::{KeyedItems, PartitionedItems};
use super::partitions::{MemoryShare, PartitionWriter};
use super::pass::{Checksums, RunControl, block_worker, read};
use super::plan::RearrangePlan;
use super::sorted_partition::{SortedPartition, process_partitions};
use crate::engine::progress::Progress;
use crate::error::Error;
use crate::format::Format;
use crate::jobs::operation_totals::OperationManifest;
use crate::random::SplitMix64;
use crate::records::output_kind::{EncodedRecords, OutputKind};
use crate::records::processing::ProcessedBlock;
use crate::records::sink::Sinks;
use crate::records::source::Block;

/// Shuffles the inputs of the plan. The outputs get their final names only if the whole operation succeeds.
///
/// # Errors
/// [`Error`] if the operation fails. Unfinished outputs are removed.
pub fn shuffle(
    plan: &RearrangePlan,
    seed: u64,
    progress: &mut Progress,
    cancel: &AtomicBool,
) -> Result<OperationManifest, Error> {
    let operation = Operation::begin("shuffle", plan)?;
    plan.resources.check_folder()?;
    let mut control = RunControl { progress, cancel };
    control.progress.begin("reading", plan.records);
    let mut side_sinks = Sinks::create_with(&plan.side_outputs, true)?;
    let mut sinks = Sinks::create_with(&plan.outputs, true)?;
    let (format, len) = (plan.format(), plan.format().record_len());
    let keys = keys(seed);
    let reading = plan.reading(plan.on_error);
    let partition_block = block_worker(plan, move |block, file, _| {
        Some(partition_block(block, file, &reading, keys))
    });
    let mut partitions = PartitionWriter::new(&plan.resources, len, MemoryShare::ALL);
    let add = |_: &mut _, partitioned| partitions.add(partitioned);
    let passed =
        read(plan, &mut side_sinks, Checksums::Wanted, partition_block, add, &mut control)?;
    let write = |encoded: EncodedRecords| {
        sinks.write(OutputKind::Kept, &encoded)?;
        Ok(encoded.len())
    };
    control.progress.begin("writing", Some(passed.counts.kept));
    process_partitions(
        partitions.seal()?,
        &plan.resources,
        move |partition| encode_in_order(partition, format),
        write,
        &mut control,
    )?;
    let finished = sinks.finish()?.and(side_sinks.finish()?);
    operation.commit(vec![("seed", seed.into())], passed, None, finished, control.progress)
}

fn partition_block(
    block: &Block,
    file: &str,
    reading: &ChunkReading,
    seed: u64,
) -> (ProcessedBlock, PartitionedItems) {
    let key = |number| SplitMix64::nth_bits(seed, number);
    if let Some(len) = reading.row_len(block.format) {
        let (processed, row) = process_fixed_size(block, len, file, reading.on_error);
        let numbers = block.first_number..block.first_number + (row.len() / len) as u64;
        let keys: Vec<u64> = numbers.map(key).collect();
        return (processed, PartitionedItems::row(&keys, row, len, 0));
    }
    let mut items = KeyedItems::default();
    let mut with_count = Vec::new();
    let len = block.format.record_len();
    let processed = for_each_chunk(block, file, reading, |item| {
        let bytes = if has_one_record_per_chunk(block.format) {
            item.bytes
        } else {
            with_count.clear();
            with_count.extend_from_slice(&item.records.to_le_bytes());
            with_count.extend_from_slice(item.bytes);
            &with_count
        };
        items.push(key(item.number), bytes, len);
    });
    (processed, PartitionedItems::new(&items, len, 0))
}

/// Whether every chunk is one record. In other formats the number of records is stored before the bytes of the chunk,
/// because counting them again would require parsing the game again.
const fn has_one_record_per_chunk(format: Format) -> bool {
    format.record_len().is_some() || format.is_lines() && !format.holds_games()
}

/// Generator seed, derived so that consecutive user seeds give unrelated orders.
const fn keys(seed: u64) -> u64 {
    SplitMix64::nth_bits(seed, 0)
}

fn encode_in_order(partition: &SortedPartition, format: Format) -> EncodedRecords {
    let SortedPartition { items, len, order, .. } = partition;
    if let Some(len) = *len {
        return EncodedRecords::from_fixed(gather(&items.bytes, len, order), len);
    }
    let starts = items.starts(None);
    let mut encoded = EncodedRecords::default();
    for &number in order {
        let item = &items.bytes[starts.range(number as usize)];
        match item.split_first_chunk() {
            Some((records, chunk)) if !has_one_record_per_chunk(format) => {
                encoded.push_records(chunk, u64::from_le_bytes(*records));
            }
            _ => encoded.push(item),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    /// The order of `chunks` chunks for a seed.
    fn order(seed: u64, chunks: u64) -> Vec<u64> {
        let keys = keys(seed);
        let mut order: Vec<u64> = (0..chunks).collect();
        order.sort_by_key(|&chunk| SplitMix64::nth_bits(keys, chunk));
        order
    }

    /// The test statistic to compare with the chi-square distribution.
    fn chi_square(counts: impl Iterator<Item = u32>, expected: f64) -> f64 {
        counts.map(|count| (f64::from(count) - expected).powi(2) / expected).sum()
    }

    #[test]
    fn all_orders_of_four_chunks_are_equally_likely() {
        let mut counts = HashMap::new();
        for seed in 0..24_000 {
            *counts.entry(order(seed, 4)).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 24);
        // 23 degrees of freedom. Exceeded by chance once in a thousand.
        let chi_square = chi_square(counts.into_values(), 1000.0);
        assert!(chi_square < 49.7, "{chi_square}");
    }

    #[test]
    fn every_chunk_is_equally_likely_at_every_place() {
        for distance in [1, 1 << 32, 0x9e3779b97f4a7c15] {
            let mut counts = [[0; 10]; 10];
            for seed in 0..10_000_u64 {
                let order = order(seed.wrapping_mul(distance), 10);
                order
                    .iter()
                    .zip(&mut counts)
                    .for_each(|(&chunk, place)| place[chunk as usize] += 1);
            }
            // 81 degrees of freedom. Exceeded by chance once in a thousand.
            let chi_square = chi_square(counts.into_iter().flatten(), 1000.0);
            assert!(chi_square < 126.1, "{distance}: {chi_square}");
        }
    }

    /// Consecutive seeds, and seeds that differ by the increment of the generator.
    #[test]
    fn orders_of_neighbouring_seeds_are_independent() {
        for distance in [1, 0x9e3779b97f4a7c15] {
            let orders = (0..1000_u64).map(|seed| order(seed.wrapping_mul(distance), 20));
            let orders: Vec<_> = orders.collect();
            let same = |pair: &[Vec<u64>]| {
                let steps =
                    |order: &[u64]| -> Vec<_> { order.windows(2).map(<[u64]>::to_vec).collect() };
                let (one, other) = (steps(&pair[0]), steps(&pair[1]));
                one.iter().filter(|step| other.contains(step)).count()
            };
            // On average, one of the 19 steps from a chunk to the next is equal by chance.
            let same: usize = orders.windows(2).map(same).sum();
            assert!((800..1100).contains(&same), "{distance}: {same}");
        }
    }
}
