//! The blocks of a job: read, worked on by all threads, and back in the order of the input.
//!
//! Where reading and hashing are both needed, each runs on a thread of its own; the hashing thread passes the blocks to
//! workers.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::in_order::{Parallelism, in_order};
use super::job::{BlockWorker, Job};
use super::prefetch::Prefetch;
use crate::error::Error;
use crate::records::counts::{Counts, ResumePoint};
use crate::records::processing::ProcessedBlock;
use crate::records::source::{Block, HandedOut, MemoryBudget, MemoryPermit, RangeRead, Source};
use crate::search::TableError;
use crate::storage::caught_panic::catch;
use crate::storage::platform;

/// Results that wait for an earlier block may take this much memory before no new block is begun.
const WAITING_BYTES: usize = 32 << 20;

/// What a block of the usual size takes, with what a reader has read ahead.
const USUAL_BLOCK_BYTES: usize = 5 << 18;

/// Stages that read ahead of the threads.
const STAGES: usize = 3;

/// Minimum memory for blocks in flight, however low the memory limit is.
const MIN_BLOCK_MEMORY_BYTES: usize = 4 << 20;

/// Blocks of the usual size for which there is memory, per thread: one in work, one that waits for it.
const BLOCKS_PER_THREAD: usize = 2;

/// Blocks of at most this many records are small, and so is what becomes of them.
const SMALL_BLOCK_RECORDS: u64 = 64;

/// Small blocks handed out per thread: enough for the time in which results are written and flushed to disk.
const SMALL_BLOCKS_PER_THREAD: usize = 32;

/// What became of a block.
pub(crate) struct BlockResult<T> {
    pub(crate) processed: ProcessedBlock,
    /// What else was found out about it.
    pub(crate) found: T,
    /// What was read of its input up to its end.
    pub(crate) read: RangeRead,
    /// The memory of the block, where it is much or memory is short: what became of it takes about as much, until
    /// it is written.
    _permit: Option<MemoryPermit>,
}

/// Processes the blocks of a job after `behind` on worker threads, and calls `take` with the results in input order, or
/// with nothing while there is none. Results are counted in `decided` at once, even if an earlier block takes long.
/// Returns what was read of each part.
///
/// # Errors
/// The results of `take`, or an [`Error`] if a block cannot be read or processed.
pub(crate) fn process_blocks<W: BlockWorker + 'static>(
    job: &Job<'_>,
    behind: &ResumePoint,
    decided: &Arc<Mutex<Counts>>,
    make_worker: impl Fn() -> Result<W, TableError> + Send + Sync + 'static,
    mut take: impl FnMut(Option<BlockResult<W::Summary>>) -> Result<(), Error>,
) -> Result<Vec<RangeRead>, Error> {
    let threads = platform::threads(job.threads);
    let is_small = job.block_records <= SMALL_BLOCK_RECORDS;
    let running = threads * if is_small { SMALL_BLOCKS_PER_THREAD } else { BLOCKS_PER_THREAD };
    let parallelism = Parallelism {
        threads,
        running,
        in_flight: usize::MAX,
        waiting: job.waiting_blocks,
        waiting_bytes: WAITING_BYTES,
        bytes_of,
    };
    let is_memory_short = job.block_memory_bytes < usize::MAX;
    let stop = StopWhenDropped(Arc::default());
    let stopped = Arc::clone(&stop.0);
    let inputs: Vec<_> = job.ranges.iter().map(|range| range.input.name.clone()).collect();
    let decided = Arc::clone(decided);
    let blocks = blocks(job, behind, threads, inputs.clone()).map_err(Error::threads)?;
    let ranges_read = blocks.ranges_read();
    let work = move |worker: &mut W, block: Result<Block, Error>| {
        let done = process(worker, block?, &inputs, is_memory_short, &stopped)?;
        decided.lock().unwrap_or_else(PoisonError::into_inner).add(&done.processed.counts);
        Ok(done)
    };
    in_order(blocks, parallelism, make_worker, work, |done| take(done.transpose()?))?;
    let ranges_read = ranges_read.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(ranges_read.clone())
}

