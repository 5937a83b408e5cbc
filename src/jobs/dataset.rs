//! Datasets of solved positions: one row per position, with verdict, mate and source.
//!
//! `docs/datasets.md` describes the columns and their use in training.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::filter::filter_with;
use super::plan::JobPlan;
use super::record_run::Completed;
use crate::engine::progress::Progress;
use crate::error::Error;
use crate::mate::judge::Judge;
use crate::mate::memo::{Memo, Memoized};
use crate::search::TableError;

/// Creates a dataset. Equal positions are usually searched once. The outputs get their final names only after the whole
/// run has succeeded.
///
/// # Errors
/// [`Error`]. Unfinished outputs are removed unless a checkpoint can resume the run.
pub fn dataset(
    plan: JobPlan,
    progress: &mut Progress,
    cancel: &AtomicBool,
) -> Result<Completed, Error> {
    let make_judge = judges(&plan);
    filter_with(plan, make_judge, progress, cancel)
}

/// A constructor for the judges of a plan, one per thread. All of them share one memo.
pub fn judges(
    plan: &JobPlan,
) -> impl Fn() -> Result<Memoized<Judge>, TableError> + Send + Sync + use<> {
    let search = plan.settings.search.clone();
    let tsume_plies = plan.settings.dataset.is_some_and(|dataset| dataset.tsume_plies);
    let memo = Arc::new(Memo::new());
    move || {
        let judge = Judge::try_new(&search)?.tsume(tsume_plies);
        Ok(Memoized::new(judge, Arc::clone(&memo)))
    }
}
