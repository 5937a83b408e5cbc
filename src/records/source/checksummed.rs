//! Checksums of what is read, apart from the reading: each keeps a processor busy.

use sha2::{Digest, Sha256};

use super::{Delivery, SourceError};

/// Adds to what a source delivers the checksum of all that was read up to there of the same input.
pub(crate) struct Checksummed<S> {
    source: S,
    digest: Sha256,
}

impl<S> Checksummed<S> {
    pub(crate) fn new(source: S) -> Self {
        Self { source, digest: Sha256::new() }
    }
}

impl<S: Iterator<Item = Result<Delivery, SourceError>>> Iterator for Checksummed<S> {
    type Item = S::Item;

    fn next(&mut self) -> Option<S::Item> {
        let mut delivery = self.source.next()?;
        match &mut delivery {
            Ok(Delivery::Block(block)) => {
                self.digest.update(&block.bytes);
                block.read.sha256 = Some(self.digest.clone().into());
            }
            Ok(Delivery::End(read)) => {
                read.sha256 = Some(std::mem::take(&mut self.digest).into());
            }
            Err(_) => {}
        }
        Some(delivery)
    }
}
