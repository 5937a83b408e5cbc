//! The run of a job: from a plan to outputs under their final names, or none at all.
//!
//! The order of the steps is what makes the promises hold: everything written, everything on disk, the
//! balance checked, and only then the names.

use std::io;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::checkpointer::Checkpointer;
use super::identity::Identity;
use super::manifest::Manifest;
use super::plan::JobPlan;
use super::staging::Staging;
use super::start::{ResumeState, StartPoint};
use crate::engine::job::{BlockWorker, Job};
use crate::engine::progress::Progress;
use crate::engine::run::{CompletedRun, run_with_checkpoints};
use crate::jobs::error::JobError;
use crate::jobs::manifest::per_s;
use crate::mate::judge::MemoHits;
use crate::records::account::{input_entry, output_entry};
use crate::records::sink::SinkError;
use crate::search::TableError;
use crate::storage::lock::Lock;
use crate::storage::{files, own_files, platform};

/// As many blocks may wait for one before them that takes long.
const WAITING_BLOCKS: usize = 1 << 15;

/// The result of a job.
#[derive(Clone, Debug)]
pub struct Completed {
    /// The account of the run.
    pub manifest: Manifest,
    /// Whether the run had been brought to its end before, so that nothing was left to do.
    pub was_done: bool,
}

/// What a worker finds out about a block besides what becomes of its records: what was answered without a search,
/// or what ends the run.
pub(crate) type Finding = Result<MemoHits, JobError>;

/// Does what a plan asks for with workers of this making, one for each thread. Sets nothing under a final name unless
/// all went well.
///
/// # Errors
/// [`JobError`]; whatever had been written is removed, unless there is a checkpoint to go on from.
pub(crate) fn run_job<W: BlockWorker<Found = Finding> + 'static>(
    plan: &JobPlan,
    block_records: u64,
    make_worker: impl Fn() -> Result<W, TableError> + Send + Sync + 'static,
    progress: &mut Progress,
    cancel: &AtomicBool,
) -> Result<Completed, JobError> {
    create_folder(plan).map_err(|source| JobError::Io {
        verb: "create the folder",
        path: plan.folder.clone(),
        source,
    })?;
    let lock = Lock::take(&plan.lock, plan.shard.map(|shard| shard.to_string()), cancel)?;
    let mut identity = Identity::of(plan);
    let resume_state = ResumeState::read(plan)?;
    if let Some(manifest) = find_sent(plan, &identity, &resume_state)? {
        leave(plan, lock);
        return Ok(Completed { manifest, was_done: true });
    }
    let resumed = match StartPoint::find(plan, &identity, resume_state)? {
        StartPoint::Fresh => None,
        StartPoint::Resumed(checkpoint) => Some(*checkpoint),
        StartPoint::Done(manifest) => {
            let was_done = !send(plan, &manifest, lock, cancel)?;
            return Ok(Completed { manifest: *manifest, was_done });
        }
    };
    if let Some(resumed) = &resumed {
        identity.run.join_reproducible(resumed.identity.run.clone());
    }
    if let Some(staging) = &plan.staging {
        if plan.resume && resumed.is_none() {
            staging.check_unsent(plan, &identity)?;
        }
        staging.check_writable(plan)?;
    }
    for (path, index) in &plan.indexes {
        match index.save(path) {
            // Another shard's process does it.
            Ok(()) | Err(SinkError::Busy { .. }) => {}
            Err(error) => tracing::warn!("cannot keep the index {}: {error}", path.display()),
        }
    }
    let checkpointer = Checkpointer {
        lock,
        path: plan.checkpoint.clone(),
        every: plan.checkpoint_every,
        identity,
        records: plan.records,
        saved: Rc::default(),
        resumed,
        started: Instant::now(),
        last: Instant::now(),
    };
    let (manifest, lock) = write(plan, block_records, make_worker, checkpointer, progress, cancel)?;
    send(plan, &manifest, lock, cancel)?;
    Ok(Completed { manifest, was_done: false })
}

