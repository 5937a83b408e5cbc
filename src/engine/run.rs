//! The run that every command on archives shares: blocks over threads, outputs in the order of the input.
//!
//! Outputs keep their partial names here; the caller renames them after the counts have been checked.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::error::RunError;
use super::progress::Progress;
use crate::engine::blocks::{BlockResult, ProcessedDelivery, process_blocks};
use crate::engine::job::{BlockWorker, Job};
use crate::records::counts::Counts;
use crate::records::processing::ProcessedBlock;
use crate::records::resume_point::ResumePoint;
use crate::records::sink::{FinishedOutputs, SinkError, Sinks};
use crate::records::source::PartRead;
use crate::records::stream::Stream;
use crate::search::TableError;
use crate::storage::quantity::quantity;

/// Keeps the checkpoints of a run.
pub(crate) trait CheckpointHooks {
    /// What ends the run.
    type Error: From<RunError>;

    /// Called between two blocks.
    fn between_blocks(
        &mut self,
        sinks: &mut Sinks,
        resume_point: &ResumePoint,
    ) -> Result<(), Self::Error>;

    /// Renews the lock when no block is being processed.
    fn heartbeat(&mut self);

    /// Writes a final checkpoint and returns the error to report.
    fn interrupted(
        &mut self,
        sinks: &mut Sinks,
        resume_point: &ResumePoint,
    ) -> Result<Self::Error, Self::Error>;
}

/// A run whose outputs are whole and on disk.
pub(crate) struct CompletedRun {
    pub(crate) counts: Counts,
    pub(crate) parts_read: Vec<PartRead>,
    pub(crate) finished: FinishedOutputs,
}

/// Reads all parts, processes the blocks and writes the outputs, without giving them their final names.
///
/// Before a block is written, `take` receives its findings: block after block in the order of
/// the input, whatever the threads.
pub(crate) fn run<W: BlockWorker + 'static, E: From<RunError>>(
    job: &Job<'_>,
    make_worker: impl Fn() -> Result<W, TableError> + Send + Sync + 'static,
    take: impl FnMut(&mut ProcessedBlock, W::Found) -> Result<(), E>,
    progress: &mut Progress,
    cancel: &AtomicBool,
) -> Result<CompletedRun, E> {
    let sinks = Sinks::create_with(job.outputs, job.checksums).map_err(RunError::from)?;
    let from = (sinks, ResumePoint::default());
    run_from(job, from, make_worker, take, progress, cancel, None)
}

/// The same with checkpoints, from outputs and a place where an earlier process may have left them.
pub(crate) fn run_with_checkpoints<W: BlockWorker + 'static, E: From<RunError>>(
    job: &Job<'_>,
    from: (Sinks, ResumePoint),
    make_worker: impl Fn() -> Result<W, TableError> + Send + Sync + 'static,
    take: impl FnMut(&mut ProcessedBlock, W::Found) -> Result<(), E>,
    progress: &mut Progress,
    cancel: &AtomicBool,
    hooks: &mut dyn CheckpointHooks<Error = E>,
) -> Result<CompletedRun, E> {
    run_from(job, from, make_worker, take, progress, cancel, Some(hooks))
}

fn run_from<W: BlockWorker + 'static, E: From<RunError>>(
    job: &Job<'_>,
    (mut sinks, mut resume_point): (Sinks, ResumePoint),
    make_worker: impl Fn() -> Result<W, TableError> + Send + Sync + 'static,
    take: impl FnMut(&mut ProcessedBlock, W::Found) -> Result<(), E>,
    progress: &mut Progress,
    cancel: &AtomicBool,
    mut checkpointer: Option<&mut (dyn CheckpointHooks<Error = E> + '_)>,
) -> Result<CompletedRun, E> {
    let sinks_and_point = (&mut sinks, &mut resume_point);
    let hooks = checkpointer.as_deref_mut();
    let parts_read = read_all(job, make_worker, take, sinks_and_point, progress, cancel, hooks)?;
    let finished = finish(sinks, &resume_point, cancel, checkpointer)?;
    Ok(CompletedRun { counts: resume_point.counts, parts_read, finished })
}

