//! Records that cannot be used.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::format::Fields;

/// A record that could not be used.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Error)]
#[error("{file}, record {index}, at byte {offset}: {reason}")]
pub struct BadRecord {
    /// The input, as it was given.
    pub file: String,
    /// Number of the record within the file, from 0.
    pub index: u64,
    /// Records of a game that are bad together.
    #[serde(skip_serializing_if = "is_one")]
    pub records: u64,
    /// Where it begins within the file, uncompressed.
    pub offset: u64,
    /// Its length.
    pub bytes: usize,
    /// What is wrong; byte numbers in it count from the start of the record.
    pub reason: String,
    /// Fields that the output needs and the record lacks, if that is all that is wrong.
    #[serde(skip)]
    pub missing: Fields,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
pub(crate) const fn is_one(number: &u64) -> bool {
    *number == 1
}

/// What becomes of records that cannot be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum BadPolicy {
    /// Their bytes are written to a file of their own, with the reasons beside.
    #[default]
    Quarantine,
    /// They are counted and not written.
    Skip,
    /// The first one ends the run.
    Stop,
}
