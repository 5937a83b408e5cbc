//! What a run is asked to do.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::records::processing::ProcessedBlock;
use crate::records::source::{Block, InputRange};

/// The inputs of a pass, and how they are read.
pub(crate) struct Job<'a> {
    pub(crate) ranges: &'a [InputRange],
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
    pub(crate) block_memory_bytes: usize,
}

/// Blocks that may wait for one before them, where they are small.
const WAITING_BLOCKS: usize = 1 << 12;

impl<'a> Job<'a> {
    /// Reads everything, sums it up, and writes nothing.
    pub(crate) const fn new(ranges: &'a [InputRange], threads: usize, block_records: u64) -> Self {
        Self {
            ranges,
            threads,
            block_records,
            first_number: 0,
            limit: None,
            checksums: true,
            waiting_blocks: WAITING_BLOCKS,
            block_memory_bytes: usize::MAX,
        }
    }
}

/// What works on blocks, one after the other, on one thread.
pub(crate) trait BlockWorker {
    /// What it finds out about a block, besides what becomes of its records.
    type Summary: Send + 'static;

    /// What becomes of the records of a block; nothing if `stop` was set meanwhile.
    fn process(
        &mut self,
        block: &Block,
        stop: &AtomicBool,
    ) -> Option<(ProcessedBlock, Self::Summary)>;
}

/// A worker that keeps nothing from block to block.
pub(crate) type BlockFunction<T> =
    Arc<dyn Fn(&Block, &AtomicBool) -> Option<(ProcessedBlock, T)> + Send + Sync>;

impl<T: Send + 'static> BlockWorker for BlockFunction<T> {
    type Summary = T;

    fn process(&mut self, block: &Block, stop: &AtomicBool) -> Option<(ProcessedBlock, T)> {
        self(block, stop)
    }
}