/// Stops work in flight soon after the run ends; neither the workers nor a reader blocked on its input are joined.
struct StopWhenDropped(Arc<AtomicBool>);

impl Drop for StopWhenDropped {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn process<W: BlockWorker>(
    worker: &mut W,
    mut block: Block,
    inputs: &[String],
    is_memory_short: bool,
    stop: &AtomicBool,
) -> Result<BlockResult<W::Summary>, Error> {
    let is_large = block.bytes().len() > USUAL_BLOCK_BYTES;
    match catch(|| worker.process(&block, stop)) {
        Ok(Some((processed, found))) => Ok(BlockResult {
            processed,
            found,
            read: block.read(),
            _permit: if is_large || is_memory_short { block.permit.take() } else { None },
        }),
        Ok(None) => Err(Error::interrupted()),
        Err(panic) => {
            let (file, index) = (&inputs[block.input], block.first_index);
            Err(Error::internal(format!(
                "internal error at one of the records from number {index} of {file}: {panic}"
            ))
            .in_file(file))
        }
    }
}

fn bytes_of<T>(done: &Result<BlockResult<T>, Error>) -> usize {
    done.as_ref().map_or(0, |done| done.processed.size())
}

type Blocks = Box<dyn Iterator<Item = Result<Block, Error>> + Send>;

/// The blocks of a job after `behind`.
fn blocks(
    job: &Job<'_>,
    behind: &ResumePoint,
    threads: usize,
    inputs: Vec<String>,
) -> io::Result<HandedOut<Blocks>> {
    let source = Source::new(job.ranges.to_vec(), job.block_records);
    let source = source.numbered_from(job.first_number).limited_to(job.limit.unwrap_or(u64::MAX));
    let mut source = source.with_boundary(behind.read);
    let budget = MemoryBudget::of_bytes(block_memory_bytes(job, threads));
    let mut blocks: Blocks = Box::new(std::iter::from_fn(move || {
        let mut block = source.next_of_every_part()?;
        if let Ok(block) = &mut block {
            block.permit = Some(budget.take(block.bytes.capacity()));
        }
        Some(block)
    }));
    if job.checksums {
        blocks = Box::new(Prefetch::start(blocks, BLOCKS_PER_THREAD)?);
    }
    Ok(HandedOut::new(blocks, job.checksums, behind.read, inputs))
}

/// Memory for blocks: for as many of the usual size as are under way at once. Of large ones there are fewer.
fn block_memory_bytes(job: &Job<'_>, threads: usize) -> usize {
    let blocks = BLOCKS_PER_THREAD.saturating_mul(threads + STAGES);
    blocks.saturating_mul(USUAL_BLOCK_BYTES).min(job.block_memory_bytes).max(MIN_BLOCK_MEMORY_BYTES)
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::engine::job::BlockFunction;
    use crate::format::Format;
    use crate::records::format_name::FormatName;
    use crate::records::source::{Input, InputRange};

    /// The first block waits for those behind it to be counted.
    #[test]
    fn what_is_decided_is_counted_before_what_comes_first() {
        const RECORDS: usize = 10;
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("a.hcp");
        std::fs::write(&path, [0; 32 * RECORDS]).unwrap();
        let input = Input::named(&path, FormatName::plain(Format::Hcp));
        let parts = [InputRange::whole(input)];
        let decided: Arc<Mutex<Counts>> = Arc::default();
        let count = |counts: &Mutex<Counts>| counts.lock().unwrap().input;
        let seen = Arc::clone(&decided);
        let work: BlockFunction<()> = Arc::new(move |block, _| {
            let started = Instant::now();
            while block.first_index == 0 && count(&seen) < RECORDS as u64 - 1 {
                assert!(started.elapsed() < Duration::from_mins(1), "nothing was counted");
                thread::yield_now();
            }
            let mut processed = ProcessedBlock::default();
            processed.counts.input = 1;
            Some((processed, ()))
        });
        let (job, behind) = (Job::new(&parts, 2, 1), ResumePoint::default());
        process_blocks(&job, &behind, &decided, move || Ok(Arc::clone(&work)), |_| Ok(())).unwrap();
        assert_eq!(count(&decided), RECORDS as u64);
    }
}
