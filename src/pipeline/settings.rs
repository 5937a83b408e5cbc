//! What the user may choose about a run of the filter.
//!
//! The words are those of `gen-filter`'s command line, here, in configuration files and in manifests.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::filters::RecordFilters;
use super::judge::SearchSettings;
use super::source::Compression;
use crate::format::{Fill, Format};

/// Everything that decides which bytes come out, and the number of threads, which does not.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Limits of one search.
    pub search: SearchSettings,
    /// What becomes of mates.
    pub mated: MatedPolicy,
    /// What becomes of positions on which the search stopped before it knew.
    pub unknown: UnknownPolicy,
    /// What becomes of records that cannot be used.
    pub on_error: BadPolicy,
    /// Which records are searched at all.
    pub filters: RecordFilters,
    /// What is written into fields that the input does not have.
    pub fill: Fill,
    /// Threads, 0 for as many as the machine runs at once.
    pub threads: usize,
}

/// What becomes of mates.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MatedPolicy {
    /// They are written to a file of their own, with the proofs beside.
    #[default]
    Split,
    /// They are not written.
    Drop,
    /// They are kept, with result, evaluation and move of the proof where the format can say it.
    Relabel,
}

/// What becomes of positions on which the search stopped before it knew.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UnknownPolicy {
    /// They are kept.
    #[default]
    Keep,
    /// They are not written.
    Drop,
    /// They are written to a file of their own.
    Split,
}

/// What becomes of records that cannot be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BadPolicy {
    /// Their bytes are written to a file of their own, with the reasons beside.
    #[default]
    Quarantine,
    /// They are counted and not written.
    Skip,
    /// The first one ends the run.
    Stop,
}

/// One of several equal parts of the input, counted from 1 as in `3/10`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shard {
    index: u32,
    count: u32,
}

/// Why a text is not a shard.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{text:?} is not a shard: expected I/N with 1 ≤ I ≤ N, as in 3/10")]
pub struct ParseShardError {
    text: String,
}

impl Shard {
    /// Part `index` of `count`; `None` unless 1 ≤ `index` ≤ `count`.
    pub const fn new(index: u32, count: u32) -> Option<Self> {
        if 1 <= index && index <= count { Some(Self { index, count }) } else { None }
    }

    /// Which part, from 1.
    pub const fn index(self) -> u32 {
        self.index
    }

    /// How many parts.
    pub const fn count(self) -> u32 {
        self.count
    }

    /// The records of this part out of `records`; parts differ by at most one record.
    ///
    /// ```
    /// use kyokumen::pipeline::settings::Shard;
    /// assert_eq!(Shard::new(1, 3).unwrap().range(10), 0..3);
    /// assert_eq!(Shard::new(2, 3).unwrap().range(10), 3..6);
    /// assert_eq!(Shard::new(3, 3).unwrap().range(10), 6..10);
    /// ```
    pub const fn range(self, records: u64) -> std::ops::Range<u64> {
        bound(records, self.index - 1, self.count)..bound(records, self.index, self.count)
    }
}

/// Where part `index` (from 0) of `count` begins. The product needs more than 64 bits.
const fn bound(records: u64, index: u32, count: u32) -> u64 {
    (records as u128 * index as u128 / count as u128) as u64
}

impl FromStr for Shard {
    type Err = ParseShardError;

    fn from_str(text: &str) -> Result<Self, ParseShardError> {
        text.split_once('/')
            .and_then(|(index, count)| Self::new(index.parse().ok()?, count.parse().ok()?))
            .ok_or_else(|| ParseShardError { text: text.to_owned() })
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

/// A format and how its bytes are compressed: `hcp`, `hcp.zst`, `hcp.gz`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FormatName {
    /// The format of the records.
    pub format: Format,
    /// How the file is compressed.
    pub compression: Compression,
}

/// Why a text is not the name of a format.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error(
    "{text:?} is not a format: expected one of {}, each also with .zst or .gz, or parquet",
    format_names()
)]
pub struct ParseFormatNameError {
    text: String,
}

fn format_names() -> String {
    Format::ALL.map(Format::name).join(", ")
}

impl FormatName {
    /// Records in the columns of a Parquet file.
    pub const PARQUET: Self = Self { format: Format::Jsonl, compression: Compression::Parquet };

    /// The format without compression.
    pub const fn plain(format: Format) -> Self {
        Self { format, compression: Compression::None }
    }

    /// The name that the file name shows; `None` if its extension is no format's.
    pub fn from_file_name(name: &str) -> Option<Self> {
        let (name, compression) = without_compression(name);
        if compression == Compression::Parquet {
            return Some(Self::PARQUET);
        }
        let (_, extension) = name.rsplit_once('.')?;
        Some(Self { format: Format::from_extension(extension)?, compression })
    }

    /// The file name without what says how it is written.
    pub fn stem(name: &str) -> &str {
        let (name, compression) = without_compression(name);
        if compression == Compression::Parquet {
            return name;
        }
        match name.rsplit_once('.') {
            Some((stem, _)) if !stem.is_empty() => stem,
            _ => name,
        }
    }
}

/// The name without the suffix of a compression, and the compression.
pub(in crate::pipeline) fn without_compression(name: &str) -> (&str, Compression) {
    for compression in [Compression::Zstd, Compression::Gzip, Compression::Parquet] {
        if let Some(name) = name.strip_suffix(compression.suffix()) {
            return (name, compression);
        }
    }
    (name, Compression::None)
}

impl FromStr for FormatName {
    type Err = ParseFormatNameError;

    fn from_str(text: &str) -> Result<Self, ParseFormatNameError> {
        let (name, compression) = without_compression(text.strip_prefix('.').unwrap_or(text));
        if name == Self::PARQUET.to_string() {
            return Ok(Self::PARQUET);
        }
        match Format::from_name(name) {
            Some(format) => Ok(Self { format, compression }),
            None => Err(ParseFormatNameError { text: text.to_owned() }),
        }
    }
}

impl fmt::Display for FormatName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.compression {
            Compression::Parquet => f.write_str("parquet"),
            _ => write!(f, "{}{}", self.format.name(), self.compression.suffix()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn shards_are_counted_from_one() {
        assert_eq!("3/10".parse(), Ok(Shard { index: 3, count: 10 }));
        for text in ["", "3", "0/3", "4/3", "0/0", "a/b", "1/", "-1/3", "1/2/3"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn shards_in_order_are_the_whole(records in any::<u64>(), count in 1u32..200) {
            let mut next = 0;
            for index in 1..=count {
                let range = Shard::new(index, count).unwrap().range(records);
                prop_assert_eq!(range.start, next);
                let size = range.end - range.start;
                let even = records / u64::from(count);
                prop_assert!(size == even || size == even + 1);
                next = range.end;
            }
            prop_assert_eq!(next, records);
        }
    }
}
