//! Records of an input one after another, read a block at a time.

use std::sync::{Mutex, PoisonError};

use kyokumen::format::{DecodeError, DecodeErrorKind, RecordRef};
use kyokumen::records::source::{Block, Input, Part, Source};

use crate::failure::Failure;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OnError {
    /// The first unreadable record is an error.
    Stop,
    /// Unreadable records are left out.
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

pub(crate) struct Reading {
    input: Input,
    /// Never locked. Python objects must be shareable between threads, and a source is not.
    source: Mutex<Source>,
}

impl Reading {
    pub(crate) fn new(part: Part, block_records: u64) -> Self {
        Self {
            input: part.input.clone(),
            source: Mutex::new(Source::new(vec![part], block_records)),
        }
    }

    pub(crate) fn block(&mut self) -> Option<Result<Block, Failure>> {
        let source = self.source.get_mut().unwrap_or_else(PoisonError::into_inner);
        Some(source.next()?.map_err(Failure::from))
    }

    pub(crate) fn name(&self) -> &str {
        &self.input.name
    }
}

/// Calls `take` with the wanted records of a block, except comments. Returns the number of unreadable records, which is
/// 0 with [`OnError::Stop`].
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
