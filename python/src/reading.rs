//! Records of an input one after another, read a block at a time.

use std::sync::{Mutex, PoisonError};

use kyokumen::format::{DecodeError, DecodeErrorKind, RecordRef};
use kyokumen::records::source::{Block, Delivery, Input, Part, Source};

use crate::failure::Failure;

/// What becomes of records that cannot be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OnError {
    /// The first one is an error.
    Stop,
    /// They are left out.
    Skip,
}

impl OnError {
    pub(crate) fn named(name: &str) -> Result<Self, Failure> {
        match name {
            "stop" => Ok(Self::Stop),
            "skip" => Ok(Self::Skip),
            _ => Err(Failure::usage(format!("on_error is \"stop\" or \"skip\", not {name:?}"))),
        }
    }
}

/// A range of the records of an input, in blocks.
pub(crate) struct Reading {
    input: Input,
    /// Never locked: objects of Python are shared by threads, and a source is not.
    source: Mutex<Source>,
}

impl Reading {
    pub(crate) fn new(part: Part, block_records: u64) -> Self {
        Self {
            input: part.input.clone(),
            source: Mutex::new(Source::new(vec![part], block_records)),
        }
    }

    /// The next block; none at the end.
    pub(crate) fn block(&mut self) -> Option<Result<Block, Failure>> {
        let source = self.source.get_mut().unwrap_or_else(PoisonError::into_inner);
        loop {
            match source.next()? {
                Ok(Delivery::Block(block)) => return Some(Ok(block)),
                Ok(Delivery::End(_)) => {}
                Err(error) => return Some(Err(error.into())),
            }
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.input.name
    }
}

/// Gives the records of a block that are wanted to `take`; comments are none. Returns how many cannot be read, which is
/// 0 where the first one is an error.
pub(crate) fn each_record(
    name: &str,
    block: &Block,
    on_error: OnError,
    mut take: impl FnMut(u64, &RecordRef<'_>) -> Result<(), DecodeError>,
) -> Result<u64, Failure> {
    let mut skipped = 0;
    for decoded in block.wanted_records() {
        let taken = match decoded.record {
            Ok(record) if record.is_comment() => continue,
            Ok(record) => take(decoded.index, &record),
            Err(error) => Err(error),
        };
        match (taken, on_error) {
            (Ok(()), _) => {}
            (Err(error), _) if error.kind == DecodeErrorKind::Comment => {}
            (Err(_), OnError::Skip) => skipped += 1,
            (Err(error), OnError::Stop) => {
                let byte = block.offset + decoded.unit.offset;
                return Err(Failure::bad_record(Some(name), decoded.index, byte, &error));
            }
        }
    }
    Ok(skipped)
}
