//! Blocks over threads: any thread may take any block, results come back in the order of the input.
//!
//! A bounded number of blocks is under way at any time, so memory does not grow with the input.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{IntoIter, Receiver, Sender, bounded, never, select, unbounded};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::engine::error::RunError;
use crate::engine::job::{Desk, Job};
use crate::records::resume_point::Place;
use crate::records::sorting::Sorted;
use crate::records::source::{
    Block, Checksummed, Delivery, PartRead, Room, Skipping, Source, SourceError, Within,
};
use crate::search::STACK_BYTES;
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

/// How long an interruption may go unnoticed.
const PATIENCE: Duration = Duration::from_millis(50);

/// What the crew has for the coordinator.
pub(crate) enum Step<T> {
    /// The next block in the order of the input.
    Sorted(Box<Judged<T>>),
    /// Nothing yet.
    Waiting,
    /// All blocks were handed over.
    End,
}

/// What became of a block.
pub(crate) struct Judged<T> {
    pub(crate) sorted: Sorted,
    /// What else was found out about it.
    pub(crate) found: T,
    /// What was read of its input up to its end.
    pub(crate) read: PartRead,
}

/// A reader and a pool of workers.
pub(crate) struct Crew<T> {
    pool: ThreadPool,
    desk: Desk<T>,
    reading: Reading,
    results: (Sender<Finished<T>>, Receiver<Finished<T>>),
    stop: Arc<AtomicBool>,
    inputs: Vec<String>,
    /// Blocks handed to the pool so far, also the number of the next one.
    begun: u64,
    /// Blocks handed to the coordinator so far.
    handed_over: u64,
    running: usize,
    most_running: usize,
    waiting: BTreeMap<u64, Box<Judged<T>>>,
    most_waiting: usize,
    waiting_bytes: usize,
    source_ended: bool,
    parts_read: Vec<PartRead>,
}

struct Finished<T> {
    sequence: u64,
    outcome: Outcome<T>,
}

enum Outcome<T> {
    Sorted(Box<Judged<T>>),
    Cancelled,
    Panicked { file: usize, first_index: u64 },
}

impl<T: Send + 'static> Crew<T> {
    /// Starts the threads, behind what was done before.
    pub(crate) fn start(job: &Job<'_>, desk: Desk<T>, behind: &Place) -> Result<Self, RunError> {
        let source = Source::new(job.parts.to_vec(), job.block_records);
        let source =
            source.numbered_from(job.first_number).limited_to(job.limit.unwrap_or(u64::MAX));
        let source = Within::new(source, Room::of_bytes(room_bytes(job)));
        let mut reading = Reading::start("reader", source)?;
        if job.checksums {
            reading = reading.through("checksums", Checksummed::new)?;
        }
        if behind.blocks > 0 {
            let skipping = |blocks| Skipping::new(blocks, behind, inputs(job));
            reading = reading.through("skipping", skipping)?;
        }
        Self::start_with(reading, job, desk)
    }

    fn start_with(reading: Reading, job: &Job<'_>, desk: Desk<T>) -> Result<Self, RunError> {
        let pool = ThreadPoolBuilder::new()
            .num_threads(job.threads)
            .stack_size(STACK_BYTES)
            .thread_name(|number| format!("worker-{number}"))
            .build()?;
        Ok(Self {
            desk,
            reading,
            results: unbounded(),
            stop: Arc::default(),
            inputs: inputs(job),
            begun: 0,
            handed_over: 0,
            running: 0,
            most_running: pool.current_num_threads() * BLOCKS_PER_THREAD,
            waiting: BTreeMap::new(),
            most_waiting: job.waiting_blocks,
            waiting_bytes: 0,
            source_ended: false,
            parts_read: Vec::new(),
            pool,
        })
    }

    /// The next block in order, if it is there within [`PATIENCE`].
    pub(crate) fn step(&mut self) -> Result<Step<T>, RunError> {
        if let Some(block) = self.waiting.remove(&self.handed_over) {
            self.handed_over += 1;
            self.waiting_bytes -= block.sorted.size();
            return Ok(Step::Sorted(block));
        }
        if self.source_ended && self.handed_over == self.begun {
            return Ok(Step::End);
        }
        let has_room = self.running < self.most_running
            && self.waiting_bytes < WAITING_BYTES
            && self.waiting.len() < self.most_waiting;
        let none = never();
        let deliveries =
            if has_room && !self.source_ended { &self.reading.deliveries } else { &none };
        select! {
            recv(self.results.1) -> finished => {
                let finished = finished.expect("the crew holds a sender itself");
                self.put_in_order(finished)?;
            }
            recv(deliveries) -> delivery => match delivery {
                Ok(Ok(Delivery::Block(block))) => self.begin(block),
                Ok(Ok(Delivery::End(part))) => self.parts_read.push(part),
                Ok(Err(error)) => return Err(error.into()),
                Err(_) => {
                    self.source_ended = true;
                    self.reading.check_end()?;
                }
            },
            default(PATIENCE) => {}
        }
        Ok(Step::Waiting)
    }

    /// What was read of each input; complete after [`Step::End`].
    pub(crate) fn into_parts_read(mut self) -> Vec<PartRead> {
        std::mem::take(&mut self.parts_read)
    }

    fn begin(&mut self, block: Block) {
        let sequence = self.begun;
        let (desk, results) = (Arc::clone(&self.desk), self.results.0.clone());
        let stop = Arc::clone(&self.stop);
        self.begun += 1;
        self.running += 1;
        self.pool.spawn_fifo(move || {
            let outcome = match catch_unwind(AssertUnwindSafe(|| desk(&block, &stop))) {
                Ok(Some((sorted, found))) => {
                    Outcome::Sorted(Box::new(Judged { sorted, found, read: block.read() }))
                }
                Ok(None) => Outcome::Cancelled,
                Err(_) => Outcome::Panicked { file: block.part, first_index: block.first_index },
            };
            // Nobody listens any more when the run has failed elsewhere.
            drop(results.send(Finished { sequence, outcome }));
        });
    }

    fn put_in_order(&mut self, finished: Finished<T>) -> Result<(), RunError> {
        self.running -= 1;
        match finished.outcome {
            Outcome::Sorted(block) => {
                self.waiting_bytes += block.sorted.size();
                self.waiting.insert(finished.sequence, block);
                Ok(())
            }
            Outcome::Cancelled => Err(RunError::Interrupted),
            Outcome::Panicked { file, first_index } => {
                let file = self.inputs[file].clone();
                Err(RunError::Panicked { file, first_index })
            }
        }
    }
}

