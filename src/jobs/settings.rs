//! What the user may choose about a run that searches.
//!
//! The words are those of `gen-filter`'s command line, here, in configuration files and in manifests.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::dataset::DatasetSettings;
use crate::format::{Fill, Format};
use crate::mate::judge::SearchSettings;
use crate::records::filters::RecordFilters;
use crate::records::source::Compression;

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
    /// If not records are to come out but rows of a table, which takes the place of what becomes of mates, of
    /// the unknown and of missing fields.
    pub dataset: Option<DatasetSettings>,
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
pub(crate) fn without_compression(name: &str) -> (&str, Compression) {
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
