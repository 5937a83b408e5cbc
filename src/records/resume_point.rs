//! Where a run stands between two blocks.

use serde::{Deserialize, Serialize};

use crate::records::counts::Counts;
use crate::records::source::PartRead;

/// The place in a run between two blocks.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ResumePoint {
    /// Blocks that were dealt with.
    pub blocks: u64,
    /// What became of the records in them.
    pub counts: Counts,
    /// What was read of the input in which the last of them stood.
    pub read: Option<PartRead>,
}

impl ResumePoint {
    pub(crate) fn advance(&mut self, block: &Counts, read: PartRead) {
        self.blocks += 1;
        self.counts.add(block);
        self.read = Some(read);
    }
}