impl<T> Drop for Crew<T> {
    /// Work under way ends soon; nobody waits for them, nor for a reader that waits for its input.
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Memory for blocks: for as many of the usual size as are under way at once. Of large ones there are fewer.
fn room_bytes(job: &Job<'_>) -> usize {
    let blocks = BLOCKS_PER_THREAD.saturating_mul(platform::threads(job.threads) + STAGES);
    blocks.saturating_mul(USUAL_BLOCK_BYTES).min(job.room_bytes).max(LEAST_ROOM_BYTES)
}

fn inputs(job: &Job<'_>) -> Vec<String> {
    job.parts.iter().map(|part| part.input.name.clone()).collect()
}

/// Threads that read a few blocks ahead, each what the one before it has read.
struct Reading {
    deliveries: Receiver<Result<Delivery, SourceError>>,
    threads: Vec<JoinHandle<()>>,
}

impl Reading {
    fn start(
        name: &str,
        source: impl Iterator<Item = Result<Delivery, SourceError>> + Send + 'static,
    ) -> Result<Self, RunError> {
        let (sender, deliveries) = bounded(BLOCKS_PER_THREAD);
        let read = move || {
            for delivery in source {
                if sender.send(delivery).is_err() {
                    break;
                }
            }
        };
        let thread = thread::Builder::new().name(name.to_owned()).spawn(read);
        Ok(Self { deliveries, threads: vec![thread.map_err(RunError::Threads)?] })
    }

    /// The same through a stage that has a thread of its own.
    fn through<S>(
        self,
        name: &str,
        stage: impl FnOnce(IntoIter<Result<Delivery, SourceError>>) -> S,
    ) -> Result<Self, RunError>
    where
        S: Iterator<Item = Result<Delivery, SourceError>> + Send + 'static,
    {
        let mut next = Self::start(name, stage(self.deliveries.into_iter()))?;
        next.threads.extend(self.threads);
        Ok(next)
    }

    /// That a thread ended by a fault of this program must not pass for the end of the inputs.
    fn check_end(&mut self) -> Result<(), RunError> {
        // All have ended when the last one has nothing more.
        let mut ended = self.threads.drain(..).map(JoinHandle::join);
        if ended.any(|ended| ended.is_err()) { Err(RunError::ReaderPanicked) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_panics_does_not_pass_for_the_end() {
        let job = Job {
            parts: &[],
            outputs: &[],
            threads: 1,
            block_records: 1,
            first_number: 0,
            checksums: false,
            limit: None,
            waiting_blocks: 1,
            room_bytes: usize::MAX,
        };
        let source = std::iter::once_with(|| panic!("a fault in the reader"));
        let reading = Reading::start("reader", source).unwrap();
        let reading = reading.through("checksums", Checksummed::new).unwrap();
        let mut crew: Crew<()> = Crew::start_with(reading, &job, Arc::new(|_, _| None)).unwrap();
        let end = loop {
            match crew.step() {
                Ok(Step::Waiting) => {}
                Ok(Step::End) => break None,
                Ok(Step::Sorted(_)) => panic!("there was no block"),
                Err(error) => break Some(error),
            }
        };
        assert!(matches!(end, Some(RunError::ReaderPanicked)), "{end:?}");
    }
}
