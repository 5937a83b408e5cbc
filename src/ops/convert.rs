//! Converts files of any format to one file of any format, and reports lost and filled-in fields.
//!
//! If the format does not change, the bytes of the records are copied, unless canonical form is requested.

mod arrays;
mod eval_scale;
mod games;
mod joining;
mod ordered_decisions;
mod output_format;
mod plan;
mod records;
mod report;
mod strict;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use self::ordered_decisions::OrderedDecisions;
use self::records::BlockFindings;
use crate::engine::job::{BlockFunction, Job};
use crate::engine::progress::Progress;
use crate::engine::run::{CompletedPass, pass};
use crate::error::Error;
use crate::records::output_kind::OutputKind;
use crate::records::processing::ProcessedBlock;
use crate::records::sink::Sinks;
use crate::records::source::Block;

pub use eval_scale::EvalScale;
pub use output_format::OutputFormat;
pub use plan::{Check, ConvertPlan, ConvertRequest, ConvertSettings, MakeGames};
pub use report::{ConvertReport, ConvertedInput, RecordCounts};

/// Records per block: enough to make the cost of passing a block between threads negligible.
const BLOCK_RECORDS: u64 = 1 << 12;

/// Runs a conversion. The outputs get their final names only if the whole conversion succeeds.
///
/// # Errors
/// [`Error`] if the conversion fails. Unfinished outputs are removed.
pub fn convert(
    plan: ConvertPlan,
    progress: &mut Progress,
    cancel: &AtomicBool,
) -> Result<ConvertReport, Error> {
    let started = Instant::now();
    let plan = Arc::new(plan);
    let job = Job {
        checksums: plan.checksums,
        limit: plan.settings.limit,
        ..Job::new(&plan.ranges, plan.settings.threads, BLOCK_RECORDS)
    };
    let worker_plan = Arc::clone(&plan);
    let worker: BlockFunction<_> =
        Arc::new(move |block, stop| convert_block(&worker_plan, block, stop));
    let mut order = OrderedDecisions::new(&plan);
    let mut sinks = Sinks::create_with(&plan.outputs, job.checksums)?;
    let finish_block = |processed: &mut ProcessedBlock, findings: BlockFindings| {
        order.finish_block(processed, findings)
    };
    let CompletedPass { mut counts, ranges_read } =
        pass(&job, &mut sinks, worker, finish_block, progress, cancel)?;
    let mut last_games = ProcessedBlock::default();
    order.close(&mut last_games)?;
    sinks.write(OutputKind::Kept, last_games.encoded(OutputKind::Kept))?;
    counts.add(&last_games.with_tallies().counts);
    // Building tables can take long.
    let finished = sinks.finish_cancellable(&mut || cancel.load(Ordering::Relaxed))?;
    let (written, elapsed) = (finished.written(), started.elapsed());
    let report = ConvertReport::new(&plan, &counts, &ranges_read, written, elapsed);
    report.check_balance().map_err(Error::fault)?;
    finished.commit()?;
    progress.finish(&counts);
    Ok(report)
}

/// Returns `None` if cancelled.
fn convert_block(
    plan: &ConvertPlan,
    block: &Block,
    cancel: &AtomicBool,
) -> Option<(ProcessedBlock, BlockFindings)> {
    if let Some(to) = plan.to.games().filter(|_| block.format.holds_games()) {
        let processed = games::convert_block(plan, to, block, cancel)?;
        return Some((processed, BlockFindings::Pending(Vec::new())));
    }
    records::convert_block(plan, block, cancel)
}