/// Makes the folder of the outputs. That of outputs on their way to a store stands where other users have
/// theirs.
fn create_folder(plan: &JobPlan) -> io::Result<()> {
    match plan.staging {
        Some(_) => own_files::create_private_folder(&plan.folder),
        None => files::create_folder(&plan.folder),
    }
}

/// The manifest of a run that is to be resumed and whose outputs got to their store.
fn find_sent(
    plan: &JobPlan,
    identity: &Identity,
    resume_state: &ResumeState,
) -> Result<Option<Manifest>, JobError> {
    match &plan.staging {
        Some(staging) if plan.resume => staging.find_sent(plan, identity, resume_state),
        _ => Ok(None),
    }
}

/// Sends the outputs to their store, if they belong into one. Whether they do.
fn send(
    plan: &JobPlan,
    manifest: &Manifest,
    mut lock: Lock,
    cancel: &AtomicBool,
) -> Result<bool, JobError> {
    let Some(staging) = &plan.staging else { return Ok(false) };
    staging.send(plan, manifest, &mut lock, cancel)?;
    leave(plan, lock);
    Ok(true)
}

/// Takes away what is on this machine of outputs that are in their store.
fn leave(plan: &JobPlan, lock: Lock) {
    let Some(staging) = &plan.staging else { return };
    Staging::clear(plan);
    drop(lock);
    staging.leave();
}

/// Everything written, everything on disk, the balance checked, and then the names.
fn write<W: BlockWorker<Found = Finding> + 'static>(
    plan: &JobPlan,
    block_records: u64,
    make_worker: impl Fn() -> Result<W, TableError> + Send + Sync + 'static,
    mut checkpointer: Checkpointer,
    progress: &mut Progress,
    cancel: &AtomicBool,
) -> Result<(Manifest, Lock), JobError> {
    let job = Job {
        outputs: &plan.outputs,
        first_number: plan.first_number,
        // What is left of it for a shard is known.
        limit: plan.settings.limit.filter(|_| plan.shard.is_none()),
        waiting_blocks: WAITING_BLOCKS,
        ..Job::new(&plan.parts, plan.settings.threads, block_records)
    };
    progress.start_behind(
        checkpointer.resumed.as_ref().map_or(0, |resumed| resumed.place.counts.input),
    );
    let saved = Rc::clone(&checkpointer.saved);
    let take = |_: &mut _, found: Finding| {
        let mut all = saved.get();
        all.add(found?);
        saved.set(all);
        Ok(())
    };
    let done =
        run_with_checkpoints(&job, make_worker, take, progress, cancel, Some(&mut checkpointer))?;
    let manifest = account(plan, &done, &checkpointer);
    manifest.check_balance()?;
    if let Some(first) = &plan.previous_run {
        first.check_run(&manifest)?;
    }
    let CompletedRun { finished, counts, .. } = done;
    match &plan.checkpoint {
        Some(_) => {
            let named = finished.resumable().commit_with(&plan.manifest, &manifest.to_json());
            named.map_err(JobError::Unnamed)?;
        }
        None => finished.commit_with(&plan.manifest, &manifest.to_json())?,
    }
    progress.finish(&counts);
    Ok((manifest, checkpointer.done()))
}

/// The account of a run whose outputs are whole.
fn account(plan: &JobPlan, done: &CompletedRun, checkpointer: &Checkpointer) -> Manifest {
    let (counts, saved) = (&done.counts, checkpointer.saved());
    let elapsed_s = checkpointer.elapsed().as_secs_f64();
    Manifest {
        run: checkpointer.identity.run.clone(),
        inputs: done
            .parts_read
            .iter()
            .map(|read| input_entry(&plan.parts[read.part], read))
            .collect(),
        outputs: done.finished.written().map(output_entry).collect(),
        counts: counts.clone(),
        ended_unix_s: platform::now_unix_s(),
        elapsed_s,
        records_per_s: per_s(counts.input, elapsed_s),
        nodes_per_s: per_s(counts.nodes - saved.nodes, elapsed_s),
        saved,
        resumed_from: checkpointer.resumed_from(),
        parents: plan.previous_run.iter().map(|first| first.parent.clone()).collect(),
    }
}
