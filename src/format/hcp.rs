//! `hcp`: Apery's packed position and nothing else.
//!
//! Layout from Apery's `HuffmanCodedPos`; see `docs/formats/hcp.md`.

use super::error::EncodeError;
use super::packed::{self, Family};
use super::record::Record;

/// Bytes of a record.
pub(super) const LEN: usize = packed::LEN;

/// Appends the position.
pub(super) fn encode(record: &Record, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    out.extend_from_slice(&packed::encode(Family::Apery, &record.setup)?);
    Ok(())
}
