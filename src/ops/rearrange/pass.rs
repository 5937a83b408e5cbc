//! One reading of all inputs, unit by unit.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::items::{Units, sort_units};
use super::plan::RearrangePlan;
use crate::engine::job::{BlockFunction, Job};
use crate::engine::progress::Progress;
use crate::engine::run::{Passed, pass};
use crate::ops::error::OperationError;
use crate::records::bad_record::BadPolicy;
use crate::records::sink::Sinks;
use crate::records::sorting::Sorted;
use crate::records::source::{Block, can_be_computed, count_records};

/// Records that travel together: as many as a block has room for.
const BLOCK_RECORDS: u64 = 1 << 15;

/// Blocks that may wait for one before them: they take a megabyte each, and a thread is soon done with one.
const WAITING_BLOCKS: usize = 8;

/// Which part of the memory blocks under way may take.
const ROOM_SHARE: u64 = 8;

/// Whether checksums of the inputs are wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Checksums {
    Wanted,
    /// They are known from another reading.
    Known,
}

/// Who looks on, and may end it.
pub(super) struct Watch<'a> {
    pub(super) progress: &'a mut Progress,
    pub(super) cancel: &'a AtomicBool,
}

/// Reads everything once: `desk` works on blocks on all threads, `take` gets what it made, in the order of
/// the input. What is on the streams of a block then is written.
pub(super) fn read<T: Send + 'static>(
    plan: &RearrangePlan,
    sinks: &mut Sinks,
    checksums: Checksums,
    desk: BlockFunction<T>,
    take: impl FnMut(&mut Sorted, T) -> Result<(), OperationError>,
    watch: &mut Watch<'_>,
) -> Result<Passed, OperationError> {
    let job = Job {
        parts: &plan.parts,
        outputs: &[],
        threads: plan.means.threads,
        block_records: BLOCK_RECORDS,
        first_number: 0,
        checksums: checksums == Checksums::Wanted,
        limit: None,
        waiting_blocks: WAITING_BLOCKS,
        room_bytes: usize::try_from(plan.means.memory.bytes() / ROOM_SHARE).unwrap_or(usize::MAX),
    };
    pass(&job, sinks, move || Arc::clone(&desk), take, watch.progress, watch.cancel)
}

/// What is in an input.
#[derive(Clone, Copy, Default)]
pub(super) struct InInput {
    /// Records, remarks and bad ones included, as numbers count them.
    pub(super) all: u64,
    /// Records that would be written.
    pub(super) written: u64,
}

/// What is in each input, counted in a reading of its own where the size does not tell.
pub(super) fn count(
    plan: &RearrangePlan,
    watch: &mut Watch<'_>,
) -> Result<Vec<InInput>, OperationError> {
    if plan.parts.iter().all(|part| can_be_computed(&part.input)) {
        let records = plan.parts.iter().map(|part| count_records(&part.input));
        let in_input = |all| InInput { all, written: all };
        return Ok(records.map(|records| records.map(in_input)).collect::<Result<_, _>>()?);
    }
    watch.progress.begin("counting", plan.records);
    let mut counts = vec![InInput::default(); plan.parts.len()];
    let desk = desk_of(plan, |block, file| {
        let (sorted, _) = sort_units(block, file, BadPolicy::Skip);
        let found = (block.part, sorted.counts.input, sorted.counts.kept);
        (sorted, found)
    });
    let take = |_: &mut _, (part, all, written): (usize, u64, u64)| {
        counts[part].all += all;
        counts[part].written += written;
        Ok(())
    };
    read(plan, &mut Sinks::create(&[])?, Checksums::Known, desk, take, watch)?;
    Ok(counts)
}

/// A desk that hands on the units of a block.
pub(super) fn desk_of_units(plan: &RearrangePlan, on_error: BadPolicy) -> BlockFunction<Units> {
    desk_of(plan, move |block, file| sort_units(block, file, on_error))
}

/// A desk that does this with every block, and the name of its input.
pub(super) fn desk_of<T: Send + 'static>(
    plan: &RearrangePlan,
    work: impl Fn(&Block, &str) -> (Sorted, T) + Send + Sync + 'static,
) -> BlockFunction<T> {
    let names: Vec<String> = plan.parts.iter().map(|part| part.input.name.clone()).collect();
    Arc::new(move |block: &Block, _: &AtomicBool| Some(work(block, &names[block.part])))
}
