//! Accounts of what was read and written, as they stand in manifests and reports.

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

/// What was read of one input.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct InputEntry {
    /// What it is.
    #[serde(flatten)]
    pub identity: InputIdentity,
    /// OffsetTable of the first record read.
    pub from: u64,
    /// OffsetTable behind the last record read.
    pub to: u64,
    /// Where the first byte read stands, uncompressed.
    pub offset: u64,
    /// Bytes read, uncompressed.
    pub bytes: u64,
    /// SHA-256 of these bytes; none where the command was not to compute it.
    pub sha256: Option<Sha256Sum>,
    /// What a sample of all of its records shows of its writer.
    pub evidence: Option<Evidence>,
}

impl InputEntry {
    pub(crate) fn identities(entries: &[Self]) -> Vec<InputIdentity> {
        entries.iter().map(|entry| entry.identity.clone()).collect()
    }

    /// Offset behind the last byte read, uncompressed.
    pub(crate) const fn end(&self) -> u64 {
        self.offset.saturating_add(self.bytes)
    }

    /// Whether `offset` is the start of record `from`. In formats without single records, such as games, it is the
    /// start of the chunk that holds the record.
    pub(crate) fn begins_with_record(&self) -> bool {
        Format::from_name(&self.identity.format).is_some_and(Format::has_single_records)
    }
}

/// What a sample of records shows of their writer; the same for every shard.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Evidence {
    /// Records looked at.
    pub sampled: u64,
    /// Records that could not be read.
    pub unreadable: u64,
    /// Order of the pieces in hand.
    pub hand_order: String,
    /// Records whose padding is not zero.
    pub padding_not_zero: u64,
    /// Records whose result holds flags.
    pub result_flags: u64,
    /// What became of the stored moves, in the encoding in which they were read.
    pub moves: MoveCounts,
    /// The encoding in which moves are read.
    pub dialect: String,
    /// Moves that tell the encodings apart.
    pub telling_moves: u64,
    /// How many of them are legal in each encoding.
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

/// One file written.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OutputEntry {
    /// Its name, without the folder, which may move.
    pub file: String,
    /// What it holds.
    #[serde(rename = "stream")]
    pub kind: OutputKind,
    /// Records or lines in it.
    pub records: u64,
    /// Its size.
    pub bytes: u64,
    /// SHA-256 of the file; none where the command was not to compute it.
    pub sha256: Option<Sha256Sum>,
}

pub(crate) fn input_entry(part: &InputRange, read: &RangeRead) -> InputEntry {
    InputEntry {
        identity: InputIdentity::of(&part.input),
        from: part.from,
        to: part.from + read.records,
        offset: read.offset,
        bytes: read.bytes,
        sha256: read.sha256,
        evidence: part
            .input
            .evidence
            .as_ref()
            .map(|survey| Evidence::new(survey, part.input.dialect)),
    }
}

pub(crate) fn output_entry(written: &WrittenOutput) -> OutputEntry {
    let name = written.path.file_name().unwrap_or(written.path.as_os_str());
    OutputEntry {
        file: text_of(name),
        kind: written.kind,
        records: written.records,
        bytes: written.bytes,
        sha256: written.sha256,
    }
}

/// What an input is, as far as that shows without reading it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct InputIdentity {
    /// The input, as it was given.
    pub file: String,
    /// Format of its records.
    pub format: String,
    /// How packed moves are read.
    pub dialect: String,
    /// Size of the file; none for standard input.
    pub file_bytes: Option<u64>,
    /// When the file was written last, in nanoseconds since 1970.
    pub modified_unix_ns: Option<u64>,
    /// What the store of an object calls this content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
}

impl InputIdentity {
    pub(crate) fn of(input: &Input) -> Self {
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
        let message = format!("{} is no manifest that this version understands", path.display());
        Error::new(ErrorKind::Malformed, message).in_file(&path.display()).with_source(source)
    })
}

pub(crate) fn to_json(account: &impl Serialize) -> Vec<u8> {
    let mut json = serde_json::to_vec_pretty(account)
        .expect("strings, numbers and maps with words as keys always have a JSON form");
    json.push(b'\n');
    json
}

pub(crate) const MANIFEST_SUFFIX: &str = ".manifest.json";
