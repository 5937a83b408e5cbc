//! Runs over the records of archives: blocks over threads, under the protocol of [`super::run`].

use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

use super::identity::Identity;
use super::plan::JobPlan;
use super::record_totals::{RecordManifest, RecordProgress, RecordTotals};
use super::run::{Opened, Run};
use crate::engine::job::{BlockWorker, Job};
use crate::engine::progress::Progress;
use crate::engine::run::{CheckpointHooks, finish, resume_pass};
use crate::error::{Error, ErrorKind, Remedy};
use crate::mate::judge::MemoHits;
use crate::records::account::input_entry;
use crate::records::counts::ResumePoint;
use crate::records::sink::Sinks;
use crate::search::TableError;
use crate::storage::quantity::quantity;

/// Blocks that may wait for an earlier one that takes long.
const WAITING_BLOCKS: usize = 1 << 15;

/// A run over records that has ended well.
pub type Completed = super::run::Completed<RecordTotals>;

/// What a worker reports of a block besides its records: the searches that were saved, or what ends the run.
pub(crate) type Finding = Result<MemoHits, Error>;

/// Executes a plan with one worker per thread. Gives no output its final name unless everything went well.
///
/// # Errors
/// [`Error`]. Outputs are removed, unless there is a checkpoint from which the run can be resumed.
pub(crate) fn run_job<W: BlockWorker<Summary = Finding> + 'static>(
    plan: &JobPlan,
    block_records: u64,
    make_worker: impl Fn() -> Result<W, TableError> + Send + Sync + 'static,
    progress: &mut Progress,
    cancel: &AtomicBool,
) -> Result<Completed, Error> {
    let files = &plan.files;
    let check = |manifest: &RecordManifest| check_ranges(plan, manifest);
    let run = match Run::<RecordProgress>::open(
        files,
        Identity::of(plan),
        plan.records,
        check,
        cancel,
    )? {
        Opened::Run(run) => *run,
        Opened::Done(completed) => return Ok(completed),
    };
    for (path, index) in &plan.offset_tables {
        // The process of another shard may be writing it.
        if let Err(error) = index.save(path)
            && !matches!(error.kind(), ErrorKind::Busy)
        {
            tracing::warn!("cannot keep the index {}: {error}", path.display());
        }
    }
    let job = Job {
        first_number: plan.first_number,
        // The parts of a shard end at the limit.
        limit: plan.settings.limit.filter(|_| files.shard.is_none()),
        waiting_blocks: WAITING_BLOCKS,
        ..Job::new(&plan.ranges, plan.settings.threads, block_records)
    };
    let RecordProgress { mut place, saved } = run.progress().clone();
    progress.start_behind(place.counts.input);
    let saved = Rc::new(Cell::new(saved));
    let all_saved = Rc::clone(&saved);
    let take = move |_: &mut _, found: Finding| {
        let mut all = all_saved.get();
        all.add(found?);
        all_saved.set(all);
        Ok(())
    };
    let (run, sinks) = run.with_sinks(files)?;
    let mut checkpoints = Checkpoints { run, saved };
    // Dropped before the lock, which `run` holds.
    let mut sinks = sinks;
    let from = (&mut sinks, &mut place);
    let hooks = Some(&mut checkpoints as &mut dyn CheckpointHooks);
    let ranges_read = resume_pass(&job, from, make_worker, take, progress, cancel, hooks)?;
    let finished = finish(sinks, &place, cancel, &mut checkpoints)?;
    let Checkpoints { run, saved } = checkpoints;
    let counts = place.counts;
    let inputs =
        ranges_read.iter().map(|read| input_entry(&plan.ranges[read.input], read)).collect();
    let totals = RecordTotals::new(inputs, counts.clone(), saved.get(), run.elapsed_s());
    let parents = plan.previous_run.iter().map(|first| first.parent.clone()).collect();
    let check = |manifest: &RecordManifest| match &plan.previous_run {
        Some(first) => Ok(first.check_run(manifest)?),
        None => Ok(()),
    };
    let completed = run.commit(files, finished, totals, parents, check, cancel)?;
    progress.finish(&counts);
    Ok(completed)
}

/// Checks that a complete run has read the records that this one would read.
fn check_ranges(plan: &JobPlan, manifest: &RecordManifest) -> Result<(), Error> {
    let path = || plan.files.manifest.clone();
    let totals = &manifest.totals;
    for (part, input) in plan.ranges.iter().zip(&totals.inputs) {
        let has_end = part.to.is_none_or(|to| to == input.to);
        if part.from != input.from || !has_end {
            let (manifest, file) = (path(), input.identity.file.clone());
            let error = Error::usage(format!(
                "{} speaks of the records from {} to {} of {file}, which are not those of this run",
                manifest.display(),
                input.from,
                input.to
            ));
            return Err(error.with_remedy(Remedy::StartAfresh));
        }
    }
    match plan.records.filter(|&records| records != totals.counts.input) {
        Some(records) => {
            let (manifest, found) = (path(), totals.counts.input);
            let error = Error::usage(format!(
                "{} speaks of {}, and there are {records}",
                manifest.display(),
                quantity(found, "record")
            ));
            Err(error.with_remedy(Remedy::StartAfresh))
        }
        None => Ok(()),
    }
}

/// Writes the checkpoints of a run between two blocks.
struct Checkpoints {
    run: Run<RecordProgress>,
    /// Searches that were saved so far.
    saved: Rc<Cell<MemoHits>>,
}

impl Checkpoints {
    fn save(&mut self, sinks: &mut Sinks, place: &ResumePoint) -> Result<bool, Error> {
        // Before the first block there is nothing to save.
        if place.blocks == 0 {
            return Ok(false);
        }
        *self.run.progress_mut() = RecordProgress { place: place.clone(), saved: self.saved.get() };
        self.run.save(sinks)
    }
}

impl CheckpointHooks for Checkpoints {
    fn between_blocks(&mut self, sinks: &mut Sinks, place: &ResumePoint) -> Result<(), Error> {
        if self.run.heartbeat() { self.save(sinks, place).map(drop) } else { Ok(()) }
    }

    fn heartbeat(&mut self) {
        self.run.heartbeat();
    }

    fn interrupted(&mut self, sinks: &mut Sinks, place: &ResumePoint) -> Result<Error, Error> {
        Ok(if self.save(sinks, place)? {
            let records = place.counts.input;
            let message = format!("interrupted after {}", quantity(records, "record"));
            Error::new(ErrorKind::Suspended(records), message).with_remedy(Remedy::Resume)
        } else {
            Error::interrupted()
        })
    }
}
