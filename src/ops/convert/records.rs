//! Filters, checks and converts the records of a block.

use std::sync::atomic::AtomicBool;

use super::arrays;
use super::joining::{BlockGames, GameMove};
use super::output_format::OutputFormat;
use super::plan::{Check, ConvertPlan};
use super::strict::{self, RecordEffects, Route};
use crate::format::{
    DecodeError, FieldChanges, Fields, Lookahead, PositionKey, Record, RecordRef, Reevaluation,
    Warning, Warnings,
};
use crate::records::filters::{Condition, RecordFilters};
use crate::records::output_kind::OutputKind;
use crate::records::processing::{
    AfterRecord, NumberedRecord, ProcessedBlock, copy, process_block,
};
use crate::records::reading::RecordError;
use crate::records::source::Block;
use crate::shogi::Position;

/// The pending decisions of a block. They are made in input order.
pub(super) enum BlockFindings {
    /// Written records, removed if their position occurred before.
    Pending(Vec<PendingRecord>),
    /// Games that may extend beyond the block.
    Games(Box<BlockGames>),
    /// Moves of games, left out if their position occurred before.
    Moves(Vec<PendingRecord<GameMove>>),
    /// Records that can be filtered only when their game is complete.
    Grouped(Vec<GroupedRecord>),
}

/// A record that is written unless its position occurred before.
pub(super) struct PendingRecord<T = RecordEffects> {
    /// `None` without deduplication.
    pub(super) position: Option<PositionKey>,
    /// The effects to count, or the move of a game.
    pub(super) written: T,
}

/// A record of a game that may be filtered as a whole.
pub(super) struct GroupedRecord {
    pub(super) content: Record,
    /// `None` without deduplication, or if the record is filtered.
    pub(super) position: Option<PositionKey>,
    pub(super) decision: Decision,
    /// The encoded record. Empty for moves and filtered records.
    pub(super) bytes: Vec<u8>,
}

/// The decision about a single record, regardless of other records.
pub(super) enum Decision {
    Filtered(Condition),
    Written(RecordEffects),
    Move(Box<GameMove>),
}

/// Returns `None` if cancelled.
pub(super) fn convert_block(
    plan: &ConvertPlan,
    block: &Block,
    cancel: &AtomicBool,
) -> Option<(ProcessedBlock, BlockFindings)> {
    let file = &plan.ranges[block.input].input.name;
    let mut worker = RecordConverter::new(plan, block);
    let mut processed =
        process_block(block, file, plan.settings.on_error, cancel, |item, processed| {
            worker.convert(item, processed)
        })?;
    let RecordConverter { pending, moves, grouped, groups_games, .. } = worker;
    let findings = match (plan.makes_games(), plan.settings.dedup) {
        _ if groups_games => BlockFindings::Grouped(grouped),
        (false, _) => BlockFindings::Pending(pending),
        (true, true) => BlockFindings::Moves(moves),
        (true, false) => {
            let moves = moves.into_iter().map(|record| record.written);
            BlockFindings::Games(Box::new(BlockGames::join(plan, moves, &mut processed)))
        }
    };
    Some((processed, findings))
}

struct RecordConverter<'a> {
    plan: &'a ConvertPlan,
    block: &'a Block,
    /// `None` if no filter applies to fields of this format.
    filters: Option<RecordFilters>,
    route: Route,
    reads_content: bool,
    makes_games: bool,
    /// Whether records can be filtered only when their game is complete.
    groups_games: bool,
    lookahead: Lookahead,
    pending: Vec<PendingRecord>,
    moves: Vec<PendingRecord<GameMove>>,
    grouped: Vec<GroupedRecord>,
}

impl<'a> RecordConverter<'a> {
    fn new(plan: &'a ConvertPlan, block: &'a Block) -> Self {
        let (filters, route) = (plan.filters(block.format), plan.route(block.format));
        Self {
            plan,
            block,
            filters: Some(filters).filter(|filters| filters.can_drop_by_fields(block.format)),
            route,
            reads_content: plan.reads_content(route),
            makes_games: plan.makes_games(),
            groups_games: plan.groups_games(block.format),
            lookahead: Lookahead::default(),
            pending: Vec::new(),
            moves: Vec::new(),
            grouped: Vec::new(),
        }
    }

    fn convert(
        &mut self,
        item: &NumberedRecord<'_>,
        processed: &mut ProcessedBlock,
    ) -> Result<AfterRecord, RecordError> {
        if self.groups_games {
            return self.group(item);
        }
        let encoded = processed.encoded_mut(OutputKind::Kept);
        match self.decide(item, encoded.open_record())? {
            Decision::Filtered(condition) => return Ok(AfterRecord::Filtered(condition)),
            Decision::Written(effects) => {
                let position = self.compared_position(item)?;
                encoded.end_record();
                match position {
                    None => effects.count(processed),
                    Some(_) => self.pending.push(PendingRecord { position, written: effects }),
                }
            }
            Decision::Move(written) => {
                let position = self.compared_position(item)?;
                if position.is_none() {
                    written.count(processed);
                }
                self.moves.push(PendingRecord { position, written: *written });
            }
        }
        Ok(AfterRecord::Continue)
    }

    /// Stores the decision about a record until its game is complete.
    fn group(&mut self, item: &NumberedRecord<'_>) -> Result<AfterRecord, RecordError> {
        let content = item.record.record()?;
        let mut bytes = Vec::new();
        let decision = self.decide(item, &mut bytes)?;
        let position = match decision {
            Decision::Filtered(_) => None,
            Decision::Written(_) | Decision::Move(_) => self.compared_position(item)?,
        };
        self.grouped.push(GroupedRecord { content, position, decision, bytes });
        Ok(AfterRecord::Continue)
    }

