//! Bad records: records that cannot be used.

use std::io::Read;

use memchr::memchr_iter;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::format_name::FormatName;
use crate::format::{Fields, RecordPlace};
use crate::storage::compression::Compression;
use crate::storage::files;
use crate::storage::path_text::{input_name, path_of};

/// A bad record, or several records of a game that are bad together.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Error)]
#[error("{file}, {}: {reason}", RecordPlace { index: *.index, offset: *.offset })]
pub struct BadRecord {
    /// Name of the input as given.
    pub file: String,
    /// Number of the first record in the input, from 0.
    pub index: u64,
    /// Number of records.
    #[serde(skip_serializing_if = "is_one")]
    pub records: u64,
    /// Offset of the chunk that contains the records, uncompressed.
    pub offset: u64,
    /// Length of the chunk.
    pub bytes: usize,
    /// The error. Byte offsets in it count from the start of the record.
    pub reason: String,
    /// Fields that the output needs and the record lacks, if that is the only error.
    #[serde(skip)]
    pub missing: Fields,
    /// Offset of the fault from the start of the chunk, if it concerns one place.
    #[serde(skip)]
    pub byte: Option<usize>,
}

impl BadRecord {
    /// The error with its place, which includes the line number in a text file.
    pub(crate) fn described(&self) -> String {
        let Self { file, index, offset, byte, reason, .. } = self;
        let line = byte.and_then(|byte| line_at(file, offset + byte as u64));
        let place = RecordPlace { index: *index, offset: *offset };
        format!("{}, {}{place}: {reason}", input_name(file), line_prefix(line))
    }
}

/// Maximum number of bytes that are read again to count lines.
const MAX_COUNTED_BYTES: u64 = 64 << 20;

/// Number of the line with this byte, from 1. `None` unless the name is that of an uncompressed text file, or if the
/// byte is far from its start. Reads the file again, so this is only for messages.
pub(crate) fn line_at(file: &str, byte: u64) -> Option<u64> {
    let FormatName { format, compression } = FormatName::from_file_name(file)?;
    let path = path_of(file);
    let is_text_file = format.is_text() && compression == Compression::None && path.is_file();
    if !is_text_file || byte > MAX_COUNTED_BYTES {
        return None;
    }
    let mut before = Vec::new();
    files::open(&path).ok()?.take(byte).read_to_end(&mut before).ok()?;
    Some(line_of(&before))
}

/// The number of a line, to be shown before the place of a record.
pub(crate) fn line_prefix(line: Option<u64>) -> String {
    line.map_or_else(String::new, |line| format!("line {line}, "))
}

/// Number of the line that follows these bytes, from 1.
pub(crate) fn line_of(before: &[u8]) -> u64 {
    memchr_iter(b'\n', before).count() as u64 + 1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "required by serde")]
pub(crate) const fn is_one(number: &u64) -> bool {
    *number == 1
}

/// What to do with bad records.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum BadPolicy {
    /// Write their bytes to a quarantine file and the reasons to a second file.
    #[default]
    Quarantine,
    /// Count them and write nothing.
    Skip,
    /// End the run at the first one.
    Stop,
}
