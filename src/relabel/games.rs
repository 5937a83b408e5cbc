//! Games that stay games: every move with a new evaluation of the position before it.
//!
//! Positions that are not to be trained on, and those whose evaluation is that of a mate, keep what they have.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use super::evaluator::Evaluated;
use super::relabelling::{Evaluate, Relabelling};
use crate::error::Error;
use crate::format::{Field, FieldChanges, Fields, Game, Record, is_mate_eval, write_game};
use crate::records::counts::Disposition;
use crate::records::filters::Condition;
use crate::records::games::{BlockGame, games_of};
use crate::records::processing::ProcessedBlock;
use crate::records::reading::RecordError;
use crate::records::source::Block;
use crate::records::stream::Stream;
use crate::shogi::Position;

pub(super) fn relabel_block(
    relabelling: &Relabelling<'_>,
    block: &Block,
    cancel: &AtomicBool,
    evaluate: &mut Evaluate<'_>,
) -> Result<ProcessedBlock, Error> {
    let mut games = Vec::new();
    let mut index = block.first_index;
    for unit in block.units() {
        if cancel.load(Ordering::Relaxed) {
            return Err(Error::evaluation_interrupted());
        }
        for game in games_of(block, &unit, index) {
            index = game.end();
            games.push(PlacedGame::new(game));
        }
    }
    let positions: Vec<Position> = games.iter().flat_map(PlacedGame::positions).collect();
    let mut evaluated = evaluate(&positions)?.into_iter();
    let mut writer = GameWriter { relabelling, block, processed: ProcessedBlock::default() };
    for game in &mut games {
        game.take(&mut evaluated);
        writer.write(game);
        if writer.processed.stopped_by.is_some() {
            break;
        }
    }
    Ok(writer.processed)
}

/// A game whose positions are evaluated anew.
struct PlacedGame<'a> {
    read: BlockGame<'a>,
    /// The position of each record that gets a new evaluation; `None` for the others.
    positions: Vec<Option<Position>>,
    evaluated: Vec<Option<Evaluated>>,
}

impl<'a> PlacedGame<'a> {
    fn new(read: BlockGame<'a>) -> Self {
        let position = |record: &Record| {
            let stays = record.is_not_for_training || record.eval_cp.is_some_and(is_mate_eval);
            if stays { None } else { Position::try_from(&record.setup).ok() }
        };
        let positions = read.records.iter().map(position).collect();
        Self { read, positions, evaluated: Vec::new() }
    }

    fn positions(&self) -> impl Iterator<Item = Position> {
        self.positions.iter().flatten().cloned()
    }

    /// Takes the next evaluations, one for each of its positions.
    fn take(&mut self, all: &mut impl Iterator<Item = Evaluated>) {
        let next = |position: &Option<Position>| {
            position.as_ref().map(|_| all.next().expect("an answer for every position"))
        };
        self.evaluated = self.positions.iter().map(next).collect();
    }
}

struct GameWriter<'a> {
    relabelling: &'a Relabelling<'a>,
    block: &'a Block,
    processed: ProcessedBlock,
}

impl GameWriter<'_> {
    fn write(&mut self, placed: &PlacedGame<'_>) {
        let read = &placed.read;
        let written = match &read.game {
            Err(error) => return self.set_aside(error, read, read.first_index..read.end()),
            Ok(game) => self.write_game(game, placed),
        };
        if let Err(error) = written {
            self.set_aside(&error, read, read.first_index..read.end_of_read());
        }
        if let Some((error, _)) = &read.fault
            && self.processed.stopped_by.is_none()
        {
            self.set_aside(&error.clone().into(), read, read.end_of_read()..read.end());
        }
    }

    /// Writes the moves that were read.
    fn write_game(&mut self, game: &Game, placed: &PlacedGame<'_>) -> Result<(), RecordError> {
        let Some(mut part) = game.part(0..placed.read.records.len()) else {
            self.processed.encoded_mut(Stream::Kept).end_group(0);
            return Ok(());
        };
        let (to, fill) = (self.relabelling.to, &self.relabelling.plan.settings.fill);
        if part.is_position {
            // Evaluations are stored with moves. A game that ended before its first move has none.
            let records = placed.read.records.len() as u64;
            let counts = &mut self.processed.counts;
            counts.input += records;
            *counts.filtered.entry(Condition::NoMove).or_default() += records;
            return Ok(());
        }
        for (number, (record, evaluated)) in
            placed.read.records.iter().zip(&placed.evaluated).enumerate()
        {
            if let Some(evaluated) = evaluated.clone() {
                let mover = record.setup.side_to_move();
                let new = self.relabelling.reevaluation(evaluated, mover, game.result)?;
                new.put_into(&mut part, number);
            }
        }
        let invented = fill.complete(&mut part, to);
        let mut lost_of_game = to.lost_of_game(&part.start, part.result, part.ending);
        if placed.read.fault.is_some() {
            // A game that is shorter has another length.
            lost_of_game = lost_of_game.union(Fields::of(Field::EndPly));
        }
        let encoded = self.processed.encoded_mut(Stream::Kept);
        to.append_unit(encoded.open_record(), |out| write_game(to, &part, out))?;
        encoded.end_group(placed.read.records.len());
        self.processed.counts.count_game(&part, to.lost_info(&part));
        for (number, (record, invented)) in placed.read.records.iter().zip(invented).enumerate() {
            let lost = to.losses(record.fields(), record.ending).union(lost_of_game);
            let evaluated = placed.evaluated[number].as_ref();
            let is_new = evaluated.is_some();
            if evaluated.is_some_and(|evaluated| evaluated.rejected_move.is_some()) {
                self.processed.count_illegal_best_move();
            }
            self.processed.counts.input += 1;
            self.processed.counts.count_disposition(if is_new {
                Disposition::Evaluated
            } else {
                Disposition::EvaluationStayed
            });
            self.processed.count_fields(FieldChanges { lost, invented });
        }
        Ok(())
    }

    fn set_aside(&mut self, error: &RecordError, read: &BlockGame<'_>, records: Range<u64>) {
        let plan = self.relabelling.plan;
        let file = &plan.parts[self.block.part].input.name;
        let on_error = plan.settings.on_error;
        self.processed.set_aside(error, file, self.block, &read.unit, records, on_error);
    }
}
