//! How far a run of self-play has come.

use serde::{Deserialize, Serialize};

use super::checkpoint::CheckpointContent;
use super::identity::Identity;
use super::selfplay_manifest::GameTotals;
use crate::records::sink::OutputState;

/// How far a run has come.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SelfPlayCheckpoint {
    /// What the run is.
    pub identity: Identity,
    /// Numbers that were dealt with.
    pub done: u64,
    /// What became of them.
    pub games: GameTotals,
    /// Whether the networks of all processes so far answer alike wherever a position stands.
    pub reproducible: bool,
    /// How far each output has come.
    pub outputs: Vec<OutputState>,
    /// How long the run took so far.
    pub elapsed_s: f64,
    /// Games behind which another process went on.
    pub resumed_from: Vec<u64>,
}

impl CheckpointContent for SelfPlayCheckpoint {
    fn outputs(&self) -> &[OutputState] {
        &self.outputs
    }

    fn outputs_mut(&mut self) -> &mut [OutputState] {
        &mut self.outputs
    }
}
