//! Reads all inputs once, chunk by chunk.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::chunks::{BlockChunks, process_chunks};
use super::plan::RearrangePlan;
use crate::engine::job::{BlockFunction, Job};
use crate::engine::progress::Progress;
use crate::engine::run::{CompletedPass, pass};
use crate::error::Error;
use crate::records::bad_record::BadPolicy;
use crate::records::processing::ProcessedBlock;
use crate::records::sink::Sinks;
use crate::records::source::{Block, count_records, has_random_access};

/// Maximum number of records per block.
const BLOCK_RECORDS: u64 = 1 << 15;

/// Maximum number of results that wait for an earlier block. They take a megabyte each, and blocks are processed
/// quickly.
const WAITING_BLOCKS: usize = 8;

/// Blocks in flight may take 1/8 of the memory.
const BLOCK_MEMORY_DIVISOR: u64 = 8;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Checksums {
    Wanted,
    /// Already computed in another pass.
    Known,
}

pub(super) struct RunControl<'a> {
    pub(super) progress: &'a mut Progress,
    pub(super) cancel: &'a AtomicBool,
}

/// Reads all inputs once. `worker` processes blocks on all threads, and `on_result` is called in input order. Then the
/// outputs of the block are written to `sinks`.
pub(super) fn read<T: Send + 'static>(
    plan: &RearrangePlan,
    sinks: &mut Sinks,
    checksums: Checksums,
    worker: BlockFunction<T>,
    on_result: impl FnMut(&mut ProcessedBlock, T) -> Result<(), Error>,
    control: &mut RunControl<'_>,
) -> Result<CompletedPass, Error> {
    let job = Job {
        checksums: checksums == Checksums::Wanted,
        waiting_blocks: WAITING_BLOCKS,
        block_memory_bytes: usize::try_from(plan.resources.memory.bytes() / BLOCK_MEMORY_DIVISOR)
            .unwrap_or(usize::MAX),
        ..Job::new(&plan.ranges, plan.resources.threads, BLOCK_RECORDS)
    };
    pass(&job, sinks, worker, on_result, control.progress, control.cancel)
}

#[derive(Clone, Copy, Default)]
pub(super) struct InputCounts {
    /// Number of all records that have a number, including comments and bad records.
    pub(super) all: u64,
    /// Number of records that would be written.
    pub(super) written: u64,
}

/// Counts the records of each input. Reads the inputs unless their sizes determine the counts.
pub(super) fn count(
    plan: &RearrangePlan,
    control: &mut RunControl<'_>,
) -> Result<Vec<InputCounts>, Error> {
    let takes_all = !plan.filters.drops_any();
    if takes_all && plan.ranges.iter().all(|range| has_random_access(&range.input)) {
        let records = plan.ranges.iter().map(|range| count_records(&range.input));
        let input_counts = |all| InputCounts { all, written: all };
        return records.map(|records| records.map(input_counts)).collect::<Result<_, _>>();
    }
    control.progress.begin("counting", plan.records);
    let mut counts = vec![InputCounts::default(); plan.ranges.len()];
    let reading = plan.reading(BadPolicy::Skip);
    let worker = block_worker(plan, move |block, file, _| {
        let (processed, _) = process_chunks(block, file, &reading);
        let counts = (block.input, processed.counts.input, processed.counts.kept);
        Some((processed, counts))
    });
    let add_counts = |_: &mut _, (input, all, written): (usize, u64, u64)| {
        counts[input].all += all;
        counts[input].written += written;
        Ok(())
    };
    read(plan, &mut Sinks::create(&[])?, Checksums::Known, worker, add_counts, control)?;
    Ok(counts)
}

pub(super) fn chunk_worker(
    plan: &RearrangePlan,
    on_error: BadPolicy,
) -> BlockFunction<BlockChunks> {
    let reading = plan.reading(on_error);
    block_worker(plan, move |block, file, _| Some(process_chunks(block, file, &reading)))
}

/// Calls `work` with each block, the name of its input and the cancel flag.
pub(super) fn block_worker<T: Send + 'static>(
    plan: &RearrangePlan,
    work: impl Fn(&Block, &str, &AtomicBool) -> Option<(ProcessedBlock, T)> + Send + Sync + 'static,
) -> BlockFunction<T> {
    let names: Vec<String> = plan.ranges.iter().map(|range| range.input.name.clone()).collect();
    Arc::new(move |block: &Block, cancel: &AtomicBool| work(block, &names[block.input], cancel))
}
