//! One pass over the inputs, shared by all commands: blocks are processed on all threads, outputs are written in input
//! order.
//!
//! Outputs keep their partial names here. The caller renames them after it has checked the counts.

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

/// Writes the checkpoints of a run.
pub(crate) trait CheckpointHooks {
    /// Called between two blocks.
    fn between_blocks(
        &mut self,
        sinks: &mut Sinks,
        resume_point: &ResumePoint,
    ) -> Result<(), Error>;

    /// Renews the lock when no block is being processed.
    fn heartbeat(&mut self);

    /// Writes a checkpoint. Returns whether the run can be resumed from it.
    fn save(&mut self, sinks: &mut Sinks, resume_point: &ResumePoint) -> Result<bool, Error>;

    /// Ends the run at the checkpoint that was `saved`, if there is one. Returns the error to report.
    fn interrupted(&mut self, saved: bool, resume_point: &ResumePoint) -> Error;
}

/// The result of one pass over the inputs.
pub(crate) struct CompletedPass {
    pub(crate) counts: Counts,
    pub(crate) ranges_read: Vec<RangeRead>,
}

/// Reads all input ranges, processes their blocks and writes the outputs. The caller finishes the outputs.
///
/// Calls `take` with the summary of each block before the block is written, in input order for any number of threads.
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

/// Like [`pass`], but starts at a resume point, keeps it up to date and writes checkpoints.
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
            Some(hooks) => {
                let saved = hooks.save(sinks, resume_point)?;
                Err(hooks.interrupted(saved, resume_point))
            }
            None => Err(Error::interrupted()),
        }
    };
    check_cancelled(&mut hooks, sinks, resume_point)?;
    let start = resume_point.clone();
    let counts_so_far = Arc::new(Mutex::new(start.counts.clone()));
    process_blocks(job, &start, &counts_so_far, make_worker, |done| {
        check_cancelled(&mut hooks, sinks, resume_point)?;
        if let Some(BlockResult { mut processed, summary, read, .. }) = done {
            take(&mut processed, summary)?;
            write(sinks, processed.with_tallies(), read, resume_point)?;
        }
        if progress.is_due() {
            let counts = counts_so_far.lock().unwrap_or_else(PoisonError::into_inner).clone();
            progress.update(&counts);
        }
        match &mut hooks {
            Some(hooks) => hooks.between_blocks(sinks, resume_point),
            None => Ok(()),
        }
    })
}

/// Flushes the outputs of a run with checkpoints to disk. Everything is written at this point, so an interruption is
/// ignored unless tables remain to be built, which may take minutes.
pub(crate) fn finish(
    mut sinks: Sinks,
    resume_point: &ResumePoint,
    cancel: &AtomicBool,
    hooks: &mut dyn CheckpointHooks,
) -> Result<FinishedOutputs, Error> {
    if !sinks.has_deferred_tables() {
        return sinks.finish();
    }
    let saved = hooks.save(&mut sinks, resume_point)?;
    let finished = sinks.finish_cancellable(&mut || {
        hooks.heartbeat();
        is_set(cancel)
    });
    match finished {
        Err(error) if error.is_interruption() => Err(hooks.interrupted(saved, resume_point)),
        finished => finished,
    }
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
        "block {}: {}, {} kept, {} bad; {} in total",
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
