//! New evaluations for the records of archives: by networks, or by engines that speak USI.
//!
//! A run of the kind of [`jobs`](crate::jobs): shards, manifests, checkpoints; what evaluates is a
//! [`PositionEvaluator`].

pub mod evaluator;
mod games;
#[cfg(feature = "network")]
pub mod network;
mod records;
#[cfg(feature = "cli")]
pub(crate) mod usi_engine;
#[cfg(feature = "cli")]
mod usi_process;
#[cfg(feature = "cli")]
mod usi_progress;
#[cfg(feature = "cli")]
mod usi_score;
mod worker;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crossbeam_channel::bounded;

use crate::engine::progress::Progress;
use crate::error::Error;
use crate::jobs::plan::JobPlan;
use crate::jobs::record_run::{Completed, run_job};
use evaluator::PositionEvaluator;
use worker::RelabelWorker;

/// How long evaluators may take to end.
const LAST_PATIENCE: Duration = Duration::from_secs(1);

/// Gives records new evaluations, as a plan with [`RelabelSettings`](crate::jobs::settings::RelabelSettings) says.
///
/// Each thread makes its own evaluator and asks it about the positions of `block_records` records together. Sets
/// nothing under a final name unless all went well. Evaluators stop when the cancel flag is
/// set, and have one second to do so.
///
/// # Errors
/// [`Error`]. Unfinished outputs are removed unless a checkpoint can resume the run.
pub fn relabel<E, F>(
    plan: JobPlan,
    block_records: u64,
    make_evaluator: F,
    progress: &mut Progress,
    cancel: &AtomicBool,
) -> Result<Completed, Error>
where
    E: PositionEvaluator + 'static,
    F: Fn(&AtomicBool) -> Result<E, Error> + Send + Sync + 'static,
{
    let plan = Arc::new(plan);
    let (worker_plan, make_evaluator) = (Arc::clone(&plan), Arc::new(make_evaluator));
    let (alive, all_gone) = bounded(0);
    let make_worker = move || {
        let (plan, make_evaluator) = (Arc::clone(&worker_plan), Arc::clone(&make_evaluator));
        Ok(RelabelWorker::new(plan, make_evaluator, alive.clone()))
    };
    let done = run_job(&plan, block_records, make_worker, progress, cancel);
    // Nobody sends anything: this waits for all senders to be dropped, those of the workers and that of their maker.
    let _: Result<(), _> = all_gone.recv_timeout(LAST_PATIENCE);
    done
}
