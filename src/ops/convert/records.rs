//! The records of a block on their way into the output: filtered, examined, converted.

use std::sync::atomic::AtomicBool;

use super::joining::{BlockGames, GameMove};
use super::output_format::OutputFormat;
use super::plan::{Check, ConvertPlan};
use super::strict::{RecordEffects, Route};
use super::{arrays, strict};
use crate::format::{
    DecodeError, FieldChanges, Fields, Lookahead, PositionKey, Record, RecordRef, Warnings,
};
use crate::records::counts::Condition;
use crate::records::filters::RecordFilters;
use crate::records::processing::{
    AfterRecord, NumberedRecord, ProcessedBlock, copy, process_block,
};
use crate::records::reading::RecordError;
use crate::records::source::Block;
use crate::records::stream::Stream;
use crate::shogi::Position;

/// What a worker leaves to be decided when the blocks come in order.
pub(super) enum BlockFindings {
    /// Records that were written, unless an equal position came before.
    Candidates(Vec<Candidate>),
    /// Games that may begin before the block or go on behind it.
    Games(Box<BlockGames>),
    /// Moves of games, unless an equal position came before.
    Moves(Vec<Candidate<GameMove>>),
    /// Records whose games are to be known before anything is decided.
    Grouped(Vec<GroupedRecord>),
}

/// A record that is written unless an equal position came before it.
pub(super) struct Candidate<T = RecordEffects> {
    /// Where positions are compared.
    pub(super) position: Option<PositionKey>,
    /// What is then to be counted, or the move that it is in a game.
    pub(super) written: T,
}

/// A record of a game that may be left out as a whole.
pub(super) struct GroupedRecord {
    pub(super) content: Record,
    /// Where positions are compared.
    pub(super) position: Option<PositionKey>,
    pub(super) decision: Decision,
    /// What is written of it, unless it is a move.
    pub(super) bytes: Vec<u8>,
}

/// What becomes of a record, as far as it alone decides.
pub(super) enum Decision {
    /// It is left out.
    Filtered(Condition),
    /// Its bytes are written.
    Written(RecordEffects),
    /// It is a move of a game.
    Move(Box<GameMove>),
}

/// Sorts a block of records; `None` if `cancel` was set meanwhile.
pub(super) fn convert_block(
    plan: &ConvertPlan,
    block: &Block,
    cancel: &AtomicBool,
) -> Option<(ProcessedBlock, BlockFindings)> {
    let file = &plan.parts[block.part].input.name;
    let mut worker = RecordConverter::new(plan, block);
    let mut processed =
        process_block(block, file, plan.settings.on_error, cancel, |item, processed| {
            worker.convert(item, processed)?;
            Ok(AfterRecord::Continue)
        })?;
    let RecordConverter { candidates, moves, grouped, groups_games, .. } = worker;
    let found = match (plan.makes_games(), plan.settings.dedup) {
        _ if groups_games => BlockFindings::Grouped(grouped),
        (false, _) => BlockFindings::Candidates(candidates),
        (true, Some(_)) => BlockFindings::Moves(moves),
        (true, None) => {
            let moves = moves.into_iter().map(|candidate| candidate.written);
            BlockFindings::Games(Box::new(BlockGames::join(plan, moves, &mut processed)))
        }
    };
    Some((processed, found))
}

/// Where the records of a block are converted.
struct RecordConverter<'a> {
    plan: &'a ConvertPlan,
    block: &'a Block,
    /// What is asked of the fields of its records, if anything is.
    filters: Option<RecordFilters>,
    route: Route,
    reads_content: bool,
    /// Whether the records become moves of games.
    makes_games: bool,
    /// Whether games are to be known before anything is decided.
    groups_games: bool,
    lookahead: Lookahead,
    candidates: Vec<Candidate>,
    moves: Vec<Candidate<GameMove>>,
    grouped: Vec<GroupedRecord>,
}

impl<'a> RecordConverter<'a> {
    fn new(plan: &'a ConvertPlan, block: &'a Block) -> Self {
        let (filters, route) = (plan.filters(block.format), plan.route(block.format));
        Self {
            plan,
            block,
            filters: Some(filters).filter(|filters| filters.ask_fields_of(block.format)),
            route,
            reads_content: plan.reads_content(route),
            makes_games: plan.makes_games(),
            groups_games: plan.groups_games(block.format),
            lookahead: Lookahead::default(),
            candidates: Vec::new(),
            moves: Vec::new(),
            grouped: Vec::new(),
        }
    }

