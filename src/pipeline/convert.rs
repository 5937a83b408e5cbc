//! From files in any format to one in any format, with an account of what was lost and filled in.
//!
//! Where the format stays, records leave as the bytes that came in, unless canonical form is asked for.

mod games;
mod plan;
mod report;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::counts::{Condition, Fate};
use super::progress::Progress;
use super::reading::Fault;
use super::run::{Done, Job, RunError, run};
use super::sorting::{Item, Next, Sorted, copy, failed_condition, sort_block};
use super::stream::Stream;
use crate::format::ConvertError;
use crate::shogi::Position;

pub use plan::{ConvertPlan, ConvertRequest, ConvertSettings};
pub use report::{ConvertReport, ConvertedInput, RecordCounts};

/// Records that travel together: enough that handing them over costs nothing beside the work on them.
const BLOCK_RECORDS: u64 = 1 << 10;

/// Converts. Sets nothing under a final name unless all went well.
///
/// # Errors
/// [`RunError`]; whatever had been written to files is removed.
pub fn convert(
    plan: ConvertPlan,
    progress: &mut Progress,
    cancel: &AtomicBool,
) -> Result<ConvertReport, RunError> {
    let started = Instant::now();
    let plan = Arc::new(plan);
    let job = Job {
        parts: &plan.parts,
        outputs: &plan.outputs,
        threads: plan.settings.threads,
        block_records: BLOCK_RECORDS,
        limit: plan.settings.limit,
    };
    let desk_plan = Arc::clone(&plan);
    let desk = Arc::new(move |block: &_, stop: &_| sort(&desk_plan, block, stop));
    let Done { counts, parts_read, finished } = run(&job, desk, progress, cancel)?;
    let report =
        ConvertReport::new(&plan, &counts, &parts_read, finished.written(), started.elapsed());
    report.check_balance()?;
    finished.commit()?;
    progress.finish(&counts);
    Ok(report)
}

fn sort(plan: &ConvertPlan, block: &super::source::Block, stop: &AtomicBool) -> Option<Sorted> {
    if block.format.holds_games() && plan.to.format.holds_games() {
        return games::sort(plan, block, stop);
    }
    let file = &plan.parts[block.part].input.name;
    sort_block(block, file, plan.settings.on_error, stop, |item, sorted| {
        convert_record(plan, item, sorted)
    })
}

fn convert_record(plan: &ConvertPlan, item: &Item<'_>, sorted: &mut Sorted) -> Result<Next, Fault> {
    let (record, settings) = (&item.record, &plan.settings);
    let content = record.record()?;
    if content.is_not_for_training && !settings.keep_untrained {
        sorted.count_filtered(Condition::NotForTraining);
        return Ok(Next::Sorted);
    }
    if let Some(condition) = failed_condition(&settings.filters, record)? {
        sorted.count_filtered(condition);
        return Ok(Next::Sorted);
    }
    // What is no position breaks the rules, which is counted and no reason to refuse the record.
    let position = Position::try_from(&content.setup).ok();
    if settings.drop_in_check && position.as_ref().is_some_and(Position::in_check) {
        sorted.count_filtered(Condition::InCheck);
        return Ok(Next::Sorted);
    }
    let warnings = record.warnings_about(&content.setup, position.as_ref())?;
    let batch = sorted.batch_mut(Stream::Kept);
    let out = batch.open_record();
    let written = if plan.to.format == record.format() && !settings.canonical {
        copy(item, out)
    } else {
        record
            .convert_content(&content, plan.to.format, &settings.fill, out)
            .map_err(ConvertError::from)?
    };
    batch.end_record();
    sorted.count_warnings(warnings);
    sorted.counts.count_fate(Fate::Kept);
    sorted.counts.count_fields(written);
    Ok(Next::Sorted)
}