/// Flushes the outputs to disk. An interruption at this point is ignored, since everything is written, unless
/// tables are still to be built, which may take minutes.
fn finish<E: From<RunError>>(
    mut sinks: Sinks,
    resume_point: &ResumePoint,
    cancel: &AtomicBool,
    mut checkpointer: Option<&mut (dyn CheckpointHooks<Error = E> + '_)>,
) -> Result<FinishedOutputs, E> {
    if !sinks.has_deferred_tables() {
        return Ok(sinks.finish().map_err(RunError::from)?);
    }
    let interrupted = match &mut checkpointer {
        Some(checkpointer) => checkpointer.interrupted(&mut sinks, resume_point)?,
        None => RunError::Interrupted.into(),
    };
    let finished = sinks.finish_cancellable(&mut || {
        if let Some(checkpointer) = &mut checkpointer {
            checkpointer.heartbeat();
        }
        is_set(cancel)
    });
    match finished {
        Err(SinkError::Interrupted) => Err(interrupted),
        finished => Ok(finished.map_err(RunError::from)?),
    }
}

/// What was read in one pass over the inputs.
pub(crate) struct CompletedPass {
    pub(crate) counts: Counts,
    pub(crate) parts_read: Vec<PartRead>,
}

/// Reads everything once and writes to outputs that are not finished with that.
pub(crate) fn pass<W: BlockWorker + 'static, E: From<RunError>>(
    job: &Job<'_>,
    sinks: &mut Sinks,
    make_worker: impl Fn() -> Result<W, TableError> + Send + Sync + 'static,
    take: impl FnMut(&mut ProcessedBlock, W::Found) -> Result<(), E>,
    progress: &mut Progress,
    cancel: &AtomicBool,
) -> Result<CompletedPass, E> {
    let mut resume_point = ResumePoint::default();
    let parts_read =
        read_all(job, make_worker, take, (sinks, &mut resume_point), progress, cancel, None)?;
    Ok(CompletedPass { counts: resume_point.counts, parts_read })
}

fn read_all<W: BlockWorker + 'static, E: From<RunError>>(
    job: &Job<'_>,
    make_worker: impl Fn() -> Result<W, TableError> + Send + Sync + 'static,
    mut take: impl FnMut(&mut ProcessedBlock, W::Found) -> Result<(), E>,
    (sinks, resume_point): (&mut Sinks, &mut ResumePoint),
    progress: &mut Progress,
    cancel: &AtomicBool,
    mut checkpointer: Option<&mut (dyn CheckpointHooks<Error = E> + '_)>,
) -> Result<Vec<PartRead>, E> {
    if is_set(cancel) {
        return Err(interrupted(checkpointer, sinks, resume_point));
    }
    let mut parts_read = Vec::new();
    let behind = resume_point.clone();
    let decided = Arc::new(Mutex::new(behind.counts.clone()));
    process_blocks(job, &behind, &decided, make_worker, |processed| {
        if is_set(cancel) {
            return Err(interrupted(checkpointer.as_deref_mut(), sinks, resume_point));
        }
        match processed {
            Some(ProcessedDelivery::Block(block)) => {
                let BlockResult { mut processed, found, read, .. } = *block;
                take(&mut processed, found)?;
                write(sinks, processed.with_tallies(), read, resume_point)?;
            }
            Some(ProcessedDelivery::End(read)) => parts_read.push(read),
            None => {}
        }
        if progress.is_due() {
            let counts = decided.lock().unwrap_or_else(PoisonError::into_inner).clone();
            progress.update(&counts);
        }
        match &mut checkpointer {
            Some(checkpointer) => checkpointer.between_blocks(sinks, resume_point),
            None => Ok(()),
        }
    })?;
    Ok(parts_read)
}

/// What ends a run that is interrupted here.
fn interrupted<E: From<RunError>>(
    checkpointer: Option<&mut (dyn CheckpointHooks<Error = E> + '_)>,
    sinks: &mut Sinks,
    resume_point: &ResumePoint,
) -> E {
    let Some(checkpointer) = checkpointer else { return RunError::Interrupted.into() };
    checkpointer.interrupted(sinks, resume_point).unwrap_or_else(|error| error)
}

fn is_set(cancel: &AtomicBool) -> bool {
    cancel.load(Ordering::Relaxed)
}

fn write(
    sinks: &mut Sinks,
    processed: ProcessedBlock,
    read: PartRead,
    resume_point: &mut ResumePoint,
) -> Result<(), RunError> {
    for stream in Stream::ALL {
        sinks.write(stream, processed.encoded(stream))?;
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
        Some(bad) => Err(RunError::BadRecord(bad)),
        None => Ok(()),
    }
}
