//! What a run is asked to do.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::records::sink::OutputPlan;
use crate::records::sorting::Sorted;
use crate::records::source::{Block, Part};

/// What is to be read and written.
pub(crate) struct Job<'a> {
    pub(crate) parts: &'a [Part],
    pub(crate) outputs: &'a [OutputPlan],
    /// 0 for as many as the machine runs at once.
    pub(crate) threads: usize,
    pub(crate) block_records: u64,
    /// Number, over all inputs, of the first record.
    pub(crate) first_number: u64,
    /// Records after which reading stops.
    pub(crate) limit: Option<u64>,
    /// Whether checksums of what is read and written are wanted.
    pub(crate) checksums: bool,
    /// Blocks that may wait for one before them, however small they are.
    pub(crate) waiting_blocks: usize,
    /// Memory that blocks under way may take, if that is less than they would.
    pub(crate) room_bytes: usize,
}

/// What a worker does with a block, and what else it found out about it; nothing comes back after a
/// cancellation.
pub(crate) type Desk<T> = Arc<dyn Fn(&Block, &AtomicBool) -> Option<(Sorted, T)> + Send + Sync>;
