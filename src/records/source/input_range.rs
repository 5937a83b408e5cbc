//! Parts of inputs, and what was read of them.

use serde::{Deserialize, Serialize};

use crate::records::source::Input;
use crate::storage::checksum::Sha256Sum;

/// Which records of an input are wanted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InputRange {
    /// The input.
    pub input: Input,
    /// OffsetTable of the first record wanted.
    pub from: u64,
    /// OffsetTable behind the last record wanted; `None` for all there are.
    pub to: Option<u64>,
    /// A record at or before the first one wanted, whose place is known.
    pub mark: SeekPoint,
    /// How many records the whole input has, if they were counted.
    pub counted: Option<RecordCount>,
}

/// How many records an input has, as they were counted before they are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecordCount {
    /// The number.
    pub records: u64,
    /// Whether it says where others begin to read: a wrong one is an error then, and else a warning.
    pub is_relied_on: bool,
}

impl InputRange {
    /// All of an input.
    pub const fn whole(input: Input) -> Self {
        Self::range(input, 0, None)
    }

    /// A range of records of an input whose offsets are not known.
    pub const fn range(input: Input, from: u64, to: Option<u64>) -> Self {
        Self { input, from, to, mark: SeekPoint { record: 0, offset: 0 }, counted: None }
    }

    /// Whether the range has no records, as in some shards if there are more shards than records.
    pub(crate) fn is_empty(&self) -> bool {
        self.to.is_some_and(|to| to <= self.from)
    }

    /// OffsetTable behind the last record wanted, where that is known.
    pub fn end(&self) -> Option<u64> {
        self.to.or(self.counted.map(|counted| counted.records))
    }

    /// Whether the range contains the last of the `counted` records of the input. Also true if the input is empty.
    pub(crate) fn reaches(&self, counted: u64) -> bool {
        self.to.is_none_or(|to| to >= counted) && (self.from < counted || counted == 0)
    }
}

/// What was read of one input.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RangeRead {
    /// Which of the parts, from 0.
    pub input: usize,
    /// Records read.
    pub records: u64,
    /// Offset of the first byte read, uncompressed.
    pub offset: u64,
    /// Bytes read, uncompressed.
    pub bytes: u64,
    /// SHA-256 of these bytes, if it was asked for: a [`Source`](super::Source) by itself makes none.
    pub sha256: Option<Sha256Sum>,
}

pub(crate) const OFFSET_TABLE_SUFFIX: &str = ".index.json";

/// A record that begins a chunk.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SeekPoint {
    /// Its number, from 0.
    pub record: u64,
    /// Where it begins, uncompressed.
    pub offset: u64,
}
