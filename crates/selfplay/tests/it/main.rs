//! Games do not depend on the way they are played, and they follow the rules.

mod opponents;
mod rules;
mod same;

use kyokumen_format::Game;
use kyokumen_mcts::{MateLimits, MctsSettings};
use kyokumen_network::{Evaluator, Hashed};
use kyokumen_selfplay::{GameSettings, Games, Openings, RunSettings};

/// Settings for short games.
pub(crate) fn settings() -> GameSettings {
    GameSettings {
        search: MctsSettings {
            leaf_mate: MateLimits { depth: 3, nodes: 10 },
            root_mate: MateLimits { depth: 7, nodes: 200 },
            ..MctsSettings::default()
        },
        playouts: 24,
        max_moves: 60,
        ..GameSettings::default()
    }
}

pub(crate) const RUN: RunSettings =
    RunSettings { batch: 7, groups: 1, mate_table_mib: 1, cache_mib: 0 };

/// Plays the games of a range of numbers with a pseudo-random evaluator.
pub(crate) fn play(
    settings: GameSettings,
    run: RunSettings,
    devices: usize,
    numbers: std::ops::Range<u64>,
    openings: impl Openings + 'static,
) -> Vec<Game> {
    let device = || Box::new(Hashed { seed: 3 }) as Box<dyn Evaluator>;
    let devices = (0..devices).map(|_| device()).collect();
    let games =
        Games::play(settings, run, 5, numbers.clone(), Box::new(openings), vec![devices].into());
    let games: Vec<_> = games.unwrap().map(Result::unwrap).collect();
    assert!(games.iter().map(|game| game.number).eq(numbers));
    games.into_iter().map(|game| game.game).collect()
}
