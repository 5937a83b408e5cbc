//! What decides a game besides its number, its seed and the evaluator.

use kyokumen_mcts::{MateLimits, MctsSettings};
use serde::{Deserialize, Serialize};

/// Every constant of a game.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct GameSettings {
    /// The search of each position.
    pub search: MctsSettings,
    /// Simulations a position.
    pub playouts: u32,
    /// A search ends as soon as the second move cannot catch up any more.
    pub early_stop: bool,
    /// How often a search may be extended by half of `playouts`. It is extended when it would stop and the first move
    /// has less than 1.2 times the visits of the second. Searches of moves that are drawn by lot never are.
    pub extensions: u8,
    /// The moves at the beginning that are drawn by lot.
    pub opening: RandomOpening,
    /// A game is given up when |2v − 1| is more, v being how probable the mover's win is; 1 or more: never.
    pub resign: f32,
    /// Moves after which a game is a draw.
    pub max_moves: u16,
    /// Which repetition of a position ends a game.
    pub repetition: RepetitionRule,
    /// Games with fewer moves are dropped.
    pub min_moves: u16,
    /// Whether games that reach `max_moves` are dropped.
    pub drop_move_limit: bool,
}

/// Which repetition of a position ends a game, as a draw or by perpetual check.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RepetitionRule {
    /// The fourth time of a position: the rules of the Japan Shogi Association.
    Fourth,
    /// The second time within 16 plies: dlshogi's self-play.
    Dlshogi,
}

/// Moves that are drawn by lot, with weights visits^(1/T).
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RandomOpening {
    /// How many moves of a game.
    pub plies: u16,
    /// T at the first of them.
    pub temperature: f32,
    /// What T loses every two plies; it stays above 0.1.
    pub temperature_drop: f32,
    /// Only moves whose value is at most so much smaller than that of the best one. Moves with fewer visits than the
    /// first one below it are left out, too.
    pub cutoff: f32,
    /// What the cut-off loses every two plies; it stays at 0 or above.
    pub cutoff_drop: f32,
}

impl Default for GameSettings {
    /// dlshogi's; but games end by the rules of shogi, and all are written.
    fn default() -> Self {
        Self {
            // The price of a mate search at the root is paid for each position.
            search: MctsSettings {
                root_mate: MateLimits { depth: 33, nodes: 10_000 },
                ..MctsSettings::default()
            },
            playouts: 800,
            early_stop: true,
            extensions: 2,
            opening: RandomOpening {
                plies: 4,
                temperature: 10.0,
                temperature_drop: 1.0,
                cutoff: 0.015,
                cutoff_drop: 0.001,
            },
            resign: 0.99,
            max_moves: 320,
            repetition: RepetitionRule::Fourth,
            min_moves: 0,
            drop_move_limit: false,
        }
    }
}
