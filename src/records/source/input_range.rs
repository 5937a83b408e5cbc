//! Contiguous ranges of the records of an input.

use serde::{Deserialize, Serialize};

use crate::records::source::Input;
use crate::storage::checksum::Sha256Sum;

/// A contiguous range of the records of an input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InputRange {
    /// The input.
    pub input: Input,
    /// Number of the first record.
    pub from: u64,
    /// Number after the last record; `None` for the end of the input.
    pub to: Option<u64>,
    /// A record with a known offset, at or before the first record.
    pub mark: SeekPoint,
    /// Number of records of the whole input, if they were counted.
    pub counted: Option<RecordCount>,
}

/// The number of records of an input, counted before they are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecordCount {
    /// Number of records.
    pub records: u64,
    /// Whether the starts of other shards depend on it. If so, a wrong number is an error, otherwise a warning.
    pub is_relied_on: bool,
}

impl InputRange {
    /// The whole input.
    pub const fn whole(input: Input) -> Self {
        Self::range(input, 0, None)
    }

    /// A range of records with unknown offsets.
    pub const fn range(input: Input, from: u64, to: Option<u64>) -> Self {
        Self { input, from, to, mark: SeekPoint { record: 0, offset: 0 }, counted: None }
    }

    /// Whether the range has no records, as in some shards if there are more shards than records.
    pub(crate) fn is_empty(&self) -> bool {
        self.to.is_some_and(|to| to <= self.from)
    }

    /// Number after the last record, if known.
    pub fn end(&self) -> Option<u64> {
        self.to.or(self.counted.map(|counted| counted.records))
    }

    /// Whether the range contains the last of the `counted` records of the input. Also true if the input is empty.
    pub(crate) fn reaches(&self, counted: u64) -> bool {
        self.to.is_none_or(|to| to >= counted) && (self.from < counted || counted == 0)
    }
}

/// How much of an input range was read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RangeRead {
    /// Index of the input range, from 0.
    #[serde(rename = "part")]
    pub input: usize,
    /// Records read.
    pub records: u64,
    /// Offset of the first byte read, uncompressed.
    pub offset: u64,
    /// Bytes read, uncompressed.
    pub bytes: u64,
    /// SHA-256 of these bytes, if requested. A [`Source`](super::Source) alone does not compute it.
    pub sha256: Option<Sha256Sum>,
}

pub(crate) const OFFSET_TABLE_SUFFIX: &str = ".index.json";

/// A point where reading can start: a record at the beginning of a chunk.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SeekPoint {
    /// Number of the record, from 0.
    pub record: u64,
    /// Offset of the record, uncompressed.
    pub offset: u64,
}
