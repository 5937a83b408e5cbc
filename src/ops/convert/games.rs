//! Converts games to games. Each game stays one game with all its moves.
//!
//! Every move counts as a record. If a game cannot be read to its end, the moves before the fault are written. Moves
//! that are not for training are kept, because leaving them out would change the game.

use std::convert::Infallible;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use super::plan::{Check, ConvertPlan};
use super::strict::{self, InfoLoss};
use crate::format::{
    FieldChanges, Fields, Format, Game, InfoCounts, RawChunk, Record, Warning, Warnings, read_games,
};
use crate::ops::convert::strict::{RecordEffects, Route};
use crate::records::counts::Counts;
use crate::records::filters::Condition;
use crate::records::games::{BlockGame, game_chunks, process_games};
use crate::records::output_kind::OutputKind;
use crate::records::processing::{BlockState, ProcessedBlock};
use crate::records::reading::RecordError;
use crate::records::source::Block;

/// Returns `None` if cancelled.
pub(super) fn convert_block(
    plan: &ConvertPlan,
    to: Format,
    block: &Block,
    cancel: &AtomicBool,
) -> Option<ProcessedBlock> {
    let file = &plan.ranges[block.input].input.name;
    let mut processing = BlockState::new(block, file, plan.settings.on_error);
    let converter = GameConverter { plan, to, block };
    for (chunk, games) in game_chunks(block) {
        if cancel.load(Ordering::Relaxed) {
            return None;
        }
        converter.convert(&chunk, &games, &mut processing);
        if processing.is_stopped() {
            break;
        }
    }
    Some(processing.processed)
}

struct GameConverter<'a> {
    plan: &'a ConvertPlan,
    to: Format,
    block: &'a Block,
}

#[derive(Clone, Copy)]
struct GameRecordEffects {
    lost: Fields,
    /// Broken rules if [`Check::Rules`] is set, and skipped lines.
    warnings: Warnings,
}

impl GameRecordEffects {
    fn new(record: &Record, plan: &ConvertPlan, to: Format) -> Self {
        let lost = to.losses(record.fields(), record.ending);
        let mut warnings = Warnings::NONE;
        if plan.settings.check == Check::Rules {
            // The stored move is always legal: reading stops at the first illegal move.
            warnings.extend(record.setup.warnings().into_iter().map(Warning::from));
        }
        Self { lost, warnings }
    }
}