    /// The key that deduplication compares. `None` without deduplication.
    fn compared_position(
        &self,
        item: &NumberedRecord<'_>,
    ) -> Result<Option<PositionKey>, DecodeError> {
        self.plan.settings.dedup.then(|| item.record.position_key()).transpose()
    }

    /// Decides about a record and appends its output. Appends nothing if the record is filtered or cannot be written.
    fn decide(
        &mut self,
        item: &NumberedRecord<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Decision, RecordError> {
        let (plan, record, settings) = (self.plan, &item.record, &self.plan.settings);
        if let Some(filters) = &self.filters
            && let Some(condition) = filters.failed_field_condition(item.number, record)?
        {
            return Ok(Decision::Filtered(condition));
        }
        let route = self.route;
        let mut content = self.reads_content.then(|| record.record()).transpose()?;
        let mut warnings = match examine(plan, record, content.as_ref())? {
            Ok(warnings) => warnings,
            Err(condition) => return Ok(Decision::Filtered(condition)),
        };
        let rescaled = settings.eval_scale.zip(content.as_mut());
        let rescaled = rescaled.map(|(scale, content)| scale.rescale(content));
        let (is_rescaled, is_limited) = rescaled.unwrap_or_default();
        if is_limited {
            warnings.insert(Warning::EvalLimited);
        }
        if self.makes_games {
            let content = content.map_or_else(|| record.record(), Ok)?;
            let content = if settings.mirror { content.mirrored() } else { content };
            let written = GameMove::new(plan, self.block, item, content, warnings)?;
            if settings.strict {
                let missing = Fields::NONE;
                let written = written.changes();
                let effects = RecordEffects { warnings, written, missing };
                strict::check(record, Route::Transcode, effects)?;
            }
            return Ok(Decision::Move(Box::new(written)));
        }
        let is_checked = content.is_some();
        let changed = match route {
            Route::Mirror => Some(content.map_or_else(|| record.record(), Ok)?.mirrored()),
            Route::Copy | Route::Transcode => content.filter(|_| is_rescaled),
        };
        if route == Route::Copy && !is_checked {
            // Unreadable records must not be copied.
            record.check()?;
        }
        let (written, missing) = self.write(item, changed.as_ref(), out)?;
        let effects = RecordEffects { warnings, written, missing };
        if settings.strict {
            strict::check(record, route, effects)?;
        }
        Ok(Decision::Written(effects))
    }

    /// Appends the record, or `changed` if given. Returns the changed fields and the array fields that stay empty.
    fn write(
        &mut self,
        item: &NumberedRecord<'_>,
        changed: Option<&Record>,
        out: &mut Vec<u8>,
    ) -> Result<(FieldChanges, Fields), RecordError> {
        let (record, fill) = (&item.record, &self.plan.settings.fill);
        let to = match self.plan.to {
            OutputFormat::Records(to) => to.format,
            OutputFormat::Arrays(family) => {
                return arrays::push_row(family, (record, changed), fill, out);
            }
        };
        let written = match changed {
            // The other bytes stay as they are.
            Some(Record { eval_cp: Some(eval_cp), .. }) if self.route == Route::Copy => {
                let new = Reevaluation { eval_cp: *eval_cp, searched: None };
                record.with_evaluation(&new, to, fill, out)?
            }
            Some(changed) => record.convert_content(changed, to, fill, out)?,
            None if self.route == Route::Copy => copy(item, out)?,
            None => {
                let (filters, block) = (self.filters.as_ref(), self.block);
                let next = || lookahead_bytes(filters, block, item);
                record.convert_with_lookahead(to, fill, (&mut self.lookahead, &next), out)?
            }
        };
        Ok((written, Fields::NONE))
    }
}

/// Returns the bytes after a record if the next record passes the filters. Otherwise lookahead would be wasted, so
/// returns nothing.
fn lookahead_bytes<'a>(
    filters: Option<&RecordFilters>,
    block: &'a Block,
    item: &NumberedRecord<'_>,
) -> &'a [u8] {
    let rest = block.bytes_after(&item.chunk);
    let is_wanted = filters.is_none_or(|filters| {
        let next = block.format.record_len().and_then(|len| rest.get(..len));
        let next = next.map(|next| RecordRef::with_dialect(block.format, block.dialect, next));
        next.is_some_and(|next| {
            next.and_then(|next| filters.failed_field_condition(item.number + 1, &next)) == Ok(None)
        })
    });
    if is_wanted { rest } else { &[] }
}

/// The warnings of a record, or the rule condition that it fails.
fn examine(
    plan: &ConvertPlan,
    record: &RecordRef<'_>,
    content: Option<&Record>,
) -> Result<Result<Warnings, Condition>, DecodeError> {
    let Some(content) = content.filter(|_| plan.asks_rules()) else {
        return record.writing_warnings().map(Ok);
    };
    // A setup that is not a legal position is only counted as a warning.
    let position = Position::try_from(&content.setup).ok();
    let position = position.as_ref();
    if let Some(failed) =
        plan.settings.filters.failed_position_condition(position, content.best_move)
    {
        return Ok(Err(failed));
    }
    match plan.settings.check {
        Check::Structure => record.writing_warnings(),
        Check::Rules => record.warnings_about(&content.setup, position),
    }
    .map(Ok)
}
