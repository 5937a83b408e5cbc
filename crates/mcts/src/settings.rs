//! Settings of a search: constants of PUCT and limits of the mate searches.

use kyokumen_search::solver::Limits;
use serde::{Deserialize, Serialize};

/// All settings of a search besides position, seed and evaluator.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct MctsSettings {
    /// Choice of moves.
    pub puct: Puct,
    /// Choice of moves at the root by Gumbel scores, which replace PUCT and its noise there. `None`: by PUCT.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gumbel: Option<GumbelRoot>,
    /// Value of a draw for either side, from 0 (a loss) to 1.
    pub draw_value: f32,
    /// Limits of the mate search at each new leaf, for the side to move. No search with 0 nodes.
    pub leaf_mate: MateLimits,
    /// Limits of the mate search before each move of a game. No search with 0 nodes.
    pub root_mate: MateLimits,
}

/// Limits of a mate search. Its cost is counted in nodes, never in time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct MateLimits {
    /// Maximum depth in plies.
    pub depth: u16,
    /// Maximum number of nodes; 0 for no search.
    pub nodes: u64,
}

impl MateLimits {
    /// No mate search.
    pub const NONE: Self = Self { depth: 0, nodes: 0 };

    pub(crate) const fn limits(self) -> Option<Limits> {
        if self.nodes == 0 { None } else { Some(Limits::new(self.depth, self.nodes)) }
    }
}

/// PUCT chooses the move with the largest Q + c(N) · u · P, where u is √N / (1 + n) for a move visited n times in a
/// node visited N times. Of equal moves, the more probable one comes first, then the one with the smaller code.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Puct {
    /// c(N) below the root.
    pub exploration: Exploration,
    /// c(N) at the root.
    pub root_exploration: Exploration,
    /// Q and u of a move that was never visited.
    pub first_play: FirstPlay,
    /// Lower bound of P.
    pub least_prior: f32,
    /// Noise at the root.
    pub root_noise: RootNoise,
}

/// Noise at the root, so that searches of one position try different moves.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RootNoise {
    /// None.
    None,
    /// Each time a move is chosen, P of a move is raised to (P + 1) / 2 with this probability in thousandths (dlshogi).
    PerMille(u16),
    /// P becomes (1 − w) · P + w · η, where η is drawn once for each search from a Dirichlet distribution.
    Dirichlet(DirichletNoise),
}

/// Dirichlet noise whose parameters depend on the policy: half of their sum is divided equally among the legal moves,
/// the other half among the moves whose ln P is above the mean, in proportion to the difference. `KataGo`'s "shaped"
/// noise.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct DirichletNoise {
    /// Sum of the parameters α over all legal moves.
    pub concentration: f32,
    /// w, from 0 to 1.
    pub weight: f32,
}

/// Choice of the root's moves by "Policy improvement by planning with Gumbel" (Danihelka et al. 2022), instead of PUCT.
///
/// A move has the score g + ln P + (`visits` + largest number of visits of a move) · `scale` · Q, where g is a random
/// number with a Gumbel distribution, or 0 in searches without noise, and Q is the mean value of the move. The moves
/// with the best scores get equal numbers of visits, then half of them, until two are left ("sequential halving").
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct GumbelRoot {
    /// Number of moves at the start.
    pub moves: u16,
    /// Added to the largest number of visits; `c_visit` in the paper.
    pub visits: f32,
    /// `c_scale` in the paper.
    pub scale: f32,
}

/// c(N), the weight of the probability of a move against the mean of its values.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Exploration {
    /// A constant.
    Constant(f32),
    /// ln((N + base + 1) / base) + init (Silver et al. 2018). ln is dlshogi's approximation, with an error of at most
    /// 0.0053.
    Logarithmic {
        /// Approximate value for N = 0.
        init: f32,
        /// Number of visits that add about ln 2.
        base: f32,
    },
}

impl Exploration {
    pub(crate) fn at(self, visits: u32) -> f32 {
        match self {
            Self::Constant(c) => c,
            Self::Logarithmic { init, base } => {
                approximate_ln((visits as f32 + base + 1.0) / base) + init
            }
        }
    }
}

