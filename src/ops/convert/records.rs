//! The records of a block on their way into the output: filtered, examined, converted.

use std::sync::atomic::AtomicBool;

use super::joining::{BlockGames, GameMove};
use super::output_format::OutputFormat;
use super::plan::{Check, ConvertPlan};
use super::strict::{RecordEffects, Route};
use super::{arrays, strict};
use crate::format::{
    DecodeError, FieldChanges, Fields, Format, Lookahead, PositionKey, Record, RecordRef, Warnings,
};
use crate::records::counts::Condition;
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

/// A record that is written unless an equal position came before it, with what is then to be counted.
pub(super) struct Candidate<T = FieldChanges> {
    /// Where positions are compared.
    pub(super) position: Option<PositionKey>,
    pub(super) warnings: Warnings,
    /// What it loses and gains, or the move that it is in a game.
    pub(super) written: T,
    /// Fields of arrays that stay empty.
    pub(super) missing: Fields,
}

/// A record of a game that may be left out as a whole.
pub(super) struct GroupedRecord {
    pub(super) content: Record,
    pub(super) decision: Decision,
    /// What is written of it, unless it is a move.
    pub(super) bytes: Vec<u8>,
}

/// What becomes of a record, as far as it alone decides.
pub(super) enum Decision {
    /// It is left out.
    Filtered(Condition),
    /// Its bytes are written.
    Written(Candidate),
    /// It is a move of a game.
    Move(Box<Candidate<GameMove>>),
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
    let RecordConverter { candidates, moves, grouped, .. } = worker;
    let found = match (plan.joins_games(), plan.settings.dedup) {
        _ if plan.groups_games(block.format) => BlockFindings::Grouped(grouped),
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
    lookahead: Lookahead,
    candidates: Vec<Candidate>,
    moves: Vec<Candidate<GameMove>>,
    grouped: Vec<GroupedRecord>,
}

impl<'a> RecordConverter<'a> {
    fn new(plan: &'a ConvertPlan, block: &'a Block) -> Self {
        let (candidates, moves, grouped) = (Vec::new(), Vec::new(), Vec::new());
        Self { plan, block, lookahead: Lookahead::default(), candidates, moves, grouped }
    }

    fn convert(
        &mut self,
        item: &NumberedRecord<'_>,
        processed: &mut ProcessedBlock,
    ) -> Result<(), RecordError> {
        if self.plan.groups_games(self.block.format) {
            let (content, mut bytes) = (item.record.record()?, Vec::new());
            let decision = self.decide(item, &mut bytes)?;
            self.grouped.push(GroupedRecord { content, decision, bytes });
            return Ok(());
        }
        let encoded = processed.encoded_mut(Stream::Kept);
        match self.decide(item, encoded.open_record())? {
            Decision::Filtered(condition) => processed.count_filtered(condition),
            Decision::Written(candidate) => {
                encoded.end_record();
                match candidate.position {
                    Some(_) => self.candidates.push(candidate),
                    None => candidate.count(processed),
                }
            }
            Decision::Move(candidate) => {
                if candidate.position.is_none() {
                    candidate.count(processed);
                }
                self.moves.push(*candidate);
            }
        }
        Ok(())
    }

    /// Decides about a record and appends what is written of it; nothing if it is left out, or cannot be written.
    fn decide(
        &mut self,
        item: &NumberedRecord<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Decision, RecordError> {
        let (plan, record, settings) = (self.plan, &item.record, &self.plan.settings);
        let filters = plan.filters(record.format());
        if let Some(condition) = filters.failed_by_fields(item.number, record)? {
            return Ok(Decision::Filtered(condition));
        }
        let route = plan.route(record.format());
        let content = plan.reads_content(route).then(|| record.record()).transpose()?;
        let warnings = match examine(plan, record, content.as_ref())? {
            Ok(warnings) => warnings,
            Err(condition) => return Ok(Decision::Filtered(condition)),
        };
        let key = || match &content {
            Some(content) => Ok(PositionKey::of(&content.setup)),
            None => record.position_key(),
        };
        let position = settings.dedup.map(|_| key()).transpose()?;
        if plan.joins_games() {
            let content = content.map_or_else(|| record.record(), Ok)?;
            let content = if settings.mirror { content.mirrored() } else { content };
            let missing = Fields::NONE;
            let written = GameMove::new(plan, self.block, item, content)?;
            if settings.strict {
                let effects = RecordEffects { warnings, written: written.changes(), missing };
                strict::check(record, Route::Transcode, effects)?;
            }
            return Ok(Decision::Move(Box::new(Candidate {
                position,
                warnings,
                written,
                missing,
            })));
        }
        let (written, missing) = self.write(route, item, content, out)?;
        if settings.strict {
            strict::check(record, route, RecordEffects { warnings, written, missing })?;
        }
        Ok(Decision::Written(Candidate { position, warnings, written, missing }))
    }

    /// What the record lost and was given, and fields that it leaves out.
    fn write(
        &mut self,
        route: Route,
        item: &NumberedRecord<'_>,
        content: Option<Record>,
        out: &mut Vec<u8>,
    ) -> Result<(FieldChanges, Fields), RecordError> {
        match self.plan.to {
            OutputFormat::Records(to) => {
                let written = self.write_record(route, item, content, to.format, out)?;
                Ok((written, Fields::NONE))
            }
            OutputFormat::Arrays(family) => {
                let record = &item.record;
                let mirrored = match (route, content) {
                    (Route::Mirror, None) => Some(record.record()?.mirrored()),
                    (Route::Mirror, Some(content)) => Some(content.mirrored()),
                    (Route::Copy | Route::Transcode, _) => None,
                };
                let fill = &self.plan.settings.fill;
                arrays::push_row(family, (record, mirrored.as_ref()), fill, out)
            }
        }
    }

    fn write_record(
        &mut self,
        route: Route,
        item: &NumberedRecord<'_>,
        content: Option<Record>,
        to: Format,
        out: &mut Vec<u8>,
    ) -> Result<FieldChanges, RecordError> {
        let (record, fill) = (&item.record, &self.plan.settings.fill);
        Ok(match route {
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
                record.convert_content(&content, to, fill, out)?
            }
        })
    }
}

impl Candidate {
    /// Counts a record that is written.
    pub(super) fn count(&self, processed: &mut ProcessedBlock) {
        let Self { warnings, written, missing, .. } = *self;
        RecordEffects { warnings, written, missing }.count(processed);
    }
}

impl Candidate<GameMove> {
    /// Counts a record that is written with its game; the fields that it loses show there.
    pub(super) fn count(&self, processed: &mut ProcessedBlock) {
        RecordEffects::count_joined(self.warnings, processed);
    }
}

/// What follows a record, if it begins with one that the filters take: work ahead would be work for nothing
/// on another.
fn wanted_behind<'a>(plan: &ConvertPlan, block: &'a Block, item: &NumberedRecord<'_>) -> &'a [u8] {
    let rest = block.behind(&item.unit);
    let next = block.format.record_len().and_then(|len| rest.get(..len));
    let is_wanted = next.is_some_and(|next| {
        RecordRef::with_dialect(block.format, block.dialect, next).is_ok_and(|next| {
            plan.filters(block.format).failed_by_fields(item.number + 1, &next) == Ok(None)
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
