//! The run that every command on archives shares: blocks over threads, outputs in the order of the input.
//!
//! Outputs keep their partial names here; the caller renames them after the counts have been checked.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::progress::Progress;
use crate::engine::blocks::{BlockResult, process_blocks};
use crate::engine::job::{BlockFunction, BlockWorker, Job};
use crate::error::Error;
use crate::records::counts::{Counts, ResumePoint};
use crate::records::output_kind::OutputKind;
use crate::records::processing::ProcessedBlock;
use crate::records::sink::{FinishedOutputs, Sinks};
use crate::records::source::RangeRead;
use crate::search::TableError;
use crate::storage::quantity::quantity;

/// Keeps the checkpoints of a run.
pub(crate) trait CheckpointHooks {
    /// Called between two blocks.
    fn between_blocks(
        &mut self,
        sinks: &mut Sinks,
        resume_point: &ResumePoint,
    ) -> Result<(), Error>;

    /// Renews the lock when no block is being processed.
    fn heartbeat(&mut self);

    /// Writes a final checkpoint and returns the error to report.
    fn interrupted(
        &mut self,
        sinks: &mut Sinks,
        resume_point: &ResumePoint,
    ) -> Result<Error, Error>;
}

/// What was read in one pass over the inputs.
pub(crate) struct CompletedPass {
    pub(crate) counts: Counts,
    pub(crate) ranges_read: Vec<RangeRead>,
}

/// Reads all parts, processes the blocks and writes the outputs, which the caller finishes.
///
/// Before a block is written, `take` receives its findings, in the order of the input for any number of threads.
pub(crate) fn pass<T: Send + 'static>(
    job: &Job<'_>,
    sinks: &mut Sinks,
    worker: BlockFunction<T>,
    take: impl FnMut(&mut ProcessedBlock, T) -> Result<(), Error>,
    progress: &mut Progress,
    cancel: &AtomicBool,
) -> Result<CompletedPass, Error> {
    let mut resume_point = ResumePoint::default();
    let from = (sinks, &mut resume_point);
    let make_worker = move || Ok(Arc::clone(&worker));
    let ranges_read = resume_pass(job, from, make_worker, take, progress, cancel, None)?;
    Ok(CompletedPass { counts: resume_point.counts, ranges_read })
}

/// [`pass`] from a resume point, which is kept up to date, with checkpoints.
pub(crate) fn resume_pass<W: BlockWorker + 'static>(
    job: &Job<'_>,
    (sinks, resume_point): (&mut Sinks, &mut ResumePoint),
    make_worker: impl Fn() -> Result<W, TableError> + Send + Sync + 'static,
    mut take: impl FnMut(&mut ProcessedBlock, W::Summary) -> Result<(), Error>,
    progress: &mut Progress,
    cancel: &AtomicBool,
    mut hooks: Option<&mut dyn CheckpointHooks>,
) -> Result<Vec<RangeRead>, Error> {
    let check_cancelled = |hooks: &mut Option<&mut dyn CheckpointHooks>,
                           sinks: &mut Sinks,
                           resume_point: &ResumePoint| {
        match hooks {
            _ if !is_set(cancel) => Ok(()),
            Some(hooks) => Err(hooks.interrupted(sinks, resume_point)?),
            None => Err(Error::interrupted()),
        }
    };
    check_cancelled(&mut hooks, sinks, resume_point)?;
    let behind = resume_point.clone();
    let decided = Arc::new(Mutex::new(behind.counts.clone()));
    process_blocks(job, &behind, &decided, make_worker, |done| {
        check_cancelled(&mut hooks, sinks, resume_point)?;
        if let Some(BlockResult { mut processed, found, read, .. }) = done {
            take(&mut processed, found)?;
            write(sinks, processed.with_tallies(), read, resume_point)?;
        }
        if progress.is_due() {
            let counts = decided.lock().unwrap_or_else(PoisonError::into_inner).clone();
            progress.update(&counts);
        }
        match &mut hooks {
            Some(hooks) => hooks.between_blocks(sinks, resume_point),
            None => Ok(()),
        }
    })
}

/// Flushes the outputs of a run with checkpoints to disk. An interruption at this point is ignored, since everything
/// is written, unless tables are still to be built, which may take minutes.
pub(crate) fn finish(
    mut sinks: Sinks,
    resume_point: &ResumePoint,
    cancel: &AtomicBool,
    hooks: &mut dyn CheckpointHooks,
) -> Result<FinishedOutputs, Error> {
    if !sinks.has_deferred_tables() {
        return sinks.finish();
    }
    let interrupted = hooks.interrupted(&mut sinks, resume_point)?;
    let finished = sinks.finish_cancellable(&mut || {
        hooks.heartbeat();
        is_set(cancel)
    });
    finished.map_err(|error| if error.is_interruption() { interrupted } else { error })
}

fn is_set(cancel: &AtomicBool) -> bool {
    cancel.load(Ordering::Relaxed)
}

fn write(
    sinks: &mut Sinks,
    processed: ProcessedBlock,
    read: RangeRead,
    resume_point: &mut ResumePoint,
) -> Result<(), Error> {
    for kind in OutputKind::ALL {
        sinks.write(kind, processed.encoded(kind))?;
    }
    resume_point.advance(&processed.counts, read);
    let counts = &processed.counts;
    tracing::debug!(
        "block {}: {}, {} kept, {} bad; {} so far",
        resume_point.blocks,
        quantity(counts.input, "record"),
        counts.kept,
        counts.bad_records(),
        resume_point.counts.input
    );
    match processed.stopped_by {
        Some(bad) => Err(Error::from(bad)),
        None => Ok(()),
    }
}
