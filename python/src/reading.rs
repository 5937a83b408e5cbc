//! Sequential reading of an input, one block at a time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use kyokumen::format::{DecodeError, DecodeErrorKind, RecordRef};
use kyokumen::records::bad_record::BadPolicy;
use kyokumen::records::source::{Block, Input, InputRange, Source};

use crate::failure::Failure;

/// The policy for unreadable records in functions without a quarantine file.
pub(crate) fn policy(on_error: &str) -> Result<BadPolicy, Failure> {
    match on_error {
        "stop" => Ok(BadPolicy::Stop),
        "skip" => Ok(BadPolicy::Skip),
        _ => {
            Err(Failure::usage(format!("on_error must be \"stop\" or \"skip\", not {on_error:?}")))
        }
    }
}

pub(crate) struct Reading {
    input: Input,
    /// Never locked. The mutex makes the source `Sync`, which Python objects must be.
    source: Mutex<Source>,
}

impl Reading {
    pub(crate) fn new(range: InputRange, block_records: u64) -> Self {
        Self {
            input: range.input.clone(),
            source: Mutex::new(Source::new(vec![range], block_records)),
        }
    }

    pub(crate) fn block(&mut self) -> Option<Result<Block, Failure>> {
        let source = self.source.get_mut().unwrap_or_else(PoisonError::into_inner);
        Some(source.next()?.map_err(Failure::from))
    }

    /// Stops reading. Used after an error, because the records after a gap would look complete.
    pub(crate) fn end(&mut self) {
        self.source = Mutex::new(Source::new(Vec::new(), 1));
    }

    pub(crate) fn name(&self) -> &str {
        &self.input.name
    }
}

/// Calls `take` with the requested records of a block, except comments. With [`BadPolicy::Skip`], skips unreadable
/// records; otherwise the first one is an error. Stops early if cancelled.
pub(crate) fn each_record(
    name: &str,
    block: &Block,
    on_error: BadPolicy,
    cancel: &AtomicBool,
    mut take: impl FnMut(u64, &RecordRef<'_>) -> Result<(), DecodeError>,
) -> Result<(), Failure> {
    for decoded in block.wanted_records() {
        if cancel.load(Ordering::Relaxed) {
            break;
        }
        let taken = match decoded.record {
            Ok(record) if record.is_comment() => continue,
            Ok(record) => take(decoded.index, &record),
            Err(error) => Err(error),
        };
        let Err(error) = taken else { continue };
        if error.kind != DecodeErrorKind::Comment && on_error != BadPolicy::Skip {
            let byte = block.offset + decoded.chunk.offset;
            return Err(Failure::bad_record(Some(name), decoded.index, byte, &error));
        }
    }
    Ok(())
}
