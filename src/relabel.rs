//! Replaces the evaluations of records by evaluations of a network or a USI engine.
//!
//! Relabelling is a run of [`jobs`](crate::jobs) with shards, manifests and checkpoints. Positions are evaluated by a
//! [`PositionEvaluator`].

#[cfg(feature = "cli")]
pub(crate) mod engine;
pub mod evaluator;
mod games;
#[cfg(feature = "network")]
pub mod network;
mod records;
mod worker;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crossbeam_channel::bounded;

use crate::engine::progress::Progress;
use crate::error::Error;
use crate::jobs::plan::JobPlan;
use crate::jobs::record_run::{Completed, run_job};
use crate::shogi::Position;
use evaluator::{Evaluated, PositionEvaluator};
use worker::RelabelWorker;

/// Maximum time for evaluators to end.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// Records per block of [`blend`].
const BLENDED_RECORDS: u64 = 1 << 12;

/// Stands for the evaluator where none is used.
enum NoEvaluator {}

impl PositionEvaluator for NoEvaluator {
    fn evaluate(&mut self, _: &[Position], _: &AtomicBool) -> Result<Vec<Evaluated>, Error> {
        match *self {}
    }
}

/// Mixes the results of the games into the stored evaluations. The plan must have
/// [`RelabelSettings`](crate::jobs::settings::RelabelSettings) with `keep_eval`.
///
/// # Errors
/// The errors of [`relabel`].
pub fn blend(
    plan: JobPlan,
    progress: &mut Progress,
    cancel: &AtomicBool,
) -> Result<Completed, Error> {
    let no_evaluator = |_: &_| Err::<NoEvaluator, _>(Error::usage("the plan needs an evaluator"));
    relabel(plan, BLENDED_RECORDS, no_evaluator, progress, cancel)
}

/// Relabels records. The plan must have [`RelabelSettings`](crate::jobs::settings::RelabelSettings).
///
/// Each thread creates an evaluator and passes it the positions of `block_records` records at a time. The outputs get
/// their final names only if the whole run succeeds. Evaluators have one second to stop when the cancel flag is set.
///
/// # Errors
/// [`Error`] if the run fails. Unfinished outputs are removed unless a checkpoint can resume the run.
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
    let (alive, all_ended) = bounded(0);
    let make_worker = move || {
        let (plan, make_evaluator) = (Arc::clone(&worker_plan), Arc::clone(&make_evaluator));
        Ok(RelabelWorker::new(plan, make_evaluator, alive.clone()))
    };
    let done = run_job(&plan, block_records, make_worker, progress, cancel);
    // Nothing is ever sent. This waits until the workers and `make_worker` have dropped their senders.
    let _: Result<(), _> = all_ended.recv_timeout(SHUTDOWN_TIMEOUT);
    done
}
