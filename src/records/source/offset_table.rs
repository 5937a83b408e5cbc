//! Where records begin that are not all of one size: found in one pass, kept in a file for the next shard.
//!
//! What an index says of a file is trusted only while size and time of modification are the same.

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

/// Uncompressed bytes between two marks.
const MARKED_BYTES: u64 = 1 << 22;

/// Content of an index file: one that was edited or truncated is rejected by its checksum.
#[derive(Serialize, Deserialize)]
struct OffsetTableFile {
    index: OffsetTable,
    /// Checksum of the JSON form of `index`.
    sha256: Sha256Sum,
}

/// How many records an input has, and where some of them begin.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OffsetTable {
    /// The name of the input as given.
    input: String,
    format: String,
    file_bytes: u64,
    modified_unix_ns: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    etag: Option<String>,
    /// All its records.
    pub records: u64,
    /// In ascending order, without the first record.
    marks: Vec<SeekPoint>,
}

impl OffsetTable {
    /// Reads an input to its end.
    ///
    /// # Errors
    /// [`Error`] if that fails.
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
        bytes.still_as_opened(input)?;
        // Of the file that was read, whatever has its name by now.
        let none = FileState { bytes: 0, modified_unix_ns: None, etag: None };
        let FileState { bytes: file_bytes, modified_unix_ns, etag } =
            bytes.opened().cloned().unwrap_or(none);
        let (format, input) = (input.format.to_string(), input.name.clone());
        Ok(Self { input, format, file_bytes, modified_unix_ns, etag, records, marks })
    }

    /// The index in a file, if it is one and speaks of this input as it is now.
    pub fn load(path: &Path, input: &Input) -> Option<Self> {
        let OffsetTableFile { index, sha256 } =
            serde_json::from_slice(&files::read(path).ok()?).ok()?;
        if sha256 != index.sum().ok()? {
            tracing::warn!("{} is not as it was written, and is made anew", path.display());
            return None;
        }
        let FileState { bytes, modified_unix_ns, etag } = input.location.state()?;
        let is_same = index.input == input.name
            && index.format == input.format.name()
            && modified_unix_ns.is_some()
            && (index.file_bytes, index.modified_unix_ns) == (bytes, modified_unix_ns)
            && index.etag == etag;
        is_same.then_some(index)
    }

    /// Writes the index to a file, whole or not at all. Of several processes one does so, and what a process
    /// left that was killed meanwhile the next one takes over.
    ///
    /// # Errors
    /// [`Error`]; that another process is writing it, too.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        let partial = Partial::create(path)?;
        let writing = |source| partial.error("write", source);
        let kept = self.sum().map(|sha256| OffsetTableFile { index: self.clone(), sha256 });
        let bytes = kept.and_then(|kept| serde_json::to_vec(&kept));
        let bytes = bytes.map_err(io::Error::from).map_err(writing)?;
        (&partial.file).write_all(&bytes).map_err(writing)?;
        partial.commit()
    }

    fn sum(&self) -> serde_json::Result<Sha256Sum> {
        serde_json::to_vec(self).map(|bytes| Sha256Sum::of(&bytes))
    }

    /// Where the index of an input is kept in a folder.
    pub fn path(folder: &Path, input: &Input) -> Option<PathBuf> {
        let mut name = input.location.file_name()?.to_owned();
        name.push(OFFSET_TABLE_SUFFIX);
        Some(folder.join(name))
    }

    /// The last mark that is not behind a record.
    pub fn mark_before(&self, record: u64) -> SeekPoint {
        let behind = self.marks.partition_point(|mark| mark.record <= record);
        self.marks[..behind].last().copied().unwrap_or_default()
    }
}
