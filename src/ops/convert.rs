//! From files in any format to one in any format, with an account of what was lost and filled in.
//!
//! Where the format stays, records leave as the bytes that came in, unless canonical form is asked for.

mod games;
mod plan;
mod report;
mod strict;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use crate::engine::job::{BlockFunction, Job};
use crate::engine::progress::Progress;
use crate::engine::run::{CompletedRun, run};
use crate::format::{
    ConvertError, DecodeError, FieldChanges, Lookahead, PositionKey, Record, RecordRef, Warnings,
};
use crate::ops::error::OperationError;
use crate::records::counts::Condition;
use crate::records::position_set::PositionSet;
use crate::records::processing::{
    AfterRecord, NumberedRecord, ProcessedBlock, copy, process_block,
};
use crate::records::reading::RecordError;
use crate::records::source::Block;
use crate::records::stream::Stream;
use crate::shogi::Position;

pub use plan::{Check, ConvertPlan, ConvertRequest, ConvertSettings};
pub use report::{ConvertReport, ConvertedInput, RecordCounts};
pub(crate) use strict::{RecordEffects, Route};

/// Records that travel together: enough that handing them over costs nothing beside the work on them.
const BLOCK_RECORDS: u64 = 1 << 12;

/// Converts. Sets nothing under a final name unless all went well.
///
/// # Errors
/// [`OperationError`]; whatever had been written to files is removed.
pub fn convert(
    plan: ConvertPlan,
    progress: &mut Progress,
    cancel: &AtomicBool,
) -> Result<ConvertReport, OperationError> {
    let started = Instant::now();
    let plan = Arc::new(plan);
    let job = Job {
        outputs: &plan.outputs,
        checksums: plan.checksums,
        limit: plan.settings.limit,
        ..Job::new(&plan.parts, plan.settings.threads, BLOCK_RECORDS)
    };
    let worker_plan = Arc::clone(&plan);
    let worker: BlockFunction<_> =
        Arc::new(move |block, stop| convert_block(&worker_plan, block, stop));
    let mut met = plan.settings.dedup.map(PositionSet::within);
    let take = |processed: &mut ProcessedBlock, candidates: Vec<Candidate>| match &mut met {
        Some(met) => keep_first(met, processed, candidates),
        None => Ok(()),
    };
    let CompletedRun { counts, parts_read, finished } =
        run(&job, move || Arc::clone(&worker), take, progress, cancel)?;
    let report =
        ConvertReport::new(&plan, &counts, &parts_read, finished.written(), started.elapsed());
    report.check_balance()?;
    finished.commit()?;
    progress.finish(&counts);
    Ok(report)
}

/// A record that is written unless an equal position came before it, with what is then to be counted.
struct Candidate {
    position: PositionKey,
    effects: RecordEffects,
}

/// Takes the records out of a block whose positions were met before, in this block or an earlier one.
fn keep_first(
    met: &mut PositionSet,
    processed: &mut ProcessedBlock,
    candidates: Vec<Candidate>,
) -> Result<(), OperationError> {
    let mut is_first = Vec::with_capacity(candidates.len());
    for Candidate { position, effects } in candidates {
        let is_new = met.insert(&position)?;
        if is_new {
            effects.count(processed);
        } else {
            processed.count_filtered(Condition::Duplicate);
        }
        is_first.push(is_new);
    }
    processed.encoded_mut(Stream::Kept).retain(|record| is_first[record]);
    Ok(())
}

/// Sorts a block; `None` if `cancel` was set meanwhile.
fn convert_block(
    plan: &ConvertPlan,
    block: &Block,
    cancel: &AtomicBool,
) -> Option<(ProcessedBlock, Vec<Candidate>)> {
    if block.format.holds_games() && plan.to.format.holds_games() {
        return Some((games::convert_block(plan, block, cancel)?, Vec::new()));
    }
    let file = &plan.parts[block.part].input.name;
    let mut worker =
        RecordConverter { plan, block, lookahead: Lookahead::default(), candidates: Vec::new() };
    let processed =
        process_block(block, file, plan.settings.on_error, cancel, |item, processed| {
            worker.convert(item, processed)
        });
    Some((processed?, worker.candidates))
}

