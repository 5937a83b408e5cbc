//! The run that every command on archives shares: blocks over threads, outputs in the order of the input.
//!
//! Nothing gets its final name here: the caller does that when the sums are right.

use std::sync::atomic::{AtomicBool, Ordering};

use super::error::RunError;
use super::progress::Progress;
use crate::engine::blocks::{Processed, ProcessedBlock, process_blocks};
use crate::engine::job::{BlockWorker, Job};
use crate::records::counts::Counts;
use crate::records::resume_point::Place;
use crate::records::sink::{Finished, OutputState, SinkError, Sinks};
use crate::records::sorting::Sorted;
use crate::records::source::PartRead;
use crate::records::stream::Stream;

/// Blocks that may wait for one before them, where they are small.
pub(crate) const WAITING_BLOCKS: usize = 1 << 12;

/// Who keeps checkpoints of a run while it goes on.
pub(crate) trait Checkpoints {
    /// What ends the run.
    type Error: From<RunError>;

    /// Where the run goes on, and how far each output had come there; none where it begins.
    fn resumed(&self) -> Option<(&Place, &[OutputState])>;

    /// What there is to do between two blocks.
    fn look(&mut self, sinks: &mut Sinks, place: &Place) -> Result<(), Self::Error>;

    /// A sign of life, where nothing else is to be done.
    fn beat(&mut self);

    /// Writes down where the run was interrupted; what is to be said then.
    fn interrupted(&mut self, sinks: &mut Sinks, place: &Place)
    -> Result<Self::Error, Self::Error>;
}

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
pub(crate) fn run<W: BlockWorker + 'static, E: From<RunError>>(
    job: &Job<'_>,
    make_worker: impl Fn() -> W + Send + Sync + 'static,
    take: impl FnMut(&mut Sorted, W::Found) -> Result<(), E>,
    progress: &mut Progress,
    cancel: &AtomicBool,
) -> Result<Done, E> {
    run_kept(job, make_worker, take, progress, cancel, None)
}

/// The same, with checkpoints from which another process can go on.
pub(crate) fn run_kept<W: BlockWorker + 'static, E: From<RunError>>(
    job: &Job<'_>,
    make_worker: impl Fn() -> W + Send + Sync + 'static,
    take: impl FnMut(&mut Sorted, W::Found) -> Result<(), E>,
    progress: &mut Progress,
    cancel: &AtomicBool,
    mut keeper: Option<&mut (dyn Checkpoints<Error = E> + '_)>,
) -> Result<Done, E> {
    let resumed = keeper.as_ref().and_then(|keeper| keeper.resumed());
    let (mut place, mut sinks) = match resumed {
        Some((place, outputs)) => {
            (place.clone(), Sinks::resume(job.outputs, outputs.to_vec()).map_err(RunError::from)?)
        }
        None => {
            let sinks = Sinks::create_with(job.outputs, job.checksums).map_err(RunError::from)?;
            (Place::default(), sinks)
        }
    };
    let whither = (&mut sinks, &mut place);
    let parts_read =
        read_all(job, make_worker, take, whither, progress, cancel, keeper.as_deref_mut())?;
    let finished = finish(sinks, &place, cancel, keeper)?;
    Ok(Done { counts: place.counts, parts_read, finished })
}

/// Brings the outputs to disk. Whoever interrupts it now gets the whole, since everything is written; unless
/// files are still to be made of it, which may take minutes.
fn finish<E: From<RunError>>(
    mut sinks: Sinks,
    place: &Place,
    cancel: &AtomicBool,
    mut keeper: Option<&mut (dyn Checkpoints<Error = E> + '_)>,
) -> Result<Finished, E> {
    if !sinks.make_something() {
        return Ok(sinks.finish().map_err(RunError::from)?);
    }
    let interrupted = match &mut keeper {
        Some(keeper) => keeper.interrupted(&mut sinks, place)?,
        None => RunError::Interrupted.into(),
    };
    let finished = sinks.finish_watched(&mut || {
        if let Some(keeper) = &mut keeper {
            keeper.beat();
        }
        is_set(cancel)
    });
    match finished {
        Err(SinkError::Interrupted) => Err(interrupted),
        finished => Ok(finished.map_err(RunError::from)?),
    }
}

/// What was read in one pass over the inputs.
pub(crate) struct Passed {
    pub(crate) counts: Counts,
    pub(crate) parts_read: Vec<PartRead>,
}

/// Reads everything once and writes to outputs that are not finished with that.
pub(crate) fn pass<W: BlockWorker + 'static, E: From<RunError>>(
    job: &Job<'_>,
    sinks: &mut Sinks,
    make_worker: impl Fn() -> W + Send + Sync + 'static,
    take: impl FnMut(&mut Sorted, W::Found) -> Result<(), E>,
    progress: &mut Progress,
    cancel: &AtomicBool,
) -> Result<Passed, E> {
    let mut place = Place::default();
    let parts_read = read_all(job, make_worker, take, (sinks, &mut place), progress, cancel, None)?;
    Ok(Passed { counts: place.counts, parts_read })
}

fn read_all<W: BlockWorker + 'static, E: From<RunError>>(
    job: &Job<'_>,
    make_worker: impl Fn() -> W + Send + Sync + 'static,
    mut take: impl FnMut(&mut Sorted, W::Found) -> Result<(), E>,
    (sinks, place): (&mut Sinks, &mut Place),
    progress: &mut Progress,
    cancel: &AtomicBool,
    mut keeper: Option<&mut (dyn Checkpoints<Error = E> + '_)>,
) -> Result<Vec<PartRead>, E> {
    let mut parts_read = Vec::new();
    let behind = place.clone();
    process_blocks(job, &behind, make_worker, |processed| {
        if is_set(cancel) {
            return Err(match &mut keeper {
                Some(keeper) => keeper.interrupted(sinks, place)?,
                None => RunError::Interrupted.into(),
            });
        }
        match processed {
            Some(Processed::Block(block)) => {
                let ProcessedBlock { mut sorted, found, read } = *block;
                take(&mut sorted, found)?;
                write(sinks, sorted.settled(), read, place)?;
            }
            Some(Processed::End(read)) => parts_read.push(read),
            None => {}
        }
        progress.update(&place.counts);
        match &mut keeper {
            Some(keeper) => keeper.look(sinks, place),
            None => Ok(()),
        }
    })?;
    Ok(parts_read)
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
