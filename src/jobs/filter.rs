//! The filter: every record judged by a mate search, and written where its verdict sends it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::classify;
use super::plan::JobPlan;
use super::record_run::{Completed, Finding, run_job};
use crate::engine::job::BlockWorker;
use crate::engine::progress::Progress;
use crate::error::Error;
use crate::mate::judge::{Judge, PositionJudge};
use crate::mate::memo::{Memo, Memoized};
use crate::records::processing::ProcessedBlock;
use crate::records::source::Block;
use crate::search::TableError;

/// Records per block. Few, because one hard position keeps a thread busy for seconds, and results that wait for
/// it in the order of the input is in no checkpoint.
const BLOCK_RECORDS: u64 = 8;

/// Filters with the df-pn solver, equal positions once. Sets nothing under a final name unless all went well.
///
/// # Errors
/// [`Error`]. Unfinished outputs are removed unless a checkpoint can resume the run.
pub fn filter(
    plan: JobPlan,
    progress: &mut Progress,
    cancel: &AtomicBool,
) -> Result<Completed, Error> {
    let search = plan.settings.search.clone();
    let memo = Arc::new(Memo::new());
    let make_judge = move || Ok(Memoized::new(Judge::try_new(&search)?, Arc::clone(&memo)));
    filter_with(plan, make_judge, progress, cancel)
}

/// Filters with judges of another making, one for each thread.
///
/// # Errors
/// As [`filter`].
pub fn filter_with<J, F>(
    plan: JobPlan,
    make_judge: F,
    progress: &mut Progress,
    cancel: &AtomicBool,
) -> Result<Completed, Error>
where
    J: PositionJudge + Send + 'static,
    F: Fn() -> Result<J, TableError> + Send + Sync + 'static,
{
    let plan = Arc::new(plan);
    let judged = Arc::clone(&plan);
    let make_worker = move || Ok(JudgeWorker { plan: Arc::clone(&judged), judge: make_judge()? });
    run_job(&plan, BLOCK_RECORDS, make_worker, progress, cancel)
}

/// A judge, and the records that it judges.
struct JudgeWorker<J> {
    plan: Arc<JobPlan>,
    judge: J,
}

impl<J: PositionJudge> BlockWorker for JudgeWorker<J> {
    type Summary = Finding;

    fn process(&mut self, block: &Block, stop: &AtomicBool) -> Option<(ProcessedBlock, Finding)> {
        let before = self.judge.saved();
        let processed = classify::classify_block(&self.plan, block, &mut self.judge, stop)?;
        Some((processed, Ok(self.judge.saved().since(before))))
    }
}
