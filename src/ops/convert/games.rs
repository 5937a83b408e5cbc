//! Games to games: each leaves as one, with every move that was read.
//!
//! A record is a move; of a game that cannot be read to its end the moves before the fault are written.
//! Moves that are not to be trained on stay: without them the game would be another.

use std::convert::Infallible;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use super::plan::{Check, ConvertPlan};
use super::strict::{self, InfoLoss};
use crate::format::{
    Field, FieldChanges, Fields, Format, Game, InfoCounts, RawUnit, Record, Warning, Warnings,
    read_games, write_game_with,
};
use crate::ops::convert::strict::Route;
use crate::records::counts::{Counts, Disposition};
use crate::records::filters::Condition;
use crate::records::games::{BlockGame, games_of};
use crate::records::processing::ProcessedBlock;
use crate::records::reading::RecordError;
use crate::records::source::Block;
use crate::records::stream::Stream;

/// None if cancelled.
pub(super) fn convert_block(
    plan: &ConvertPlan,
    to: Format,
    block: &Block,
    cancel: &AtomicBool,
) -> Option<ProcessedBlock> {
    let mut converter = GameConverter { plan, to, block, processed: ProcessedBlock::default() };
    let mut index = block.first_index;
    for unit in block.units() {
        if cancel.load(Ordering::Relaxed) {
            return None;
        }
        index += converter.take(&unit, index);
        if converter.processed.stopped_by.is_some() {
            break;
        }
    }
    Some(converter.processed)
}

struct GameConverter<'a> {
    plan: &'a ConvertPlan,
    to: Format,
    block: &'a Block,
    processed: ProcessedBlock,
}

#[derive(Clone, Copy)]
struct GameRecordEffects {
    lost: Fields,
    /// Broken rules with [`Check::Rules`], and skipped lines.
    warnings: Warnings,
}

impl GameRecordEffects {
    fn new(record: &Record, plan: &ConvertPlan, to: Format) -> Self {
        let lost = to.losses(record.fields(), record.ending);
        let mut warnings = Warnings::NONE;
        if plan.settings.check == Check::Rules {
            // Its move can be played, or there would be no record.
            warnings.extend(record.setup.warnings().into_iter().map(Warning::from));
        }
        Self { lost, warnings }
    }
}

