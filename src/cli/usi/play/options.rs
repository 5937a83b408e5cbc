//! USI options of the engine that plays.
//!
//! `USI_Hash`, `USI_Ponder` and `MultiPV` are names of the protocol. The others are dlshogi's names if it has the
//! option.

use std::time::Duration;

use crate::cli::usi::command::{Fault, Setting};
use crate::cli::usi::options::{Spin, Spins};

const HASH: usize = 0;
const MULTI_PV: usize = 1;
const NODES: usize = 2;
const MARGIN: usize = 3;
const RESIGN: usize = 4;
const DRAW: usize = 5;
const ROOT_MATE_NODES: usize = 6;

const SPINS: [Spin; 7] = [
    Spin { name: "USI_Hash", default: 1024, min: 1, max: 1 << 20 },
    Spin { name: "MultiPV", default: 1, min: 1, max: 593 },
    Spin { name: "NodesLimit", default: 0, min: 0, max: 1 << 31 },
    Spin { name: "ByoyomiMargin", default: 500, min: 0, max: 60_000 },
    Spin { name: "Resign_Threshold", default: 0, min: 0, max: 1000 },
    Spin { name: "Draw_Value", default: 500, min: 0, max: 1000 },
    Spin { name: "Mate_Root_Nodes", default: 1_000_000, min: 0, max: 1 << 40 },
];

/// Bytes per position of the tree, with its moves.
const POSITION_BYTES: u64 = 1 << 10;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct PlayOptions(Spins<{ SPINS.len() }>);

impl PlayOptions {
    pub(super) fn new() -> Self {
        Self(Spins::new(&SPINS))
    }

    pub(super) fn offers(&self) -> impl Iterator<Item = String> {
        self.0.offers()
    }

    pub(super) fn set(&mut self, setting: &Setting) -> Option<Result<(), Fault>> {
        self.0.set(setting)
    }

    /// Maximum number of positions in the tree.
    pub(super) fn most_positions(&self) -> usize {
        usize::try_from((self.0.value(HASH) << 20) / POSITION_BYTES).unwrap_or(usize::MAX)
    }

    pub(super) fn multi_pv(&self) -> usize {
        usize::try_from(self.0.value(MULTI_PV)).unwrap_or(usize::MAX)
    }

    /// Maximum number of simulations of a search. `None` if unlimited.
    pub(super) fn nodes(&self) -> Option<u64> {
        Some(self.0.value(NODES)).filter(|&nodes| nodes > 0)
    }

    pub(super) fn margin(&self) -> Duration {
        Duration::from_millis(self.0.value(MARGIN))
    }

    /// Value below which the player resigns.
    pub(super) fn resign(&self) -> f32 {
        self.0.value(RESIGN) as f32 / 1000.0
    }

    pub(super) fn draw_value(&self) -> f32 {
        self.0.value(DRAW) as f32 / 1000.0
    }

    pub(super) fn root_mate_nodes(&self) -> u64 {
        self.0.value(ROOT_MATE_NODES)
    }
}