impl GameConverter<'_> {
    fn effects(&self, game: &Game, records: &[Record]) -> Vec<GameRecordEffects> {
        let record_effects = |record| GameRecordEffects::new(record, self.plan, self.to);
        let mut effects: Vec<_> = records.iter().map(record_effects).collect();
        if let Some(first) = effects.first_mut().filter(|_| game.info.skipped_lines > 0) {
            first.warnings.insert(Warning::LinesSkipped);
        }
        effects
    }

    /// Returns the game condition that fails.
    fn failed(&self, game: &Game) -> Option<Condition> {
        let plies = || Ok::<_, Infallible>(game.end_ply());
        let filters = &self.plan.settings.filters;
        let Ok(failed) = filters.failed_game_condition((game.result, game.ending), plies);
        failed
    }

    fn convert(
        &self,
        chunk: &RawChunk<'_>,
        games: &[BlockGame<'_>],
        processing: &mut BlockState<'_>,
    ) {
        let records = games.first().map_or(0, |first| first.first_index)
            ..games.last().map_or(0, BlockGame::end);
        if !self.is_copied(games, records.clone()) {
            process_games(processing, games, |game, read, processed| {
                let wanted = self.wanted(read.read());
                if let Some(condition) = self.failed(game).or_else(|| self.lacks_move(game)) {
                    processed.filter_out(condition, wanted.end - wanted.start);
                    return Ok(());
                }
                self.write(game, read, wanted, processed)
            });
        } else if let Err(error) = self.copy(chunk, games, &mut processing.processed) {
            processing.reject(&error, chunk, records);
        }
    }

    /// The requested records among `records`.
    fn wanted(&self, records: Range<u64>) -> Range<u64> {
        let within = |index: u64| index.clamp(records.start, records.end);
        within(self.block.wanted.start)..within(self.block.wanted.end)
    }

    /// Whether a chunk is copied instead of rewritten.
    fn is_copied(&self, games: &[BlockGame<'_>], records: Range<u64>) -> bool {
        let is_kept_whole = |read: &BlockGame<'_>| {
            let game = read.game.as_ref().ok().filter(|_| read.fault.is_none());
            game.is_some_and(|game| self.failed(game).is_none())
        };
        self.plan.route(self.block.format) == Route::Copy
            && self.plan.settings.eval_scale.is_none()
            && self.wanted(records.clone()) == records
            && games.iter().all(is_kept_whole)
    }

    /// Copies a chunk in the text encoding of the output. Information can be lost only if the notation changes.
    fn copy(
        &self,
        chunk: &RawChunk<'_>,
        games: &[BlockGame<'_>],
        processed: &mut ProcessedBlock,
    ) -> Result<(), RecordError> {
        let mut bytes = Vec::new();
        self.to.write_chunk(chunk.bytes, &mut bytes)?;
        // Only KIF and KI2 are converted to each other's notation. Other text changes at most its encoding.
        let is_same = !self.to.is_kif() || memchr::memmem::find(&bytes, chunk.bytes).is_some();
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
            // A blank text or a USI line without moves does not count as a game.
            if !records.is_empty() {
                counts.count_game(game, loss.counts);
            }
        }
        processed.counts.add(&counts);
        let encoded = processed.encoded_mut(OutputKind::Kept);
        encoded.open_record().extend_from_slice(&bytes);
        encoded.end_records(effects.len());
        for GameRecordEffects { warnings, .. } in effects {
            count(warnings, FieldChanges::default(), processed);
        }
        Ok(())
    }

    /// Returns the information lost by a game whose chunk was copied. Transcoded text keeps lines that could not be
    /// parsed.
    fn loss(&self, game: &Game, (written, number): (&[u8], usize)) -> InfoLoss {
        let loss = InfoLoss::new(game, self.to, self.plan.write_options());
        if loss.lines == 0 && loss.counts.headers == 0 {
            return loss;
        }
        match read_games(self.to, written).nth(number) {
            Some(Ok(copy)) => InfoLoss {
                lines: loss.lines.saturating_sub(copy.info.skipped_lines),
                counts: InfoCounts {
                    headers: game.info.headers.len().saturating_sub(copy.info.headers.len()) as u64,
                    ..loss.counts
                },
            },
            _ => loss,
        }
    }

    /// Returns `NoMove` for a position without moves if the output cannot store one. This is an error only if `strict`
    /// is set, because archives contain games that ended before the first move.
    fn lacks_move(&self, game: &Game) -> Option<Condition> {
        let has_place = !game.is_position || self.to.holds_positions();
        (!has_place && !self.plan.settings.strict).then_some(Condition::NoMove)
    }

    /// Writes the requested moves of a game. An error contains the range of the affected records.
    fn write(
        &self,
        game: &Game,
        read: &BlockGame<'_>,
        wanted: Range<u64>,
        processed: &mut ProcessedBlock,
    ) -> Result<(), (Range<u64>, RecordError)> {
        let within = |index: u64| (index - read.first_index) as usize;
        let moves = within(wanted.start)..within(wanted.end);
        let (to, settings) = (self.to, &self.plan.settings);
        let Some(mut part) = game.part(moves.clone()) else {
            processed.encoded_mut(OutputKind::Kept).end_records(0);
            return Ok(());
        };
        let limited = settings.eval_scale.map(|scale| scale.rescale_game(&mut part));
        let filled_in = settings.fill.complete(&mut part, to);
        let lost_of_game = read.lost_fields(to, &part, moves.len());
        let part = if settings.mirror { part.mirrored() } else { part };
        let records = &mut self.effects(game, &read.records)[moves];
        for (record, _) in records.iter_mut().zip(limited.unwrap_or_default()).filter(|pair| pair.1)
        {
            record.warnings.insert(Warning::EvalLimited);
        }
        let options = self.plan.write_options();
        let loss = InfoLoss::new(&part, to, options);
        if settings.strict {
            strict::check_info(loss).map_err(|loss| (wanted.clone(), loss))?;
            for (index, record) in (wanted.start..).zip(&*records) {
                strict::check_fields(record.lost.union(lost_of_game))
                    .map_err(|loss| (index..index + 1, loss))?;
            }
        }
        let written = processed.write_game((to, options), (&part, loss.counts), records.len());
        written.map_err(|error| (wanted, error.into()))?;
        for (GameRecordEffects { lost, warnings }, filled_in) in records.iter().zip(filled_in) {
            let changes = FieldChanges { lost: lost.union(lost_of_game), filled_in };
            count(*warnings, changes, processed);
        }
        Ok(())
    }
}

/// Counts a written record.
fn count(warnings: Warnings, written: FieldChanges, processed: &mut ProcessedBlock) {
    processed.counts.input += 1;
    let effects = RecordEffects { warnings, written, missing: Fields::NONE };
    effects.count(processed);
}
