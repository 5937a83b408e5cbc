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

/// State carried from block to block.
pub(super) struct InOrder<'a> {
    plan: &'a ConvertPlan,
    /// Positions of earlier records. `None` without deduplication.
    seen: Option<PositionSet>,
    joiner: GameJoiner,
    /// Records of the open game.
    group: Vec<GroupedRecord>,
}

impl<'a> InOrder<'a> {
    pub(super) fn new(plan: &'a ConvertPlan) -> Self {
        let seen = plan.position_set();
        Self { plan, seen, joiner: GameJoiner::default(), group: Vec::new() }
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
            self.close_group(&mut before)?;
        }
        match findings {
            BlockFindings::Grouped(records) => {
                for record in records {
                    self.add_grouped(record, &mut before)?;
                }
            }
            BlockFindings::Games(games) => self.joiner.add_block(plan, *games, &mut before)?,
            BlockFindings::Moves(moves) => {
                for candidate in moves {
                    self.add_move(candidate, &mut before)?;
                }
            }
            BlockFindings::Pending(candidates) => {
                self.keep_first(processed, &candidates)?;
                self.joiner.close(plan, &mut before)?;
            }
        }
        processed.prepend(before);
        Ok(())
    }

    /// Writes the open game after the last block.
    pub(super) fn close(&mut self, processed: &mut ProcessedBlock) -> Result<(), Error> {
        self.close_group(processed)?;
        self.joiner.close(self.plan, processed)
    }

    /// Returns whether a position is new. Always true without deduplication.
    fn is_new(&mut self, position: Option<&PositionKey>) -> Result<bool, Error> {
        match (&mut self.seen, position) {
            (Some(seen), Some(position)) => Ok(seen.insert(position)?),
            _ => Ok(true),
        }
    }

    /// Removes records whose position occurred earlier, in this block or a previous one.
    fn keep_first(
        &mut self,
        processed: &mut ProcessedBlock,
        candidates: &[PendingRecord],
    ) -> Result<(), Error> {
        if candidates.is_empty() {
            return Ok(());
        }
        let mut is_first = Vec::with_capacity(candidates.len());
        for candidate in candidates {
            let is_new = self.is_new(candidate.position.as_ref())?;
            if is_new {
                candidate.written.count(processed);
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
        candidate: PendingRecord<GameMove>,
        processed: &mut ProcessedBlock,
    ) -> Result<(), Error> {
        if !self.is_new(candidate.position.as_ref())? {
            processed.count_filtered(Condition::Duplicate);
            return Ok(());
        }
        candidate.written.count(processed);
        self.joiner.add_move(self.plan, candidate.written, processed)
    }

    fn add_grouped(
        &mut self,
        record: GroupedRecord,
        processed: &mut ProcessedBlock,
    ) -> Result<(), Error> {
        let next = self.group.last().and_then(|last| Continuation::of(&last.content));
        let follows = next.is_some_and(|next| next.is(&record.content));
        if !follows || self.group.len() == MAX_MOVES {
            self.close_group(processed)?;
        }
        self.group.push(record);
        Ok(())
    }

    /// Applies the filters on game length to the open game. The length is the ply of the last record, or the number of
    /// records if the last record has no ply.
    fn close_group(&mut self, processed: &mut ProcessedBlock) -> Result<(), Error> {
        let group = std::mem::take(&mut self.group);
        let Some(last) = group.last() else { return Ok(()) };
        let ply = last.content.ply.filter(|&ply| ply > 0);
        let plies = ply.or(u16::try_from(group.len()).ok());
        let failed = self.plan.settings.filters.failed_by_game_plies(plies);
        for GroupedRecord { decision, position, bytes, .. } in group {
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
                    if self.is_new(position.as_ref())? {
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
