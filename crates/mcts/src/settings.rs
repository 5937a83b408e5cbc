//! What a search does: constants of PUCT, and what is looked for besides.

use kyokumen_search::solver::Limits;
use serde::{Deserialize, Serialize};

/// Everything that a search depends on besides position, seed and evaluator.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SearchSettings {
    /// How a move is chosen.
    pub puct: Puct,
    /// What a draw is worth to either side, from 0 (a loss) to 1.
    pub draw_value: f32,
    /// Mate search at each new leaf, for the side to move; none with 0 nodes.
    pub leaf_mate: MateLimits,
    /// Mate search at the root; none with 0 nodes.
    pub root_mate: MateLimits,
}

/// How far a mate search goes. Its price is counted in nodes, never in time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct MateLimits {
    /// Plies.
    pub depth: u16,
    /// Nodes; 0 leaves the search out.
    pub nodes: u64,
}

impl MateLimits {
    /// No mate search.
    pub const NONE: Self = Self { depth: 0, nodes: 0 };

    pub(crate) const fn limits(self) -> Option<Limits> {
        if self.nodes == 0 { None } else { Some(Limits::new(self.depth, self.nodes)) }
    }
}

/// PUCT: of all moves that with the largest Q + c(N) · P · u is chosen, where u is √N / (1 + n) for a move visited n
/// times in a node visited N times. Equal ones: the more probable first, then the one of the smaller code.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Puct {
    /// c(N).
    pub exploration: Exploration,
    /// Q and u of a move that was never visited.
    pub first_play: FirstPlay,
    /// Smallest P that counts.
    pub least_prior: f32,
    /// At the root, whenever a move is chosen: in so many of 1,000 cases P of a move is (P + 1) / 2.
    pub root_noise_per_mille: u16,
}

/// c(N), which weighs what is probable against what has turned out well.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Exploration {
    /// The same number always.
    Constant(f32),
    /// ln((N + base + 1) / base) + init (Silver et al. 2018).
    Logarithmic {
        /// Where it begins.
        init: f32,
        /// How slowly it grows.
        base: f32,
    },
}

impl Exploration {
    pub(crate) fn at(self, visits: u32) -> f32 {
        match self {
            Self::Constant(c) => c,
            Self::Logarithmic { init, base } => {
                libm::logf((visits as f32 + base + 1.0) / base) + init
            }
        }
    }
}

/// What takes the place of the value of a move that was never visited ("first play urgency").
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FirstPlay {
    /// Q is this number, u is 1.
    Constant(f32),
    /// Q is that of the node, less k · √(sum of P of the visited moves), at least 0; u is √N.
    Reduced {
        /// k at the root.
        root: f32,
        /// k elsewhere.
        tree: f32,
    },
}

impl Puct {
    /// dlshogi of May 2018, when its search and evaluation were serialised.
    pub const DLSHOGI_2018: Self = Self {
        exploration: Exploration::Constant(1.0),
        first_play: FirstPlay::Constant(0.5),
        least_prior: 0.01,
        root_noise_per_mille: 3,
    };

    /// dlshogi of today, in self-play.
    pub const DLSHOGI: Self = Self {
        exploration: Exploration::Logarithmic { init: 1.49, base: 39_470.0 },
        first_play: FirstPlay::Reduced { root: 0.0, tree: 0.0 },
        least_prior: 0.0,
        root_noise_per_mille: 3,
    };

    /// dlshogi of today, in games against others.
    pub const DLSHOGI_GAMES: Self = Self {
        exploration: Exploration::Logarithmic { init: 1.49, base: 39_470.0 },
        first_play: FirstPlay::Reduced { root: 0.0, tree: 0.27 },
        least_prior: 0.0,
        root_noise_per_mille: 0,
    };
}

impl Default for SearchSettings {
    /// dlshogi's self-play.
    fn default() -> Self {
        Self {
            puct: Puct::DLSHOGI,
            draw_value: 0.5,
            leaf_mate: MateLimits { depth: 7, nodes: 30 },
            root_mate: MateLimits { depth: 33, nodes: 100_000 },
        }
    }
}
