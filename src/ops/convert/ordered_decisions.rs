//! Decisions that depend on input order: which positions are duplicates, and where games begin and end.

use super::joining::{GameJoiner, GameMove, MAX_MOVES};
use super::plan::ConvertPlan;
use super::records::{BlockFindings, Decision, GroupedRecord, PendingRecord};
use crate::error::Error;
use crate::format::{Continuation, PositionKey};
use crate::records::filters::Condition;
use crate::records::output_kind::OutputKind;
use crate::records::position_set::PositionSet;
use crate::records::processing::ProcessedBlock;

/// The decisions, and the state that they carry from block to block.
pub(super) struct OrderedDecisions<'a> {
    plan: &'a ConvertPlan,
    /// Positions of earlier records. `None` without deduplication.
    seen: Option<PositionSet>,
    /// Joins records into games and holds the open one.
    joiner: GameJoiner,
    /// Records of the open game, if games are filtered as a whole.
    open_game: Vec<GroupedRecord>,
}

impl<'a> OrderedDecisions<'a> {
    pub(super) fn new(plan: &'a ConvertPlan) -> Self {
        let seen = plan.position_set();
        Self { plan, seen, joiner: GameJoiner::default(), open_game: Vec::new() }
    }

    /// Makes the pending decisions of the next block. Games that the block completes are written before its own output.
    pub(super) fn finish_block(
        &mut self,
        processed: &mut ProcessedBlock,
        findings: BlockFindings,
    ) -> Result<(), Error> {
        let plan = self.plan;
        let mut before = ProcessedBlock::default();
        if !matches!(findings, BlockFindings::Grouped(_)) {
            self.close_open_game(&mut before)?;
        }
        match findings {
            BlockFindings::Grouped(records) => {
                for record in records {
                    self.add_grouped(record, &mut before)?;
                }
            }
            BlockFindings::Games(games) => self.joiner.add_block(plan, *games, &mut before)?,
            BlockFindings::Moves(moves) => {
                for record in moves {
                    self.add_move(record, &mut before)?;
                }
            }
            BlockFindings::Pending(pending) => {
                self.keep_first(processed, &pending)?;
                self.joiner.close(plan, &mut before)?;
            }
        }
        processed.prepend(before);
        Ok(())
    }

    /// Writes the open game after the last block.
    pub(super) fn close(&mut self, processed: &mut ProcessedBlock) -> Result<(), Error> {
        self.close_open_game(processed)?;
        self.joiner.close(self.plan, processed)
    }

    /// Inserts a position and returns whether it was new. Without deduplication inserts nothing and returns true.
    fn insert(&mut self, position: Option<&PositionKey>) -> Result<bool, Error> {
        match (&mut self.seen, position) {
            (Some(seen), Some(position)) => Ok(seen.insert(position)?),
            _ => Ok(true),
        }
    }

    /// Removes records whose position occurred earlier, in this block or a previous one.
    fn keep_first(
        &mut self,
        processed: &mut ProcessedBlock,
        pending: &[PendingRecord],
    ) -> Result<(), Error> {
        if pending.is_empty() {
            return Ok(());
        }
        let mut is_first = Vec::with_capacity(pending.len());
        for record in pending {
            let is_new = self.insert(record.position.as_ref())?;
            if is_new {
                record.written.count(processed);
            } else {
                processed.count_filtered(Condition::Duplicate);
            }
            is_first.push(is_new);
        }
        processed.encoded_mut(OutputKind::Kept).retain(|record| is_first[record]);
        Ok(())
    }

    /// Adds a move to its game, unless its position occurred before.
    fn add_move(
        &mut self,
        record: PendingRecord<GameMove>,
        processed: &mut ProcessedBlock,
    ) -> Result<(), Error> {
        if !self.insert(record.position.as_ref())? {
            processed.count_filtered(Condition::Duplicate);
            return Ok(());
        }
        record.written.count(processed);
        self.joiner.add_move(self.plan, record.written, processed)
    }

    fn add_grouped(
        &mut self,
        record: GroupedRecord,
        processed: &mut ProcessedBlock,
    ) -> Result<(), Error> {
        let next = self.open_game.last().and_then(|last| Continuation::of(&last.content));
        let follows = next.is_some_and(|next| next.is(&record.content));
        if !follows || self.open_game.len() == MAX_MOVES {
            self.close_open_game(processed)?;
        }
        self.open_game.push(record);
        Ok(())
    }

    /// Applies the filters on game length to the open game. The length is the ply of the last record, or the number of
    /// records if the last record has no ply.
    fn close_open_game(&mut self, processed: &mut ProcessedBlock) -> Result<(), Error> {
        let records = std::mem::take(&mut self.open_game);
        let Some(last) = records.last() else { return Ok(()) };
        let ply = last.content.ply.filter(|&ply| ply > 0);
        let plies = ply.or(u16::try_from(records.len()).ok());
        let failed = self.plan.settings.filters.failed_game_length_condition(plies);
        for GroupedRecord { decision, position, bytes, .. } in records {
            match (decision, failed) {
                (Decision::Filtered(condition), Some(failed)) => {
                    processed.count_filtered(condition.min(failed));
                }
                (Decision::Filtered(condition), None) | (_, Some(condition)) => {
                    processed.count_filtered(condition);
                }
                (Decision::Move(written), None) => {
                    self.add_move(PendingRecord { position, written: *written }, processed)?;
                }
                (Decision::Written(effects), None) => {
                    if self.insert(position.as_ref())? {
                        effects.count(processed);
                        processed.encoded_mut(OutputKind::Kept).push(&bytes);
                    } else {
                        processed.count_filtered(Condition::Duplicate);
                    }
                }
            }
        }
        Ok(())
    }
}
