//! Byte offsets of variable-length records. They are collected in one pass and saved in a file for the next shard.
//!
//! An offset table is used only while the size and the modification time of the input are unchanged.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::bytes::Bytes;
use super::cut::TakeLimit;
use super::{Input, SKIPPED_RECORDS};
use crate::error::Error;
use crate::records::sink::Partial;
use crate::records::source::{OFFSET_TABLE_SUFFIX, SeekPoint};
use crate::storage::checksum::Sha256Sum;
use crate::storage::files::{self, FileState};
use crate::storage::path_text::file_name_of;

/// Uncompressed bytes between two seek points.
const MARKED_BYTES: u64 = 1 << 22;

/// Content of the file of an offset table. The checksum detects a file that was edited or truncated.
#[derive(Serialize, Deserialize)]
struct OffsetTableFile {
    index: OffsetTable,
    /// Checksum of the JSON form of `index`.
    sha256: Sha256Sum,
}

/// The number of records of an input, and the offsets of some of them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OffsetTable {
    /// The name of the input as given.
    input: String,
    format: String,
    file_bytes: u64,
    modified_unix_ns: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    etag: Option<String>,
    /// Number of records.
    pub records: u64,
    /// Seek points in ascending order, without the first record.
    marks: Vec<SeekPoint>,
}

impl OffsetTable {
    /// Builds the table by reading an input to its end.
    ///
    /// # Errors
    /// [`Error`] if the input cannot be read or changes meanwhile.
    pub fn build(input: &Input) -> Result<Self, Error> {
        let mut bytes = Bytes::open(input)?;
        let (mut records, mut offset, mut mid_chunk) = (0, 0, false);
        let mut marks: Vec<SeekPoint> = Vec::new();
        while let Some(taken) = bytes.take(input, TakeLimit::at_least(SKIPPED_RECORDS))? {
            let next = marks.last().map_or(0, |mark| mark.offset) + MARKED_BYTES;
            if offset >= next && !mid_chunk {
                marks.push(SeekPoint { record: records, offset });
            }
            records += taken.records;
            offset += taken.bytes.len() as u64;
            mid_chunk = taken.ends_mid_chunk;
        }
        bytes.check_unchanged(input)?;
        // The state of the file that was read: by now, another file may have its name.
        let none = FileState { bytes: 0, modified_unix_ns: None, etag: None };
        let FileState { bytes: file_bytes, modified_unix_ns, etag } =
            bytes.opened().cloned().unwrap_or(none);
        let (format, input) = (input.format.to_string(), input.name.clone());
        Ok(Self { input, format, file_bytes, modified_unix_ns, etag, records, marks })
    }

    /// Loads a table from a file. `None` if there is none, it is damaged, or the input has changed since.
    pub fn load(path: &Path, input: &Input) -> Option<Self> {
        let OffsetTableFile { index: table, sha256 } =
            serde_json::from_slice(&files::read(path).ok()?).ok()?;
        if sha256 != table.sum().ok()? {
            tracing::warn!("{} is damaged or was edited; building it again", path.display());
            return None;
        }
        let FileState { bytes, modified_unix_ns, etag } = input.location.state()?;
        let is_same = file_name_of(&table.input) == file_name_of(&input.name)
            && table.format == input.format.name()
            && modified_unix_ns.is_some()
            && (table.file_bytes, table.modified_unix_ns) == (bytes, modified_unix_ns)
            && table.etag == etag;
        is_same.then_some(table)
    }

    /// Writes the table to a file, completely or not at all. The partial file of a killed process is overwritten.
    ///
    /// # Errors
    /// [`Error`] if the file cannot be written, or another process is writing it.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        let partial = Partial::create(path)?;
        let writing = |source| partial.error("write", source);
        let content = self.sum().map(|sha256| OffsetTableFile { index: self.clone(), sha256 });
        let bytes = content.and_then(|content| serde_json::to_vec(&content));
        let bytes = bytes.map_err(io::Error::from).map_err(writing)?;
        (&partial.file).write_all(&bytes).map_err(writing)?;
        partial.commit()
    }

    fn sum(&self) -> serde_json::Result<Sha256Sum> {
        serde_json::to_vec(self).map(|bytes| Sha256Sum::of(&bytes))
    }

    /// Path of the offset table of an input in a folder. `None` for standard input.
    pub fn path(folder: &Path, input: &Input) -> Option<PathBuf> {
        let mut name = input.location.file_name()?.to_owned();
        name.push(OFFSET_TABLE_SUFFIX);
        Some(folder.join(name))
    }

    /// The last seek point at or before a record.
    pub fn mark_before(&self, record: u64) -> SeekPoint {
        let end = self.marks.partition_point(|mark| mark.record <= record);
        self.marks[..end].last().copied().unwrap_or_default()
    }
}
