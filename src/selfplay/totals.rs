//! Games are counted into the totals of their run.

use std::collections::BTreeMap;

use kyokumen_selfplay::FinishedGame;

use crate::format::GameResult;
use crate::jobs::game_totals::GameCounts;

pub(super) fn count(totals: &mut GameCounts, finished: &FinishedGame) {
    let game = &finished.game;
    let count = |map: &mut BTreeMap<String, u64>, word: &str| {
        *map.entry(word.to_owned()).or_default() += 1;
    };
    totals.played += 1;
    let ending = game.ending.map_or("mate_or_resignation", |ending| ending.name());
    count(&mut totals.endings, ending);
    count(&mut totals.results, game.result.unwrap_or(GameResult::Draw).name());
    totals.simulations += finished.counts.simulations;
    if let Some(reason) = finished.dropped {
        count(&mut totals.dropped, reason.name());
        return;
    }
    totals.written += 1;
    totals.moves += game.moves.len() as u64;
    let trained = game.moves.iter().filter(|played| !played.is_not_for_training);
    totals.training_positions += trained.count() as u64;
}
