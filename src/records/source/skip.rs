//! Skips the blocks that an interrupted run has already processed.
//!
//! Reading from the start makes blocks end where they ended before, for every format and compression;
//! it also shows that the input is still the same, and costs nothing beside the work that is not done again.

use super::{Delivery, PartRead, SourceError};
use crate::records::resume_point::ResumePoint;

/// Leaves out the first blocks of a source.
pub(crate) struct SkipBlocks<S> {
    source: S,
    blocks_left: u64,
    /// What had been read up to the last one that is left out.
    expected: Option<PartRead>,
    inputs: Vec<String>,
}

impl<S> SkipBlocks<S> {
    /// Leaves out the blocks up to this place.
    pub(crate) const fn new(source: S, behind: &ResumePoint, inputs: Vec<String>) -> Self {
        Self { source, blocks_left: behind.blocks, expected: behind.read, inputs }
    }

    fn not_as_left(&self) -> SourceError {
        let part = self.expected.map_or(0, |read| read.part);
        SourceError::NotAsLeft { input: self.inputs.get(part).cloned().unwrap_or_default() }
    }
}

impl<S: Iterator<Item = Result<Delivery, SourceError>>> Iterator for SkipBlocks<S> {
    type Item = S::Item;

    fn next(&mut self) -> Option<S::Item> {
        while self.blocks_left > 0 {
            match self.source.next() {
                Some(Ok(Delivery::Block(block))) => {
                    self.blocks_left -= 1;
                    if self.blocks_left == 0 && self.expected != Some(block.read()) {
                        return Some(Err(self.not_as_left()));
                    }
                }
                None => {
                    self.blocks_left = 0;
                    return Some(Err(self.not_as_left()));
                }
                other => return other,
            }
        }
        self.source.next()
    }
}
