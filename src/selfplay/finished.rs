//! Encodes and counts finished games.

use std::collections::BTreeMap;

use kyokumen_selfplay::FinishedGame;

use crate::format::{EncodeError, Fill, Format, GameResult, encode, write_game};
use crate::jobs::game_totals::GameCounts;
use crate::records::output_kind::EncodedRecords;
use crate::shogi::Color;

/// Encodes the whole game if the format holds games, otherwise its positions for training.
pub(super) fn encoded(
    format: Format,
    finished: &FinishedGame,
) -> Result<EncodedRecords, EncodeError> {
    let mut encoded = EncodedRecords::default();
    let game = &finished.game;
    if format.holds_games() {
        format.append_chunk(encoded.open_record(), |out| write_game(format, game, out))?;
        encoded.end_records(game.moves.len());
        return Ok(encoded);
    }
    let records = game.records().into_iter().filter_map(Result::ok);
    for record in records.filter(|record| !record.is_not_for_training) {
        encode(format, &record, &Fill::default(), encoded.open_record())?;
        encoded.end_record();
    }
    Ok(encoded)
}

/// Counts a game from the view of the first player, which plays `side`.
pub(super) fn count_match(totals: &mut GameCounts, finished: &FinishedGame, side: Color) {
    let plays_black = side == Color::Black;
    let results = if plays_black { &mut totals.first_as_black } else { &mut totals.first_as_white };
    match finished.game.result.unwrap_or(GameResult::Draw) {
        GameResult::Draw => results.draws += 1,
        GameResult::BlackWin if plays_black => results.wins += 1,
        GameResult::WhiteWin if !plays_black => results.wins += 1,
        GameResult::BlackWin | GameResult::WhiteWin => results.losses += 1,
    }
}

pub(super) fn count(totals: &mut GameCounts, finished: &FinishedGame) {
    let game = &finished.game;
    let count = |map: &mut BTreeMap<String, u64>, name: &str| {
        *map.entry(name.to_owned()).or_default() += 1;
    };
    totals.played += 1;
    let ending = game.ending.map_or("mate_or_resignation", |ending| ending.name());
    count(&mut totals.endings, ending);
    count(&mut totals.results, game.result.unwrap_or(GameResult::Draw).name());
    totals.simulations += finished.counts.simulations;
    if let Some(is_wrong) = finished.wrongly_resigned {
        totals.would_resign += 1;
        totals.wrongly_resigned += u64::from(is_wrong);
    }
    totals.evaluations += finished.counts.evaluations;
    totals.cached += finished.counts.cached;
    if let Some(reason) = finished.dropped {
        count(&mut totals.dropped, reason.name());
        return;
    }
    totals.written += 1;
    totals.moves += game.moves.len() as u64;
    let trained = game.moves.iter().filter(|played| !played.is_not_for_training);
    totals.training_positions += trained.count() as u64;
}
