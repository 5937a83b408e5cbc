//! Blocks that wait for room.

use std::sync::Arc;

use crate::records::source::room::Room;
use crate::records::source::{Delivery, SourceError};

/// The deliveries of a source, each when there is room for its bytes.
pub(crate) struct Within<S> {
    source: S,
    room: Arc<Room>,
}

impl<S> Within<S> {
    pub(crate) const fn new(source: S, room: Arc<Room>) -> Self {
        Self { source, room }
    }
}

impl<S: Iterator<Item = Result<Delivery, SourceError>>> Iterator for Within<S> {
    type Item = S::Item;

    fn next(&mut self) -> Option<S::Item> {
        let mut delivery = self.source.next()?;
        if let Ok(Delivery::Block(block)) = &mut delivery {
            block.share = Some(self.room.take(block.bytes.capacity()));
        }
        Some(delivery)
    }
}
