//! What a search answers: a verdict, why there is none, and what it cost.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What counts as a node; stands in manifests so that counts of different versions are comparable.
///
/// 1: one position entered by a move inside df-pn. Leaf tests that make no move do not count.
pub const NODE_DEFINITION: u32 = 1;

/// Why a search ended without an answer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// The node limit was reached.
    Nodes,
    /// Nothing within the depth limit, and the limit was felt.
    Depth,
    /// A proof was found but could not be rebuilt from the table within bounds.
    Memory,
    /// The caller asked to stop.
    Cancelled,
}

impl Stop {
    /// All reasons.
    pub const ALL: [Self; 4] = [Self::Nodes, Self::Depth, Self::Memory, Self::Cancelled];

    /// The word used in reports: `nodes`, `depth`, `memory`, `cancelled`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Nodes => "nodes",
            Self::Depth => "depth",
            Self::Memory => "memory",
            Self::Cancelled => "cancelled",
        }
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// What is known about the goal of one attacker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The attacker reaches the goal; the proof was checked.
    Proven,
    /// The attacker does not, without any limit.
    Disproven,
    /// Not decided within the limits.
    Unknown(Stop),
}

/// What a search cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// Positions entered by a move, see [`NODE_DEFINITION`]; searches that rebuild a proof included.
    pub nodes: u64,
    /// Positions of the checked proof.
    pub proof_positions: u64,
    /// Searches made again because the table had lost part of a proof.
    pub rebuilt: u32,
}
