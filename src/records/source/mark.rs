//! Where records stand in an input.

use serde::{Deserialize, Serialize};

/// What the name of an index has behind that of its input.
pub(crate) const INDEX_SUFFIX: &str = ".index.json";

/// A record that begins a unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SeekPoint {
    /// Its number, from 0.
    pub record: u64,
    /// Where it begins, uncompressed.
    pub offset: u64,
}
