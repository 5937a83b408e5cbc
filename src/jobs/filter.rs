//! The filter. It searches each record's position for a forced mate and writes the record to the output that belongs to
//! its verdict.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::classify;
use super::plan::{JobPlan, Product};
use super::record_run::{BlockSummary, Completed, run_job};
use crate::engine::job::BlockWorker;
use crate::engine::progress::Progress;
use crate::error::Error;
use crate::mate::judge::{Judge, PositionJudge};
use crate::mate::memo::{Memo, Memoized};
use crate::records::processing::ProcessedBlock;
use crate::records::source::Block;
use crate::search::TableError;

/// Records per block. Blocks are small because a hard position keeps a thread busy for seconds. Results of later blocks
/// must wait for it, and no checkpoint includes them yet.
const BLOCK_RECORDS: u64 = 8;

/// Filters with the df-pn solver. Equal positions are usually searched once. The outputs get their final names only
/// after the whole run has succeeded.
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

/// Like [`filter`], but with judges that `make_judge` creates, one per thread.
///
/// # Errors
/// See [`filter`].
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
    let worker_plan = Arc::clone(&plan);
    let make_worker =
        move || Ok(JudgeWorker { plan: Arc::clone(&worker_plan), judge: make_judge()? });
    // A leaf of a hard problem may take minutes, so a checkpoint follows each.
    let block_records = if plan.product == Product::Leaves { 1 } else { BLOCK_RECORDS };
    run_job(&plan, block_records, make_worker, progress, cancel)
}

struct JudgeWorker<J> {
    plan: Arc<JobPlan>,
    judge: J,
}

impl<J: PositionJudge> BlockWorker for JudgeWorker<J> {
    type Summary = BlockSummary;

    fn process(
        &mut self,
        block: &Block,
        stop: &AtomicBool,
    ) -> Option<(ProcessedBlock, BlockSummary)> {
        let before = self.judge.memo_hits();
        let processed = classify::classify_block(&self.plan, block, &mut self.judge, stop)?;
        Some((processed, Ok(self.judge.memo_hits().since(before))))
    }
}
