//! The inputs and limits of a pass, and its workers.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::records::processing::ProcessedBlock;
use crate::records::source::{Block, InputRange};

/// The inputs of a pass and how to read them.
pub(crate) struct Job<'a> {
    pub(crate) ranges: &'a [InputRange],
    /// 0 for all cores.
    pub(crate) threads: usize,
    pub(crate) block_records: u64,
    /// Number of the first record, counted over all inputs.
    pub(crate) first_number: u64,
    /// Maximum number of records to read.
    pub(crate) limit: Option<u64>,
    /// Whether to compute checksums of inputs and outputs.
    pub(crate) checksums: bool,
    /// Maximum number of results that wait for an earlier block.
    pub(crate) waiting_blocks: usize,
    /// Maximum memory of the blocks in flight.
    pub(crate) block_memory_bytes: usize,
}

/// Default maximum number of results that wait for an earlier block.
const WAITING_BLOCKS: usize = 1 << 12;

impl<'a> Job<'a> {
    /// Reads all records of the ranges, with checksums.
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

/// Processes blocks on one thread.
pub(crate) trait BlockWorker {
    /// Additional result of a block, besides the processed records.
    type Summary: Send + 'static;

    /// Processes the records of a block. Returns `None` if `stop` was set meanwhile.
    fn process(
        &mut self,
        block: &Block,
        stop: &AtomicBool,
    ) -> Option<(ProcessedBlock, Self::Summary)>;
}

/// A worker without state.
pub(crate) type BlockFunction<T> =
    Arc<dyn Fn(&Block, &AtomicBool) -> Option<(ProcessedBlock, T)> + Send + Sync>;

impl<T: Send + 'static> BlockWorker for BlockFunction<T> {
    type Summary = T;

    fn process(&mut self, block: &Block, stop: &AtomicBool) -> Option<(ProcessedBlock, T)> {
        self(block, stop)
    }
}
