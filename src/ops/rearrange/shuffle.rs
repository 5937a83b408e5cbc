//! Brings the chunks of an archive into a random order.
//!
//! Each chunk gets a random key from the seed and its number, and all are brought into the order of their
//! keys: neither memory nor threads have a say in it. Of a key 48 bits count. The few chunks that agree in
//! them (of 10 billion one in 30,000) stay in their order; but for these every order is as likely as any other.
//!
//! The inputs are read once. Chunks that do not fit into memory are laid into temporary files by their first bits;
//! each of these is read once, and laid into files again only if it does not fit into memory by itself.

use std::sync::atomic::AtomicBool;

use super::Operation;
use super::copying::gather;
use super::items::{process_items, process_row};
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
use crate::records::bad_record::BadPolicy;
use crate::records::output_kind::{EncodedRecords, OutputKind};
use crate::records::processing::ProcessedBlock;
use crate::records::sink::Sinks;
use crate::records::source::Block;

/// Shuffles. Sets nothing under a final name unless all went well.
///
/// # Errors
/// [`Error`]. Unfinished outputs are removed.
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
    let mut side = Sinks::create_with(&plan.side_outputs, true)?;
    let mut sinks = Sinks::create_with(&plan.outputs, true)?;
    let (format, len) = (plan.format(), plan.format().record_len());
    let keys = keys(seed);
    let on_error = plan.on_error;
    let partition_block = block_worker(plan, move |block, file, _| {
        Some(partition_block(block, format, file, on_error, keys))
    });
    let mut partitions = PartitionWriter::new(&plan.resources, len, MemoryShare::ALL);
    let take = |_: &mut _, partitioned| partitions.add(partitioned);
    let passed = read(plan, &mut side, Checksums::Wanted, partition_block, take, &mut control)?;
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
    let finished = sinks.finish()?.and(side.finish()?);
    operation.commit(vec![("seed", seed.into())], passed, None, finished, control.progress)
}

fn partition_block(
    block: &Block,
    to: Format,
    file: &str,
    on_error: BadPolicy,
    seed: u64,
) -> (ProcessedBlock, PartitionedItems) {
    let key = |number| SplitMix64::nth_bits(seed, number);
    if let Some(len) = block.format.record_len() {
        let (processed, row) = process_row(block, len, file, on_error);
        let numbers = block.first_number..block.first_number + (row.len() / len) as u64;
        let keys: Vec<u64> = numbers.map(key).collect();
        return (processed, PartitionedItems::row(&keys, row, len, 0));
    }
    let mut items = KeyedItems::default();
    let mut counted = Vec::new();
    let processed = process_items(block, to, file, on_error, |item| {
        let bytes = if is_one_each(block.format) {
            item.bytes
        } else {
            counted.clear();
            counted.extend_from_slice(&item.records.to_le_bytes());
            counted.extend_from_slice(item.bytes);
            &counted
        };
        items.push(key(item.number), bytes, None);
    });
    (processed, PartitionedItems::new(&items, None, 0))
}

/// Whether every chunk is one record. In other formats the number of records is stored before the chunk's bytes, because
/// counting them again would mean parsing the game again.
const fn is_one_each(format: Format) -> bool {
    format.is_lines() && !format.holds_games()
}

/// Generator seed, derived so that consecutive user seeds give unrelated orders.
const fn keys(seed: u64) -> u64 {
    SplitMix64::nth_bits(seed, 0)
}

fn encode_in_order(partition: &SortedPartition, format: Format) -> EncodedRecords {
    let SortedPartition { items, len, order, .. } = partition;
    if let Some(len) = *len {
        return EncodedRecords::of_row(gather(&items.bytes, len, order), len);
    }
    let starts = items.starts(None);
    let mut encoded = EncodedRecords::default();
    for &number in order {
        let item = &items.bytes[starts.range(number as usize)];
        match item.split_first_chunk() {
            Some((records, chunk)) if !is_one_each(format) => {
                encoded.push_group(chunk, u64::from_le_bytes(*records));
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

    /// The order of so many chunks that a seed gives.
    fn order(seed: u64, chunks: u64) -> Vec<u64> {
        let keys = keys(seed);
        let mut order: Vec<u64> = (0..chunks).collect();
        order.sort_by_key(|&chunk| SplitMix64::nth_bits(keys, chunk));
        order
    }

    /// The sum of squares that is to be compared with the chi-square distribution.
    fn chi_square(counts: impl Iterator<Item = u32>, expected: f64) -> f64 {
        counts.map(|count| (f64::from(count) - expected).powi(2) / expected).sum()
    }

    #[test]
    fn every_order_of_four_is_as_likely() {
        let mut counts = HashMap::new();
        for seed in 0..24_000 {
            *counts.entry(order(seed, 4)).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 24);
        // 23 degrees of freedom; exceeded by chance once in a thousand.
        let chi_square = chi_square(counts.into_values(), 1000.0);
        assert!(chi_square < 49.7, "{chi_square}");
    }

    #[test]
    fn every_chunk_is_as_likely_in_every_place() {
        for distance in [1, 1 << 32, 0x9e3779b97f4a7c15] {
            let mut counts = [[0; 10]; 10];
            for seed in 0..10_000_u64 {
                let order = order(seed.wrapping_mul(distance), 10);
                order
                    .iter()
                    .zip(&mut counts)
                    .for_each(|(&chunk, place)| place[chunk as usize] += 1);
            }
            // 81 degrees of freedom; exceeded by chance once in a thousand.
            let chi_square = chi_square(counts.into_iter().flatten(), 1000.0);
            assert!(chi_square < 126.1, "{distance}: {chi_square}");
        }
    }

    /// Seeds in a row, and seeds as far apart as the numbers of chunks are in the generator.
    #[test]
    fn neighbouring_seeds_have_nothing_in_common() {
        for distance in [1, 0x9e3779b97f4a7c15] {
            let orders = (0..1000_u64).map(|seed| order(seed.wrapping_mul(distance), 20));
            let orders: Vec<_> = orders.collect();
            let same = |pair: &[Vec<u64>]| {
                let steps =
                    |order: &[u64]| -> Vec<_> { order.windows(2).map(<[u64]>::to_vec).collect() };
                let (one, other) = (steps(&pair[0]), steps(&pair[1]));
                one.iter().filter(|step| other.contains(step)).count()
            };
            // Of 19 steps from one chunk to the next one is the same by chance.
            let same: usize = orders.windows(2).map(same).sum();
            assert!((800..1100).contains(&same), "{distance}: {same}");
        }
    }
}
