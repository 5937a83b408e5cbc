//! The blocks of a job: read, worked on by all threads, and back in the order of the input.
//!
//! Reading and hashing have threads of their own where both are needed; whoever hashes hands the blocks to the
//! workers.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::error::RunError;
use super::in_order::{Parallelism, in_order};
use super::job::{BlockWorker, Job};
use super::prefetch::Prefetch;
use crate::records::resume_point::Place;
use crate::records::sorting::Sorted;
use crate::records::source::{
    Checksummed, Delivery, PartRead, Room, Skipping, Source, SourceError, Within,
};
use crate::storage::platform;

/// Results that wait for an earlier block may take this much memory before no new block is begun.
const WAITING_BYTES: usize = 32 << 20;

/// What a block of the usual size takes, with what a reader has read ahead.
const USUAL_BLOCK_BYTES: usize = 5 << 18;

/// Stages that read ahead of the threads.
const STAGES: usize = 3;

/// Blocks under way have this much room, however little memory there is.
const LEAST_ROOM_BYTES: usize = 4 << 20;

/// Blocks under way per thread: enough that none waits for the coordinator.
const BLOCKS_PER_THREAD: usize = 4;

/// What became of a block.
pub(crate) struct ProcessedBlock<T> {
    pub(crate) sorted: Sorted,
    /// What else was found out about it.
    pub(crate) found: T,
    /// What was read of its input up to its end.
    pub(crate) read: PartRead,
}

/// What became of what was read.
pub(crate) enum Processed<T> {
    Block(Box<ProcessedBlock<T>>),
    /// The end of an input, or of the part that is read of it.
    End(PartRead),
}

/// Has the blocks of a job behind `behind` processed by workers, and hands what becomes of them in order to `take`:
/// nothing where there is nothing yet.
///
/// # Errors
/// What `take` returns, and [`RunError`] for what cannot be read or processed.
pub(crate) fn process_blocks<W, E>(
    job: &Job<'_>,
    behind: &Place,
    make_worker: impl Fn() -> W + Send + Sync + 'static,
    mut take: impl FnMut(Option<Processed<W::Found>>) -> Result<(), E>,
) -> Result<(), E>
where
    W: BlockWorker + 'static,
    E: From<RunError>,
{
    let threads = platform::threads(job.threads);
    let running = threads * BLOCKS_PER_THREAD;
    let parallelism = Parallelism {
        threads,
        running,
        under_way: running.saturating_add(job.waiting_blocks),
        waiting_bytes: WAITING_BYTES,
        bytes_of,
    };
    let stop = StopWhenDropped(Arc::default());
    let stopped = Arc::clone(&stop.0);
    let inputs: Vec<_> = job.parts.iter().map(|part| part.input.name.clone()).collect();
    let work = move |worker: &mut W, delivery| process(worker, delivery, &inputs, &stopped);
    let deliveries = deliveries(job, behind, threads).map_err(RunError::Threads)?;
    in_order(deliveries, parallelism, make_worker, work, |processed| take(processed.transpose()?))
}

/// Work under way ends soon when the run does; nobody waits for it, nor for a reader that waits for its input.
struct StopWhenDropped(Arc<AtomicBool>);

impl Drop for StopWhenDropped {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn process<W: BlockWorker>(
    worker: &mut W,
    delivery: Result<Delivery, RunError>,
    inputs: &[String],
    stop: &AtomicBool,
) -> Result<Processed<W::Found>, RunError> {
    let block = match delivery? {
        Delivery::Block(block) => block,
        Delivery::End(read) => return Ok(Processed::End(read)),
    };
    match catch_unwind(AssertUnwindSafe(|| worker.process(&block, stop))) {
        Ok(Some((sorted, found))) => {
            Ok(Processed::Block(Box::new(ProcessedBlock { sorted, found, read: block.read() })))
        }
        Ok(None) => Err(RunError::Interrupted),
        Err(_) => {
            let file = inputs[block.part].clone();
            Err(RunError::Panicked { file, first_index: block.first_index })
        }
    }
}

fn bytes_of<T>(processed: &Result<Processed<T>, RunError>) -> usize {
    match processed {
        Ok(Processed::Block(block)) => block.sorted.size(),
        Ok(Processed::End(_)) | Err(_) => 0,
    }
}

type Deliveries = Box<dyn Iterator<Item = Result<Delivery, SourceError>> + Send>;

/// What is read for a job, behind what was done before.
fn deliveries(job: &Job<'_>, behind: &Place, threads: usize) -> io::Result<CaughtPanics> {
    let source = Source::new(job.parts.to_vec(), job.block_records);
    let source = source.numbered_from(job.first_number).limited_to(job.limit.unwrap_or(u64::MAX));
    let source = Within::new(source, Room::of_bytes(room_bytes(job, threads)));
    let mut deliveries: Deliveries = Box::new(source);
    if job.checksums {
        deliveries = Box::new(Checksummed::new(Prefetch::start(deliveries, BLOCKS_PER_THREAD)?));
    }
    if behind.blocks > 0 {
        let inputs = job.parts.iter().map(|part| part.input.name.clone()).collect();
        deliveries = Box::new(Skipping::new(deliveries, behind, inputs));
    }
    Ok(CaughtPanics(Some(deliveries)))
}

/// Memory for blocks: for as many of the usual size as are under way at once. Of large ones there are fewer.
fn room_bytes(job: &Job<'_>, threads: usize) -> usize {
    let blocks = BLOCKS_PER_THREAD.saturating_mul(threads + STAGES);
    blocks.saturating_mul(USUAL_BLOCK_BYTES).min(job.room_bytes).max(LEAST_ROOM_BYTES)
}

/// Deliveries, a panic while reading being the last: it must not pass for the end of the inputs.
struct CaughtPanics(Option<Deliveries>);

impl Iterator for CaughtPanics {
    type Item = Result<Delivery, RunError>;

    fn next(&mut self) -> Option<Self::Item> {
        let deliveries = self.0.as_mut()?;
        if let Ok(delivery) = catch_unwind(AssertUnwindSafe(|| deliveries.next())) {
            return delivery.map(|delivery| Ok(delivery?));
        }
        self.0 = None;
        Some(Err(RunError::ReaderPanicked))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_panics_does_not_pass_for_the_end() {
        let source = std::iter::once_with(|| panic!("a fault in the reader"));
        let stage = Checksummed::new(Prefetch::start(source, 1).unwrap());
        let mut deliveries = CaughtPanics(Some(Box::new(stage)));
        assert!(matches!(deliveries.next(), Some(Err(RunError::ReaderPanicked))));
        assert!(deliveries.next().is_none());
    }
}