/// Where the records of a block are converted.
struct RecordConverter<'a> {
    plan: &'a ConvertPlan,
    block: &'a Block,
    lookahead: Lookahead,
    candidates: Vec<Candidate>,
}

impl RecordConverter<'_> {
    fn convert(
        &mut self,
        item: &NumberedRecord<'_>,
        processed: &mut ProcessedBlock,
    ) -> Result<AfterRecord, RecordError> {
        let (plan, record, settings) = (self.plan, &item.record, &self.plan.settings);
        if let Some(condition) = settings.filters.failed_by_fields(item.number, record)? {
            processed.count_filtered(condition);
            return Ok(AfterRecord::Continue);
        }
        let route = plan.route(record.format());
        let content = plan.reads_content(route).then(|| record.record()).transpose()?;
        let warnings = match examine(plan, record, content.as_ref())? {
            Ok(warnings) => warnings,
            Err(condition) => {
                processed.count_filtered(condition);
                return Ok(AfterRecord::Continue);
            }
        };
        let key = || match &content {
            Some(content) => Ok(PositionKey::of(&content.setup)),
            None => record.position_key(),
        };
        let position = settings.dedup.map(|_| key()).transpose()?;
        let written = self.write(route, item, content, processed)?;
        let effects = RecordEffects { warnings, written };
        if settings.strict {
            strict::check(record, route, effects)?;
        }
        match position {
            Some(position) => self.candidates.push(Candidate { position, effects }),
            None => effects.count(processed),
        }
        Ok(AfterRecord::Continue)
    }

    fn write(
        &mut self,
        route: Route,
        item: &NumberedRecord<'_>,
        content: Option<Record>,
        processed: &mut ProcessedBlock,
    ) -> Result<FieldChanges, RecordError> {
        let (to, fill) = (self.plan.to.format, &self.plan.settings.fill);
        let record = &item.record;
        let encoded = processed.encoded_mut(Stream::Kept);
        let out = encoded.open_record();
        let written = match route {
            Route::Copy => {
                // What cannot be read is not copied either.
                if content.is_none() {
                    record.check()?;
                }
                copy(item, out)
            }
            Route::Transcode => {
                let (plan, block) = (self.plan, self.block);
                let next = || wanted_behind(plan, block, item);
                record.convert_with_lookahead(to, fill, (&mut self.lookahead, &next), out)?
            }
            Route::Mirror => {
                let content = content.map_or_else(|| record.record(), Ok)?.mirrored();
                record.convert_content(&content, to, fill, out).map_err(ConvertError::from)?
            }
        };
        encoded.end_record();
        Ok(written)
    }
}

/// What follows a record, if it begins with one that the filters take: work ahead would be work for nothing
/// on another.
fn wanted_behind<'a>(plan: &ConvertPlan, block: &'a Block, item: &NumberedRecord<'_>) -> &'a [u8] {
    let rest = block.behind(&item.unit);
    let next = block.format.record_len().and_then(|len| rest.get(..len));
    let is_wanted = next.is_some_and(|next| {
        RecordRef::with_dialect(block.format, block.dialect, next).is_ok_and(|next| {
            plan.settings.filters.failed_by_fields(item.number + 1, &next) == Ok(None)
        })
    });
    if is_wanted { rest } else { &[] }
}

/// What is unusual about a record, as far as it is to be examined, or which condition it fails.
fn examine(
    plan: &ConvertPlan,
    record: &RecordRef<'_>,
    content: Option<&Record>,
) -> Result<Result<Warnings, Condition>, DecodeError> {
    let Some(content) = content.filter(|_| plan.asks_rules()) else {
        return record.writing_warnings().map(Ok);
    };
    // What is no position breaks the rules, which is counted and no reason to refuse the record.
    let position = Position::try_from(&content.setup).ok();
    let position = position.as_ref();
    if let Some(failed) = plan.settings.filters.failed_by_rules(position, content.best_move) {
        return Ok(Err(failed));
    }
    match plan.settings.check {
        Check::Structure => record.writing_warnings(),
        Check::Rules => record.warnings_about(&content.setup, position),
    }
    .map(Ok)
}
