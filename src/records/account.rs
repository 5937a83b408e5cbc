//! Manifest entries: the inputs that a run read and the outputs that it wrote.

use std::collections::BTreeMap;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind};
use crate::format::move16::Dialect;
use crate::format::{Format, MoveCounts, Survey};
use crate::records::output_kind::OutputKind;
use crate::records::sink::WrittenOutput;
use crate::records::source::{Input, InputRange, RangeRead};
use crate::storage::checksum::Sha256Sum;
use crate::storage::files;
use crate::storage::path_text::text_of;

/// An input, with the range that was read.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct InputEntry {
    /// Name, format and state of the input.
    #[serde(flatten)]
    pub identity: InputIdentity,
    /// Number of the first record read.
    pub from: u64,
    /// Number after the last record read.
    pub to: u64,
    /// Offset of the first byte read, uncompressed.
    pub offset: u64,
    /// Bytes read, uncompressed.
    pub bytes: u64,
    /// SHA-256 of these bytes; `None` if the command does not compute it.
    pub sha256: Option<Sha256Sum>,
    /// Properties of a sample of the whole input.
    pub evidence: Option<Evidence>,
}

impl InputEntry {
    pub(crate) fn identities(entries: &[Self]) -> Vec<InputIdentity> {
        entries.iter().map(|entry| entry.identity.clone()).collect()
    }

    /// Offset after the last byte read, uncompressed.
    pub(crate) const fn end(&self) -> u64 {
        self.offset.saturating_add(self.bytes)
    }

    /// Whether `offset` is the start of record `from`. In formats without single records, such as games, it is the
    /// start of the chunk that holds the record.
    pub(crate) fn begins_with_record(&self) -> bool {
        Format::from_name(&self.identity.format).is_some_and(Format::has_single_records)
    }
}

/// Properties of a sample of records, which depend on the program that wrote them. Equal for every shard.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Evidence {
    /// Number of records in the sample.
    pub sampled: u64,
    /// Records that cannot be read.
    pub unreadable: u64,
    /// Order of the pieces in hand.
    pub hand_order: String,
    /// Records whose padding is not zero.
    pub padding_not_zero: u64,
    /// Records whose result holds flags.
    pub result_flags: u64,
    /// Counts of stored moves, decoded as `dialect`.
    pub moves: MoveCounts,
    /// Move encoding used to read the input.
    pub dialect: String,
    /// Stored moves that the known encodings decode differently.
    pub telling_moves: u64,
    /// Number of these moves that are legal, by encoding.
    pub legal_in: BTreeMap<String, u64>,
}

impl Evidence {
    fn new(survey: &Survey, dialect: Dialect) -> Self {
        Self {
            sampled: survey.records,
            unreadable: survey.unreadable,
            hand_order: survey.hand_orders().to_string(),
            padding_not_zero: survey.padding_not_zero,
            result_flags: survey.result_flags,
            moves: survey.moves,
            dialect: dialect.name().to_owned(),
            telling_moves: survey.telling_moves,
            legal_in: Dialect::ALL
                .into_iter()
                .map(|dialect| (dialect.name().to_owned(), survey.legal_in(dialect)))
                .collect(),
        }
    }
}

/// An output.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OutputEntry {
    /// File name without the folder, because the folder may be moved.
    pub file: String,
    /// Kind of output.
    #[serde(rename = "stream")]
    pub kind: OutputKind,
    /// Number of records or lines.
    pub records: u64,
    /// Number of games, if the format holds games. Stated by `shuffle`, `dedup`, `split`, `sample` and `interleave`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub games: Option<u64>,
    /// Size in bytes.
    pub bytes: u64,
    /// SHA-256 of the file; `None` if the command does not compute it.
    pub sha256: Option<Sha256Sum>,
}

pub(crate) fn input_entry(range: &InputRange, read: &RangeRead) -> InputEntry {
    InputEntry {
        identity: InputIdentity::new(&range.input),
        from: range.from,
        to: range.from + read.records,
        offset: read.offset,
        bytes: read.bytes,
        sha256: read.sha256,
        evidence: range
            .input
            .evidence
            .as_ref()
            .map(|survey| Evidence::new(survey, range.input.dialect)),
    }
}

pub(crate) fn output_entry(written: &WrittenOutput) -> OutputEntry {
    let name = written.path.file_name().unwrap_or(written.path.as_os_str());
    OutputEntry {
        file: text_of(name),
        kind: written.kind,
        records: written.records,
        games: None,
        bytes: written.bytes,
        sha256: written.sha256,
    }
}

/// Identity of an input, determined without reading its content.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct InputIdentity {
    /// Name of the input as given.
    pub file: String,
    /// Format of its records.
    pub format: String,
    /// Move encoding.
    pub dialect: String,
    /// Size of the file; `None` for standard input and pipes.
    pub file_bytes: Option<u64>,
    /// Modification time of the file, in nanoseconds since 1970.
    pub modified_unix_ns: Option<u64>,
    /// ETag of an object: the identifier that the object store gives this content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
}

impl InputIdentity {
    pub(crate) fn new(input: &Input) -> Self {
        let state = input.location.state();
        Self {
            file: input.name.clone(),
            format: input.format.name().to_owned(),
            dialect: input.dialect.name().to_owned(),
            file_bytes: state.as_ref().map(|state| state.bytes),
            modified_unix_ns: state.as_ref().and_then(|state| state.modified_unix_ns),
            etag: state.and_then(|state| state.etag),
        }
    }
}

pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Result<T, Error> {
    let bytes = files::read(path).map_err(|source| Error::io("read", path, source))?;
    serde_json::from_slice(&bytes).map_err(|source| {
        let has_other_content = source.is_data();
        let of_version = if has_other_content { " that this version can read" } else { "" };
        let message = format!("{} is not a manifest{of_version}", path.display());
        Error::new(ErrorKind::Malformed, message).in_file(&path.display()).with_source(source)
    })
}

pub(crate) fn to_json(value: &impl Serialize) -> Vec<u8> {
    let mut json = serde_json::to_vec_pretty(value)
        .expect("strings, numbers and maps with string keys are always valid JSON");
    json.push(b'\n');
    json
}

pub(crate) const MANIFEST_SUFFIX: &str = ".manifest.json";
