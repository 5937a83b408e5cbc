//! The run that every command on archives shares: blocks over threads, outputs in the order of the input.
//!
//! Nothing gets its final name here: the caller does that when the sums are right.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use thiserror::Error;

use super::progress::Progress;
use super::work::{Crew, Judged, Step};
use crate::jobs::checkpoint::{CheckpointError, Place};
use crate::jobs::keeper::Keeper;
use crate::jobs::manifest::ManifestError;
use crate::jobs::plan::PlanError;
use crate::jobs::staging::SendError;
use crate::jobs::start::StartError;
use crate::records::counts::{Counts, Imbalance};
use crate::records::position_set::Full;
use crate::records::sink::{Finished, OutputPlan, SinkError, Sinks};
use crate::records::sorting::{BadRecord, Sorted};
use crate::records::source::{Block, Part, PartRead, SourceError};
use crate::records::stream::Stream;
use crate::storage::lock::LockError;

/// Why a run ended without outputs.
#[derive(Debug, Error)]
pub enum RunError {
    /// The caller cancelled it.
    #[error("interrupted; unfinished outputs were removed")]
    Interrupted,
    /// The caller cancelled it, and it can be resumed.
    #[error(
        "interrupted after {records} records; the same command with --resume goes on from there"
    )]
    Suspended {
        /// Records that were dealt with.
        records: u64,
    },
    /// It cannot begin as it was asked to.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The manifest of an earlier run could not be read.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// Another process writes the outputs.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// How far the run has come could not be written down.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// A bad record, when the first one is to end the run.
    #[error(transparent)]
    BadRecord(BadRecord),
    /// What is asked for cannot be done with these inputs and outputs.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// An input could not be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// An output could not be written.
    #[error(transparent)]
    Sink(#[from] SinkError),
    /// All was written, and another process can go on.
    #[error("the outputs did not get their names; the same command with --resume goes on")]
    Unnamed(#[source] SinkError),
    /// An output did not get to its store.
    #[error(transparent)]
    Send(#[from] SendError),
    /// The folder of the outputs could not be made.
    #[error("cannot create the folder {folder}")]
    Folder {
        /// The folder.
        folder: String,
        /// What the system says.
        source: io::Error,
    },
    /// More positions than can be remembered.
    #[error(
        "{0} of --memory; allow more, or use `kyokumen dedup`, which does not keep them in memory"
    )]
    TooManyPositions(#[from] Full),
    /// What does not fit into memory could not be kept on disk.
    #[error("cannot {verb} temporary files in {}; --tmp-dir says where they stand", folder.display())]
    Temporary {
        /// What was tried.
        verb: &'static str,
        /// The folder.
        folder: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Threads could not be started.
    #[error("cannot start threads")]
    Threads(#[source] io::Error),
    /// The pool of threads could not be started.
    #[error("cannot start threads")]
    Pool(#[from] rayon::ThreadPoolBuildError),
    /// A fault of this program.
    #[error("internal error at one of the records from number {first_index} of {file}")]
    Panicked {
        /// The input.
        file: String,
        /// First record of the block.
        first_index: u64,
    },
    /// A fault of this program.
    #[error("internal error while reading")]
    ReaderPanicked,
    /// A fault of this program.
    #[error("internal error")]
    Imbalance(#[from] Imbalance),
}

impl RunError {
    /// Whether somebody wished it to end.
    pub const fn is_interruption(&self) -> bool {
        matches!(
            self,
            Self::Interrupted
                | Self::Suspended { .. }
                | Self::Lock(LockError::Interrupted)
                | Self::Send(SendError::Interrupted)
        )
    }

    /// Whether another command line would help, as opposed to another state of the disk.
    pub const fn is_usage(&self) -> bool {
        match self {
            Self::Start(_) => true,
            Self::Plan(error) => error.is_usage(),
            _ => false,
        }
    }
}

/// Blocks that may wait for one before them, where they are small.
pub(crate) const WAITING_BLOCKS: usize = 1 << 12;

/// What is to be read and written.
pub(crate) struct Job<'a> {
    pub(crate) parts: &'a [Part],
    pub(crate) outputs: &'a [OutputPlan],
    /// 0 for as many as the machine runs at once.
    pub(crate) threads: usize,
    pub(crate) block_records: u64,
    /// Number, over all inputs, of the first record.
    pub(crate) first_number: u64,
    /// Records after which reading stops.
    pub(crate) limit: Option<u64>,
    /// Whether checksums of what is read and written are wanted.
    pub(crate) checksums: bool,
    /// Blocks that may wait for one before them, however small they are.
    pub(crate) waiting_blocks: usize,
    /// Memory that blocks under way may take, if that is less than they would.
    pub(crate) room_bytes: usize,
}

/// What a worker does with a block, and what else it found out about it; nothing comes back after a
/// cancellation.
pub(crate) type Desk<T> = Arc<dyn Fn(&Block, &AtomicBool) -> Option<(Sorted, T)> + Send + Sync>;

/// A run whose outputs are whole and on disk.
pub(crate) struct Done {
    pub(crate) counts: Counts,
    pub(crate) parts_read: Vec<PartRead>,
    pub(crate) finished: Finished,
}

/// Reads everything, sorts it at the desk and writes the outputs, without giving them their names.
///
/// Before a block is written, `take` gets what was found out about it: block after block in the order of
/// the input, whatever the threads.
pub(crate) fn run<T: Send + 'static>(
    job: &Job<'_>,
    desk: Desk<T>,
    take: impl FnMut(&mut Sorted, T) -> Result<(), RunError>,
    progress: &mut Progress,
    cancel: &AtomicBool,
) -> Result<Done, RunError> {
    run_kept(job, desk, take, progress, cancel, None)
}

/// The same, with checkpoints from which another process can go on.
pub(crate) fn run_kept<T: Send + 'static>(
    job: &Job<'_>,
    desk: Desk<T>,
    take: impl FnMut(&mut Sorted, T) -> Result<(), RunError>,
    progress: &mut Progress,
    cancel: &AtomicBool,
    mut keeper: Option<&mut Keeper>,
) -> Result<Done, RunError> {
    let resumed = keeper.as_ref().and_then(|keeper| keeper.resumed.as_ref());
    let mut place = resumed.map(|resumed| resumed.place.clone()).unwrap_or_default();
    let mut sinks = match resumed {
        Some(resumed) if !resumed.is_beginning() => {
            Sinks::resume(job.outputs, resumed.outputs.clone())?
        }
        _ => Sinks::create_with(job.outputs, job.checksums)?,
    };
    let whither = (&mut sinks, &mut place);
    let parts_read = read_all(job, desk, take, whither, progress, cancel, keeper.as_deref_mut())?;
    let finished = finish(sinks, &place, cancel, keeper)?;
    Ok(Done { counts: place.counts, parts_read, finished })
}

/// Brings the outputs to disk. Whoever interrupts it now gets the whole, since everything is written; unless
/// files are still to be made of it, which may take minutes.
fn finish(
    mut sinks: Sinks,
    place: &Place,
    cancel: &AtomicBool,
    mut keeper: Option<&mut Keeper>,
) -> Result<Finished, RunError> {
    if !sinks.make_something() {
        return Ok(sinks.finish()?);
    }
    let interrupted = match &mut keeper {
        Some(keeper) => keeper.interrupted(&mut sinks, place),
        None => RunError::Interrupted,
    };
    if !interrupted.is_interruption() {
        return Err(interrupted);
    }
    let finished = sinks.finish_watched(&mut || {
        if let Some(keeper) = &mut keeper {
            keeper.beat();
        }
        is_set(cancel)
    });
    match finished {
        Err(SinkError::Interrupted) => Err(interrupted),
        finished => Ok(finished?),
    }
}

/// What was read in one pass over the inputs.
pub(crate) struct Passed {
    pub(crate) counts: Counts,
    pub(crate) parts_read: Vec<PartRead>,
}

/// Reads everything once and writes to outputs that are not finished with that.
pub(crate) fn pass<T: Send + 'static>(
    job: &Job<'_>,
    sinks: &mut Sinks,
    desk: Desk<T>,
    take: impl FnMut(&mut Sorted, T) -> Result<(), RunError>,
    progress: &mut Progress,
    cancel: &AtomicBool,
) -> Result<Passed, RunError> {
    let mut place = Place::default();
    let parts_read = read_all(job, desk, take, (sinks, &mut place), progress, cancel, None)?;
    Ok(Passed { counts: place.counts, parts_read })
}

fn read_all<T: Send + 'static>(
    job: &Job<'_>,
    desk: Desk<T>,
    mut take: impl FnMut(&mut Sorted, T) -> Result<(), RunError>,
    (sinks, place): (&mut Sinks, &mut Place),
    progress: &mut Progress,
    cancel: &AtomicBool,
    mut keeper: Option<&mut Keeper>,
) -> Result<Vec<PartRead>, RunError> {
    let mut crew = Crew::start(job, desk, place)?;
    loop {
        if is_set(cancel) {
            let interrupted = |keeper: &mut Keeper| keeper.interrupted(sinks, place);
            return Err(keeper.map_or(RunError::Interrupted, interrupted));
        }
        match crew.step()? {
            Step::Sorted(block) => {
                let Judged { mut sorted, found, read } = *block;
                take(&mut sorted, found)?;
                write(sinks, sorted.settled(), read, place)?;
            }
            Step::Waiting => {}
            Step::End => return Ok(crew.into_parts_read()),
        }
        progress.update(&place.counts);
        if let Some(keeper) = &mut keeper {
            keeper.look(sinks, place)?;
        }
    }
}

fn is_set(cancel: &AtomicBool) -> bool {
    cancel.load(Ordering::Relaxed)
}

fn write(
    sinks: &mut Sinks,
    sorted: Sorted,
    read: PartRead,
    place: &mut Place,
) -> Result<(), RunError> {
    for stream in Stream::ALL {
        sinks.write(stream, sorted.batch(stream))?;
    }
    place.advance(&sorted.counts, read);
    match sorted.stopped_by {
        Some(bad) => Err(RunError::BadRecord(bad)),
        None => Ok(()),
    }
}
