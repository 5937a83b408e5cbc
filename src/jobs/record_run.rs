//! Runs over the records of archives. Processes their blocks on several threads, with the checkpoints and the commit of
//! [`super::run`].

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
use crate::records::source::RangeRead;
use crate::search::TableError;
use crate::storage::quantity::quantity;

/// Maximum number of finished blocks that wait for a slow earlier one.
const WAITING_BLOCKS: usize = 1 << 15;

/// A completed run over records.
pub type Completed = super::run::Completed<RecordTotals>;

/// The summary of a block: its memo hits, or the error that ends the run.
pub(crate) type BlockSummary = Result<MemoHits, Error>;

/// Executes a plan with one worker per thread. The outputs get their final names only after the whole run has
/// succeeded.
///
/// # Errors
/// [`Error`]. Unfinished outputs are removed unless a checkpoint can resume the run.
pub(crate) fn run_job<W: BlockWorker<Summary = BlockSummary> + 'static>(
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
        Identity::from_plan(plan),
        plan.records,
        check,
        cancel,
    )? {
        Opened::Run(run) => *run,
        Opened::Done(completed) => return Ok(completed),
    };
    for (path, table) in &plan.offset_tables {
        // The process of another shard may be writing the same table.
        if let Err(error) = table.save(path)
            && !matches!(error.kind(), ErrorKind::Busy)
        {
            tracing::warn!("cannot save the offset table {}: {error}", path.display());
        }
    }
    let job = Job {
        first_number: plan.first_number,
        // The input ranges of a shard already end at the limit.
        limit: plan.settings.limit.filter(|_| files.shard.is_none()),
        waiting_blocks: WAITING_BLOCKS,
        ..Job::new(&plan.ranges, plan.settings.threads, block_records)
    };
    // Fails if this plan has run before, with the same names.
    drop(plan.first_names.set(run.input_names().cloned().collect()));
    let RecordProgress { mut resume_point, saved } = run.progress().clone();
    progress.start_after(resume_point.counts.input);
    let memo_hits = Rc::new(Cell::new(saved));
    let total_hits = Rc::clone(&memo_hits);
    let take = move |_: &mut _, summary: BlockSummary| {
        let mut total = total_hits.get();
        total.add(summary?);
        total_hits.set(total);
        Ok(())
    };
    let (run, sinks) = run.with_sinks(files)?;
    let mut checkpoints = Checkpoints { run, memo_hits };
    // Declared after `checkpoints`, which holds the lock, so that the outputs are dropped first.
    let mut sinks = sinks;
    let from = (&mut sinks, &mut resume_point);
    let hooks = Some(&mut checkpoints as &mut dyn CheckpointHooks);
    let ranges_read = resume_pass(&job, from, make_worker, take, progress, cancel, hooks)?;
    let finished = finish(sinks, &resume_point, cancel, &mut checkpoints)?;
    let Checkpoints { run, memo_hits } = checkpoints;
    let counts = resume_point.counts;
    let entry = |read: &RangeRead| {
        let mut entry = input_entry(&plan.ranges[read.input], read);
        entry.identity.file.clone_from(plan.listed_name(read.input));
        entry
    };
    let inputs = ranges_read.iter().map(entry).collect();
    let totals = RecordTotals::new(inputs, counts.clone(), memo_hits.get(), run.elapsed_s());
    let parents = plan.previous_run.iter().map(|previous| previous.parent.clone()).collect();
    let check = |manifest: &RecordManifest| match &plan.previous_run {
        Some(previous) => Ok(previous.check_run(manifest)?),
        None => Ok(()),
    };
    let completed = run.commit(files, finished, totals, parents, check, cancel)?;
    progress.finish(&counts);
    Ok(completed)
}

/// Checks that a complete run has read the same records that this run would read.
fn check_ranges(plan: &JobPlan, manifest: &RecordManifest) -> Result<(), Error> {
    let path = || plan.files.manifest.clone();
    let totals = &manifest.totals;
    for (range, input) in plan.ranges.iter().zip(&totals.inputs) {
        let has_same_end = range.to.is_none_or(|to| to == input.to);
        if range.from != input.from || !has_same_end {
            let (manifest, file) = (path(), input.identity.file.clone());
            let error = Error::exists(format!(
                "{} was written for records {} to {} of {file}, but this run would read records {} to {}",
                manifest.display(),
                input.from,
                input.to,
                range.from,
                range.to.unwrap_or(input.to)
            ));
            return Err(error.with_remedy(Remedy::Restart));
        }
    }
    match plan.records.filter(|&records| records != totals.counts.input) {
        Some(records) => {
            let (manifest, found) = (path(), totals.counts.input);
            let error = Error::exists(format!(
                "{} was written for {}, but this run would read {records}",
                manifest.display(),
                quantity(found, "record")
            ));
            Err(error.with_remedy(Remedy::Restart))
        }
        None => Ok(()),
    }
}

/// Writes the checkpoints of a run between two blocks.
struct Checkpoints {
    run: Run<RecordProgress>,
    memo_hits: Rc<Cell<MemoHits>>,
}

impl CheckpointHooks for Checkpoints {
    fn between_blocks(
        &mut self,
        sinks: &mut Sinks,
        resume_point: &ResumePoint,
    ) -> Result<(), Error> {
        if self.run.heartbeat() { self.save(sinks, resume_point).map(drop) } else { Ok(()) }
    }

    fn heartbeat(&mut self) {
        self.run.heartbeat();
    }

    /// Writes no checkpoint before the first block.
    fn save(&mut self, sinks: &mut Sinks, resume_point: &ResumePoint) -> Result<bool, Error> {
        if resume_point.blocks == 0 {
            return Ok(false);
        }
        let resume_point = resume_point.clone();
        *self.run.progress_mut() = RecordProgress { resume_point, saved: self.memo_hits.get() };
        self.run.save(sinks)
    }

    fn interrupted(&mut self, saved: bool, resume_point: &ResumePoint) -> Error {
        if !saved {
            return Error::interrupted();
        }
        self.run.send_last_checkpoint();
        let records = resume_point.counts.input;
        let message = format!("interrupted after {}", quantity(records, "record"));
        Error::new(ErrorKind::Suspended(records), message).with_remedy(Remedy::Resume)
    }
}
