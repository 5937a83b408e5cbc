//! Bad records: records that cannot be used.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::format::Fields;

/// A bad record, or several records of a game that are bad together.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Error)]
#[error("{file}, record {index}, at byte {offset}: {reason}")]
pub struct BadRecord {
    /// Name of the input as given.
    pub file: String,
    /// Number of the first record in the input, from 0.
    pub index: u64,
    /// Number of records.
    #[serde(skip_serializing_if = "is_one")]
    pub records: u64,
    /// Offset of the chunk that contains the records, uncompressed.
    pub offset: u64,
    /// Length of the chunk.
    pub bytes: usize,
    /// The error. Byte offsets in it count from the start of the record.
    pub reason: String,
    /// Fields that the output needs and the record lacks, if that is the only error.
    #[serde(skip)]
    pub missing: Fields,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "required by serde")]
pub(crate) const fn is_one(number: &u64) -> bool {
    *number == 1
}

/// What to do with bad records.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum BadPolicy {
    /// Write their bytes to a quarantine file and the reasons to a second file.
    #[default]
    Quarantine,
    /// Count them and write nothing.
    Skip,
    /// End the run at the first one.
    Stop,
}
