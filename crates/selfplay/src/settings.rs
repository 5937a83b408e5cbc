//! Settings of a game. A game depends only on them, its opening, its number, the seed and the evaluator.

use kyokumen_mcts::{MateLimits, MctsSettings};
use serde::{Deserialize, Serialize};

/// All constants of a game.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct GameSettings {
    /// The search of each position.
    pub search: MctsSettings,
    /// Simulations per position.
    pub playouts: u32,
    /// Cheaper searches for some positions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cheap_search: Option<CheapSearch>,
    /// Fewer simulations in decided games.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reduced_visits: Option<ReducedVisits>,
    /// Moves that the policy chooses. They count towards the random moves of `opening`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy_opening: Option<PolicyOpening>,
    /// Whether a search ends as soon as the second move cannot catch up any more. Not in a search by Gumbel scores.
    pub early_stop: bool,
    /// Maximum number of extensions of a search by half of `playouts`. A search is extended if it would stop while the
    /// first move has less than 1.2 times the visits of the second. Searches for random moves are not extended.
    pub extensions: u8,
    /// Random moves at the start of a game.
    pub opening: RandomOpening,
    /// A side resigns when |2v − 1| exceeds this, where v is the probability that the side to move wins. 1 or more:
    /// never.
    pub resign: f32,
    /// Maximum number of moves. A game that reaches it is a draw.
    pub max_moves: u16,
    /// Share of the games without resignation, from 0 to 1. They show how often a side that would have resigned does
    /// not lose. `resign-playthrough` of Leela Chess Zero; `AlphaGo Zero` played 10 % of its games this way.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub resign_playthrough: f32,
    /// The repetition of a position that ends a game.
    pub repetition: RepetitionRule,
    /// Minimum number of moves. Games with fewer moves are dropped.
    pub min_moves: u16,
    /// Whether games that reach `max_moves` are dropped.
    pub drop_move_limit: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires this signature")]
fn is_zero(number: &f32) -> bool {
    *number == 0.0
}

/// Searches with few simulations and without noise, whose positions are not for training: playout cap randomization (Wu
/// 2019, "Accelerating Self-Play Learning in Go"), with the names of `KataGo`'s options.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CheapSearch {
    /// Share of the positions that are searched this way, from 0 to 1.
    pub prob: f32,
    /// Simulations for such a position.
    pub visits: u32,
}

/// Fewer simulations when one side has been winning for some time. The least |2v − 1| of the last `lookback` searched
/// positions counts, where v is the probability of a win. `KataGo` does this instead of resigning. The names are those
/// of `KataGo`'s options that begin with `reduceVisits` or `reducedVisits`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ReducedVisits {
    /// |2v − 1| above which visits are reduced.
    pub threshold: f32,
    /// The same side must exceed the threshold in this number of searched positions in a row.
    pub lookback: u8,
    /// Simulations at |2v − 1| = 1. Between the threshold and 1 the number decreases linearly.
    pub min: u32,
    /// Share of the positions that are for training at |2v − 1| = 1. It decreases in the same way.
    pub weight: f32,
}

/// Moves at the start of a game that are drawn from the policy of the network, with weights P^(1/T), without a search.
/// They are not for training. `KataGo` starts games this way (`policyInitAreaProp`, `policyInitAreaTemperature`).
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PolicyOpening {
    /// Mean of the exponential distribution of the number of moves, which is rounded down.
    pub mean_moves: f32,
    /// T.
    pub temperature: f32,
}

/// The repetition of a position that ends a game, as a draw or by perpetual check.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RepetitionRule {
    /// The fourth occurrence of a position: the rules of the Japan Shogi Association.
    Fourth,
    /// The second occurrence within 16 plies, as in dlshogi's self-play.
    Dlshogi,
}

/// Moves drawn at random, with weights visits^(1/T).
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RandomOpening {
    /// Number of random moves at the start of a game.
    pub plies: u16,
    /// T of the first move.
    pub temperature: f32,
    /// Decrease of T every two plies. T is at least 0.1.
    pub temperature_drop: f32,
    /// Only moves are drawn whose value is at most this much below the value of the best move. The first move with a
    /// lower value also excludes all moves with fewer visits.
    pub cutoff: f32,
    /// Decrease of the cutoff every two plies. The cutoff is at least 0.
    pub cutoff_drop: f32,
}

impl Default for GameSettings {
    /// The settings of dlshogi, except that games end by the rules of shogi, and all games are written.
    fn default() -> Self {
        Self {
            // Limited, because every position pays for a mate search at the root.
            search: MctsSettings {
                root_mate: MateLimits { depth: 33, nodes: 10_000 },
                ..MctsSettings::default()
            },
            playouts: 800,
            cheap_search: None,
            reduced_visits: None,
            policy_opening: None,
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
            resign_playthrough: 0.0,
            repetition: RepetitionRule::Fourth,
            min_moves: 0,
            drop_move_limit: false,
        }
    }
}
