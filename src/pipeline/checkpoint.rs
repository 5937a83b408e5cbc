//! How far a run has come, known exactly at every block boundary.
//!
//! A file that carries this state makes a run resumable: the outputs are cut to these lengths and the
//! input is read on from this record. It is kept in memory only so far.

use serde::{Deserialize, Serialize};

use super::counts::Counts;

/// The state after the last block that was written.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Blocks written.
    pub blocks: u64,
    /// What became of the records in them; `counts.input` records of the plan's range are behind us.
    pub counts: Counts,
}

impl Checkpoint {
    /// Takes another block into the state, after its records were handed to the outputs.
    pub fn advance(&mut self, block: &Counts) {
        self.blocks += 1;
        self.counts.add(block);
    }
}
