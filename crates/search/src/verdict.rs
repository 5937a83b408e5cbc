//! The verdict of a search, the stop reason if there is none, and the cost.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The version of the definition of a node. Manifests contain it: node counts are comparable if it is the same.
///
/// 1: one position entered by a move inside df-pn. Leaf tests that make no move do not count.
pub const NODE_DEFINITION: u32 = 1;

/// The stop reason of a search without a verdict.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// The node limit was reached.
    Nodes,
    /// There is no proof within the depth limit, and the limit cut off at least one line.
    Depth,
    /// A proof was found but could not be checked: the table has lost a part that was not found again, or the proof is
    /// too large.
    Memory,
    /// The caller requested a stop.
    Cancelled,
}

impl Stop {
    /// All reasons.
    pub const ALL: [Self; 4] = [Self::Nodes, Self::Depth, Self::Memory, Self::Cancelled];

    /// The name used in reports: `nodes`, `depth`, `memory`, `cancelled`.
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

/// The verdict for one attacker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The attacker reaches the goal; the proof was checked.
    Proven,
    /// The attacker does not reach the goal, at any depth.
    Disproven,
    /// Not decided within the limits.
    Unknown(Stop),
}

/// The cost of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// Positions entered by a move, see [`NODE_DEFINITION`]. Includes searches that rebuild a proof.
    pub nodes: u64,
    /// Positions of the checked proof.
    pub proof_positions: u64,
    /// Searches that were repeated because the table had lost a part of the proof.
    pub rebuilt: u32,
}
