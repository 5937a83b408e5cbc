//! Reads the blocks of a job, processes them on all threads and returns the results in input order.
//!
//! Reading and hashing run on separate threads if both are needed. The hashing thread passes the blocks to the workers.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::in_order::{Parallelism, process_in_order};
use super::job::{BlockWorker, Job};
use super::prefetch::Prefetch;
use crate::error::Error;
use crate::records::counts::{Counts, ResumePoint};
use crate::records::processing::ProcessedBlock;
use crate::records::source::{
    Block, DeliveredBlocks, MemoryBudget, MemoryPermit, RangeRead, Source,
};
use crate::search::TableError;
use crate::storage::caught_panic::catch;
use crate::storage::platform;

/// No new block is started while the results that wait for an earlier block take at least this much memory.
const WAITING_BYTES: usize = 32 << 20;

/// Memory of a block of the usual size, including read-ahead.
const USUAL_BLOCK_BYTES: usize = 5 << 18;

/// Stages between the input and the workers that hold blocks: reading, read-ahead and hashing.
const STAGES: usize = 3;

/// Minimum memory for blocks in flight, even if the memory limit is lower.
const MIN_BLOCK_MEMORY_BYTES: usize = 4 << 20;

/// Blocks in flight per thread: one being processed and one waiting.
const BLOCKS_PER_THREAD: usize = 2;

/// Blocks of at most this many records, and their results, are small.
const SMALL_BLOCK_RECORDS: u64 = 64;

/// Small blocks in flight per thread: enough to keep the threads busy while results are flushed to disk.
const SMALL_BLOCKS_PER_THREAD: usize = 32;

/// The result of one block.
pub(crate) struct BlockResult<T> {
    pub(crate) processed: ProcessedBlock,
    /// The worker's summary of the block.
    pub(crate) summary: T,
    /// The part of the input read up to the end of the block.
    pub(crate) read: RangeRead,
    /// Holds the memory permit of a large block, or of any block if memory is short, until the result is written: the
    /// result takes about as much memory as the block.
    _permit: Option<MemoryPermit>,
}

/// Processes all blocks after `resume_point` on worker threads and calls `on_result` in input order, or with `None` if
/// no result arrives for a while. Adds each result to `counts_so_far` at once, even if an earlier block is still being
/// processed. Returns how much of each input range was read.
///
/// # Errors
/// Any error of `on_result`; an [`Error`] if a block cannot be read or processed.
pub(crate) fn process_blocks<W: BlockWorker + 'static>(
    job: &Job<'_>,
    resume_point: &ResumePoint,
    counts_so_far: &Arc<Mutex<Counts>>,
    make_worker: impl Fn() -> Result<W, TableError> + Send + Sync + 'static,
    mut on_result: impl FnMut(Option<BlockResult<W::Summary>>) -> Result<(), Error>,
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
    let counts_so_far = Arc::clone(counts_so_far);
    let blocks = blocks(job, resume_point, threads, inputs.clone()).map_err(Error::threads)?;
    let ranges_read = blocks.ranges_read();
    let work = move |worker: &mut W, block: Result<Block, Error>| {
        let done = process(worker, block?, &inputs, is_memory_short, &stopped)?;
        counts_so_far.lock().unwrap_or_else(PoisonError::into_inner).add(&done.processed.counts);
        Ok(done)
    };
    process_in_order(blocks, parallelism, make_worker, work, |done| on_result(done.transpose()?))?;
    let ranges_read = ranges_read.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(ranges_read.clone())
}

/// Stops work in flight soon after the run ends. Neither the workers nor a reader blocked on its input are joined.
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
        Ok(Some((processed, summary))) => Ok(BlockResult {
            processed,
            summary,
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

/// The blocks of a job after the resume point.
fn blocks(
    job: &Job<'_>,
    resume_point: &ResumePoint,
    threads: usize,
    inputs: Vec<String>,
) -> io::Result<DeliveredBlocks<Blocks>> {
    let source = Source::new(job.ranges.to_vec(), job.block_records);
    let source = source.numbered_from(job.first_number).limited_to(job.limit.unwrap_or(u64::MAX));
    let mut source = source.with_boundary(resume_point.read);
    let budget = MemoryBudget::new(block_memory_bytes(job, threads));
    let mut blocks: Blocks = Box::new(std::iter::from_fn(move || {
        let mut block = source.next_or_empty()?;
        if let Ok(block) = &mut block {
            block.permit = Some(budget.take(block.bytes.capacity()));
        }
        Some(block)
    }));
    if job.checksums {
        blocks = Box::new(Prefetch::start(blocks, BLOCKS_PER_THREAD)?);
    }
    Ok(DeliveredBlocks::new(blocks, job.checksums, resume_point.read, inputs))
}

/// Memory for blocks in flight, enough for blocks of the usual size. Fewer large blocks fit into it.
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

    /// The first block waits until all later blocks are counted.
    #[test]
    fn results_are_counted_before_earlier_blocks_finish() {
        const RECORDS: usize = 10;
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("a.hcp");
        std::fs::write(&path, [0; 32 * RECORDS]).unwrap();
        let input = Input::named(&path, FormatName::plain(Format::Hcp));
        let ranges = [InputRange::whole(input)];
        let counts_so_far: Arc<Mutex<Counts>> = Arc::default();
        let count = |counts: &Mutex<Counts>| counts.lock().unwrap().input;
        let seen = Arc::clone(&counts_so_far);
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
        let (job, start) = (Job::new(&ranges, 2, 1), ResumePoint::default());
        process_blocks(&job, &start, &counts_so_far, move || Ok(Arc::clone(&work)), |_| Ok(()))
            .unwrap();
        assert_eq!(count(&counts_so_far), RECORDS as u64);
    }
}