/// The natural logarithm of a positive number, approximated by its binary exponent and a parabola over its fraction.
///
/// dlshogi uses the same approximation (`usi/fastmath.h`, from Leela Chess Zero). Just above 1 it is 7 % smaller than
/// the logarithm, so a search with the exact logarithm would distribute visits differently from dlshogi.
fn approximate_ln(x: f32) -> f32 {
    const BIAS: f32 = 127.0;
    let bits = x.to_bits();
    let exponent = (bits >> (f32::MANTISSA_DIGITS - 1)) as f32;
    let fraction = f32::from_bits((bits & 0x007f_ffff) | 1.0_f32.to_bits()) - 1.0;
    let log2 = fraction * (1.346_555_2 - 0.346_555_23 * fraction) - BIAS + exponent;
    std::f32::consts::LN_2 * log2
}

/// Q and u of a move that was never visited ("first play urgency").
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FirstPlay {
    /// Q is this number, and u is 1.
    Constant(f32),
    /// Q is the mean value of the node minus k · √S, at least 0, and u is √N. S is the sum of P over the simulations
    /// below the node. P of a move counts each time the move is chosen, so S grows with the visits.
    Reduced {
        /// k at the root.
        root: f32,
        /// k at other nodes.
        tree: f32,
    },
}

impl Puct {
    /// dlshogi of May 2018, whose search and evaluation were serialised.
    pub const DLSHOGI_2018: Self = Self {
        exploration: Exploration::Constant(1.0),
        root_exploration: Exploration::Constant(1.0),
        first_play: FirstPlay::Constant(0.5),
        least_prior: 0.01,
        root_noise: RootNoise::PerMille(3),
    };

    /// Current dlshogi in self-play (`selfplay/self_play.cpp`). Below the root k is so large that a move without visits
    /// has Q = 0 as soon as another move was visited.
    pub const DLSHOGI: Self = Self {
        exploration: Exploration::Logarithmic { init: 1.49, base: 39_470.0 },
        root_exploration: Exploration::Logarithmic { init: 1.49, base: 39_470.0 },
        first_play: FirstPlay::Reduced { root: 0.0, tree: 20.0 },
        least_prior: 0.0,
        root_noise: RootNoise::PerMille(3),
    };

    /// Current dlshogi in games (the defaults of its USI options).
    pub const DLSHOGI_GAMES: Self = Self {
        exploration: Exploration::Logarithmic { init: 1.44, base: 28_288.0 },
        root_exploration: Exploration::Logarithmic { init: 1.16, base: 25_617.0 },
        first_play: FirstPlay::Reduced { root: 0.0, tree: 0.27 },
        least_prior: 0.0,
        root_noise: RootNoise::None,
    };

    /// Like [`Self::DLSHOGI`], but a move without visits has the Q of its node everywhere. The tree is wider and less
    /// deep.
    pub const PARENT_VALUE: Self =
        Self { first_play: FirstPlay::Reduced { root: 0.0, tree: 0.0 }, ..Self::DLSHOGI };
}

impl Default for MctsSettings {
    /// The settings of dlshogi's self-play.
    fn default() -> Self {
        Self {
            puct: Puct::DLSHOGI,
            gumbel: None,
            draw_value: 0.5,
            leaf_mate: MateLimits { depth: 7, nodes: 30 },
            root_mate: MateLimits { depth: 33, nodes: 100_000 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logarithm_is_dlshogis_approximation() {
        // Computed by hand from the definition: fraction 0.5, and exponents 1 and 4.
        let parabola = 0.5 * (1.346_555_2 - 0.5 * 0.346_555_23);
        for (x, log2) in [(1.0, 0.0), (1.5, parabola), (2.0, 1.0), (24.0, 4.0 + parabola)] {
            let expected = log2 * std::f64::consts::LN_2;
            assert!((f64::from(approximate_ln(x)) - expected).abs() < 2e-5, "{x}");
        }
        let error = |i: u32| {
            let x = 1.0 + i as f32 / 1000.0;
            (f64::from(approximate_ln(x)) - f64::from(x).ln()).abs()
        };
        let largest = (0..100_000).map(error).fold(0.0, f64::max);
        assert!((0.0052..0.0054).contains(&largest), "{largest}");
    }
}
