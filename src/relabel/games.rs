//! Relabels whole games: every move gets a new evaluation of the position before it.
//!
//! Positions that are not for training and positions with a mate evaluation keep their evaluation.

use std::sync::atomic::{AtomicBool, Ordering};

use super::evaluator::Evaluated;
use super::worker::{Evaluate, Relabelling};
use crate::error::Error;
use crate::format::{FieldChanges, Game, Record, WriteOptions, is_mate_eval};
use crate::records::counts::Disposition;
use crate::records::filters::Condition;
use crate::records::games::{BlockGame, game_chunks, process_games};
use crate::records::output_kind::OutputKind;
use crate::records::processing::{BlockState, ProcessedBlock};
use crate::records::reading::RecordError;
use crate::records::source::Block;
use crate::shogi::Position;

pub(super) fn relabel_block(
    relabelling: &Relabelling<'_>,
    block: &Block,
    cancel: &AtomicBool,
    evaluate: &mut Evaluate<'_>,
) -> Result<ProcessedBlock, Error> {
    let mut games = Vec::new();
    for (_, chunk_games) in game_chunks(block) {
        if cancel.load(Ordering::Relaxed) {
            return Err(Error::evaluation_interrupted());
        }
        games.extend(chunk_games);
    }
    let records = games.iter().flat_map(|read| &read.records);
    let mut evaluated = evaluations(relabelling, records, evaluate)?.into_iter();
    let plan = relabelling.plan;
    let file = plan.listed_name(block.input);
    let mut processing = BlockState::new(block, file, plan.settings.on_error);
    process_games(&mut processing, &games, |game, read, processed| {
        let evaluated: Vec<_> = evaluated.by_ref().take(read.records.len()).collect();
        let written = write_game(relabelling, (game, read), &evaluated, processed);
        written.map_err(|error| (read.read(), error))
    });
    Ok(processing.processed)
}

/// The evaluations of records. `None` for records that keep their evaluation.
fn evaluations<'a>(
    relabelling: &Relabelling<'_>,
    records: impl Iterator<Item = &'a Record>,
    evaluate: &mut Evaluate<'_>,
) -> Result<Vec<Option<Evaluated>>, Error> {
    let positions = records.map(|record| (position_to_evaluate(record), record.eval_cp));
    if relabelling.settings.keep_eval {
        let stored = positions.map(|(position, eval_cp)| position.and(eval_cp));
        return Ok(stored.map(|eval_cp| eval_cp.map(Evaluated::stored)).collect());
    }
    let positions: Vec<Option<Position>> = positions.map(|(position, _)| position).collect();
    let to_evaluate: Vec<Position> = positions.iter().flatten().cloned().collect();
    let mut evaluated = evaluate(&to_evaluate)?.into_iter();
    let mut next = || evaluated.next().expect("one evaluation per position");
    Ok(positions.iter().map(|position| position.as_ref().map(|_| next())).collect())
}

/// The position of a record. `None` if the record keeps its evaluation.
fn position_to_evaluate(record: &Record) -> Option<Position> {
    let keeps_eval = record.is_not_for_training || record.eval_cp.is_some_and(is_mate_eval);
    if keeps_eval { None } else { Position::try_from(&record.setup).ok() }
}

/// Writes the moves that could be read of a game.
fn write_game(
    relabelling: &Relabelling<'_>,
    (game, read): (&Game, &BlockGame<'_>),
    evaluated: &[Option<Evaluated>],
    processed: &mut ProcessedBlock,
) -> Result<(), RecordError> {
    let records = &read.records;
    let Some(mut part) = game.part(0..records.len()) else {
        processed.encoded_mut(OutputKind::Kept).end_records(0);
        return Ok(());
    };
    if part.is_position {
        // Evaluations are stored with moves, and a game that ended before its first move has none.
        processed.filter_out(Condition::NoMove, records.len() as u64);
        return Ok(());
    }
    for (number, (record, evaluated)) in records.iter().zip(evaluated).enumerate() {
        if let Some(evaluated) = evaluated.clone() {
            let mover = record.setup.side_to_move();
            let new = relabelling.reevaluation(evaluated, mover, game.result)?;
            new.put_into(&mut part, number);
        }
    }
    let to = relabelling.to;
    let filled_in = relabelling.plan.settings.fill.complete(&mut part, to);
    let lost_of_game = read.lost_fields(to, &part, records.len());
    let game = (&part, to.lost_info(&part));
    processed.write_game((to, WriteOptions::default()), game, records.len())?;
    for ((record, filled_in), evaluated) in records.iter().zip(filled_in).zip(evaluated) {
        let lost = to.losses(record.fields(), record.ending).union(lost_of_game);
        if evaluated.as_ref().is_some_and(|evaluated| evaluated.rejected_move.is_some()) {
            processed.count_illegal_best_move();
        }
        processed.counts.input += 1;
        processed.counts.count_disposition(if evaluated.is_some() {
            Disposition::Evaluated
        } else {
            Disposition::EvaluationUnchanged
        });
        processed.count_fields(FieldChanges { lost, filled_in });
    }
    Ok(())
}