impl GameConverter<'_> {
    fn effects(&self, game: &Game, records: &[Record]) -> Vec<GameRecordEffects> {
        let of_record = |record| GameRecordEffects::new(record, self.plan, self.to);
        let mut effects: Vec<_> = records.iter().map(of_record).collect();
        if let Some(first) = effects.first_mut().filter(|_| game.info.skipped_lines > 0) {
            first.warnings.insert(Warning::LinesSkipped);
        }
        effects
    }

    /// The condition on games that fails.
    fn failed(&self, game: &Game) -> Option<Condition> {
        let plies = || Ok::<_, Infallible>(game.end_ply());
        let filters = &self.plan.settings.filters;
        let Ok(failed) = filters.failed_by_game((game.result, game.ending), plies);
        failed
    }

    /// Writes the games of a unit and returns the number of its records.
    fn take(&mut self, unit: &RawUnit<'_>, first_index: u64) -> u64 {
        let games = games_of(self.block, unit, first_index);
        let end = games.last().map_or(first_index, BlockGame::end);
        if self.is_copied(&games, first_index..end) {
            if let Err(error) = self.copy(unit, &games) {
                self.set_aside(&error, unit, first_index..end);
            }
            return end - first_index;
        }
        for read in &games {
            match &read.game {
                Ok(game) => self.take_game(game, read),
                Err(error) => self.set_aside(error, unit, read.first_index..read.end()),
            }
            if self.processed.stopped_by.is_some() {
                break;
            }
        }
        end - first_index
    }

    /// The part of `records` that is wanted.
    fn wanted(&self, records: Range<u64>) -> Range<u64> {
        let within = |index: u64| index.clamp(records.start, records.end);
        within(self.block.wanted.start)..within(self.block.wanted.end)
    }

    /// Whether a unit is copied instead of written anew.
    fn is_copied(&self, games: &[BlockGame<'_>], records: Range<u64>) -> bool {
        let is_taken = |read: &BlockGame<'_>| {
            let game = read.game.as_ref().ok().filter(|_| read.fault.is_none());
            game.is_some_and(|game| self.failed(game).is_none())
        };
        self.plan.route(self.block.format) == Route::Copy
            && self.wanted(records.clone()) == records
            && games.iter().all(is_taken)
    }

    /// Copies a unit in the encoding of the output. Nothing is lost unless its notation changes.
    fn copy(&mut self, unit: &RawUnit<'_>, games: &[BlockGame<'_>]) -> Result<(), RecordError> {
        let mut bytes = Vec::new();
        self.to.write_unit(unit.bytes, &mut bytes)?;
        // Only KIF and KI2 are written in each other's notation. Other text changes its encoding at most.
        let is_same = !self.to.is_kif() || memchr::memmem::find(&bytes, unit.bytes).is_some();
        let mut counts = Counts::default();
        let mut effects = Vec::new();
        let read = games.iter().filter_map(|read| Some((read.game.as_ref().ok()?, &read.records)));
        for (number, (game, records)) in read.enumerate() {
            effects.extend(self.effects(game, records));
            let loss =
                if is_same { InfoLoss::default() } else { self.loss(game, (&bytes, number)) };
            if self.plan.settings.strict {
                strict::check_info(loss)?;
            }
            // A blank text, or a line of USI without moves, is no game.
            if !records.is_empty() {
                counts.count_game(game, loss.counts);
            }
        }
        self.processed.counts.add(&counts);
        let encoded = self.processed.encoded_mut(Stream::Kept);
        encoded.open_record().extend_from_slice(&bytes);
        encoded.end_group(effects.len());
        for GameRecordEffects { warnings, .. } in effects {
            self.count(warnings, FieldChanges::default());
        }
        Ok(())
    }

    /// What a game lost when its unit was copied. Transcoded text keeps lines that were not understood.
    fn loss(&self, game: &Game, (written, number): (&[u8], usize)) -> InfoLoss {
        let loss = InfoLoss::of(game, self.to, self.plan.write_options());
        if loss.lines == 0 && loss.counts.headers == 0 {
            return loss;
        }
        match read_games(self.to, written).nth(number) {
            Some(Ok(again)) => InfoLoss {
                lines: loss.lines.saturating_sub(again.info.skipped_lines),
                counts: InfoCounts {
                    headers: game.info.headers.len().saturating_sub(again.info.headers.len())
                        as u64,
                    ..loss.counts
                },
            },
            _ => loss,
        }
    }

    fn take_game(&mut self, game: &Game, read: &BlockGame<'_>) {
        let wanted = self.wanted(read.first_index..read.end_of_read());
        if let Some(condition) = self.failed(game).or_else(|| self.lacks_move(game)) {
            self.leave_out(condition, wanted.end - wanted.start);
        } else if let Err((records, error)) = self.write(game, read, wanted) {
            self.set_aside(&error, &read.unit, records);
        }
        if let Some((error, _)) = &read.fault
            && self.processed.stopped_by.is_none()
        {
            let lost = read.end_of_read()..read.end();
            self.set_aside(&error.clone().into(), &read.unit, lost);
        }
    }

    /// The condition for a position without moves, if the output holds games by their moves. It is no error unless
    /// `strict` is set, because archives contain games that ended before the first move.
    fn lacks_move(&self, game: &Game) -> Option<Condition> {
        let has_place = !game.is_position || self.to.holds_positions();
        (!has_place && !self.plan.settings.strict).then_some(Condition::NoMove)
    }

    /// Writes the wanted moves of a game. An error comes with the records that it is about.
    fn write(
        &mut self,
        game: &Game,
        read: &BlockGame<'_>,
        wanted: Range<u64>,
    ) -> Result<(), (Range<u64>, RecordError)> {
        let within = |index: u64| (index - read.first_index) as usize;
        let moves = within(wanted.start)..within(wanted.end);
        let (to, settings) = (self.to, &self.plan.settings);
        let Some(mut part) = game.part(moves.clone()) else {
            self.processed.encoded_mut(Stream::Kept).end_group(0);
            return Ok(());
        };
        let invented = settings.fill.complete(&mut part, to);
        let mut lost_of_game = to.lost_of_game(&part.start, part.result, part.ending);
        if read.fault.is_some() || moves.len() < read.records.len() {
            // A game that is shorter has another length.
            lost_of_game = lost_of_game.union(Fields::of(Field::EndPly));
        }
        let part = if settings.mirror { part.mirrored() } else { part };
        let records = &self.effects(game, &read.records)[moves];
        let options = self.plan.write_options();
        let loss = InfoLoss::of(&part, to, options);
        if settings.strict {
            strict::check_info(loss).map_err(|loss| (wanted.clone(), loss))?;
            for (index, record) in (wanted.start..).zip(records) {
                strict::check_fields(record.lost.union(lost_of_game))
                    .map_err(|loss| (index..index + 1, loss))?;
            }
        }
        let encoded = self.processed.encoded_mut(Stream::Kept);
        to.append_unit(encoded.open_record(), |out| write_game_with(to, &part, options, out))
            .map_err(|error| (wanted, error.into()))?;
        encoded.end_group(records.len());
        self.processed.counts.count_game(&part, loss.counts);
        for (GameRecordEffects { lost, warnings }, invented) in records.iter().zip(invented) {
            self.count(*warnings, FieldChanges { lost: lost.union(lost_of_game), invented });
        }
        Ok(())
    }

    /// Counts the records of a filtered game.
    fn leave_out(&mut self, condition: Condition, records: u64) {
        let counts = &mut self.processed.counts;
        counts.input += records;
        if records > 0 {
            *counts.filtered.entry(condition).or_default() += records;
        }
    }

    /// Counts a written record.
    fn count(&mut self, warnings: Warnings, written: FieldChanges) {
        self.processed.counts.input += 1;
        self.processed.counts.count_disposition(Disposition::Kept);
        self.processed.count_warnings(warnings);
        self.processed.count_fields(written);
    }

    fn set_aside(&mut self, error: &RecordError, unit: &RawUnit<'_>, records: Range<u64>) {
        let file = &self.plan.parts[self.block.part].input.name;
        self.processed.set_aside(
            error,
            file,
            self.block,
            unit,
            records,
            self.plan.settings.on_error,
        );
    }
}
