//! How far a run of self-play has come.

use serde::{Deserialize, Serialize};

use super::checkpoint::CheckpointContent;
use super::identity::Identity;
use super::selfplay_manifest::GameTotals;
use crate::records::sink::OutputState;
use crate::storage::checksum::Sha256Sum;

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
    /// Checksum of the manifest that the run will replace. Its output does not belong to this run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaces: Vec<Sha256Sum>,
}

#[cfg(feature = "network")]
impl SelfPlayCheckpoint {
    /// The checkpoint of a run that has not done anything yet.
    pub(crate) fn begun(identity: Identity, replaces: Vec<Sha256Sum>) -> Self {
        Self {
            identity,
            done: 0,
            games: GameTotals::default(),
            reproducible: true,
            outputs: Vec::new(),
            elapsed_s: 0.0,
            resumed_from: Vec::new(),
            replaces,
        }
    }

    /// Whether the run has written nothing but this checkpoint.
    pub(crate) const fn is_beginning(&self) -> bool {
        self.outputs.is_empty()
    }
}

impl CheckpointContent for SelfPlayCheckpoint {
    fn outputs(&self) -> &[OutputState] {
        &self.outputs
    }

    fn outputs_mut(&mut self) -> &mut [OutputState] {
        &mut self.outputs
    }
}
