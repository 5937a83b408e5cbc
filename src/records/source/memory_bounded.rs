//! Blocks that wait for room.

use std::sync::Arc;

use crate::records::source::budget::MemoryBudget;
use crate::records::source::{Delivery, SourceError};

/// The deliveries of a source, each when there is room for its bytes.
pub(crate) struct MemoryBounded<S> {
    source: S,
    budget: Arc<MemoryBudget>,
}

impl<S> MemoryBounded<S> {
    pub(crate) const fn new(source: S, budget: Arc<MemoryBudget>) -> Self {
        Self { source, budget }
    }
}

impl<S: Iterator<Item = Result<Delivery, SourceError>>> Iterator for MemoryBounded<S> {
    type Item = S::Item;

    fn next(&mut self) -> Option<S::Item> {
        let mut delivery = self.source.next()?;
        if let Ok(Delivery::Block(block)) = &mut delivery {
            block.permit = Some(self.budget.take(block.bytes.capacity()));
        }
        Some(delivery)
    }
}