    fn convert(
        &mut self,
        item: &NumberedRecord<'_>,
        processed: &mut ProcessedBlock,
    ) -> Result<(), RecordError> {
        if self.groups_games {
            return self.group(item);
        }
        let encoded = processed.encoded_mut(Stream::Kept);
        match self.decide(item, encoded.open_record())? {
            Decision::Filtered(condition) => processed.count_filtered(condition),
            Decision::Written(effects) => {
                let position = self.compared_position(item)?;
                encoded.end_record();
                match position {
                    None => effects.count(processed),
                    Some(_) => self.candidates.push(Candidate { position, written: effects }),
                }
            }
            Decision::Move(written) => {
                let position = self.compared_position(item)?;
                if position.is_none() {
                    written.count(processed);
                }
                self.moves.push(Candidate { position, written: *written });
            }
        }
        Ok(())
    }

    /// Keeps what has been decided about a record until its game is known.
    fn group(&mut self, item: &NumberedRecord<'_>) -> Result<(), RecordError> {
        let content = item.record.record()?;
        let mut bytes = Vec::new();
        let decision = self.decide(item, &mut bytes)?;
        let position = match decision {
            Decision::Filtered(_) => None,
            Decision::Written(_) | Decision::Move(_) => self.compared_position(item)?,
        };
        self.grouped.push(GroupedRecord { content, position, decision, bytes });
        Ok(())
    }

    /// Where equal positions are to be written once.
    fn compared_position(
        &self,
        item: &NumberedRecord<'_>,
    ) -> Result<Option<PositionKey>, DecodeError> {
        let compares = self.plan.settings.dedup.is_some();
        compares.then(|| item.record.position_key()).transpose()
    }

    /// Decides about a record and appends what is written of it; nothing if it is left out, or cannot be written.
    fn decide(
        &mut self,
        item: &NumberedRecord<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Decision, RecordError> {
        let (plan, record, settings) = (self.plan, &item.record, &self.plan.settings);
        if let Some(filters) = &self.filters
            && let Some(condition) = filters.failed_by_fields(item.number, record)?
        {
            return Ok(Decision::Filtered(condition));
        }
        let route = self.route;
        let content = self.reads_content.then(|| record.record()).transpose()?;
        let warnings = match examine(plan, record, content.as_ref())? {
            Ok(warnings) => warnings,
            Err(condition) => return Ok(Decision::Filtered(condition)),
        };
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
        let mirrored = match route {
            Route::Mirror => Some(content.map_or_else(|| record.record(), Ok)?.mirrored()),
            Route::Copy | Route::Transcode => None,
        };
        if route == Route::Copy && !is_checked {
            // What cannot be read is not copied either.
            record.check()?;
        }
        let (written, missing) = self.write(item, mirrored.as_ref(), out)?;
        let effects = RecordEffects { warnings, written, missing };
        if settings.strict {
            strict::check(record, route, effects)?;
        }
        Ok(Decision::Written(effects))
    }

    /// Appends a record, mirrored if there is a mirror of it: what it lost and was given, and fields that it
    /// leaves out.
    fn write(
        &mut self,
        item: &NumberedRecord<'_>,
        mirrored: Option<&Record>,
        out: &mut Vec<u8>,
    ) -> Result<(FieldChanges, Fields), RecordError> {
        let (record, fill) = (&item.record, &self.plan.settings.fill);
        let to = match self.plan.to {
            OutputFormat::Records(to) => to.format,
            OutputFormat::Arrays(family) => {
                return arrays::push_row(family, (record, mirrored), fill, out);
            }
        };
        let written = match mirrored {
            Some(mirrored) => record.convert_content(mirrored, to, fill, out)?,
            None if self.route == Route::Copy => copy(item, out)?,
            None => {
                let (filters, block) = (self.filters.as_ref(), self.block);
                let next = || wanted_behind(filters, block, item);
                record.convert_with_lookahead(to, fill, (&mut self.lookahead, &next), out)?
            }
        };
        Ok((written, Fields::NONE))
    }
}

/// What follows a record, if it begins with one that the filters take: work ahead would be work for nothing
/// on another.
fn wanted_behind<'a>(
    filters: Option<&RecordFilters>,
    block: &'a Block,
    item: &NumberedRecord<'_>,
) -> &'a [u8] {
    let rest = block.behind(&item.unit);
    let is_wanted = filters.is_none_or(|filters| {
        let next = block.format.record_len().and_then(|len| rest.get(..len));
        let next = next.map(|next| RecordRef::with_dialect(block.format, block.dialect, next));
        next.is_some_and(|next| {
            next.and_then(|next| filters.failed_by_fields(item.number + 1, &next)) == Ok(None)
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
