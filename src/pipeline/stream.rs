//! The streams that leave the pipeline, and records on their way into one.
//!
//! Names of the files as the command line documents them: `STEM.hcp`, `STEM.mated.hcp`, `STEM.mated.jsonl`, ….

use serde::{Deserialize, Serialize};

/// One of the outputs of a run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    /// Positions without a proven mate.
    Kept,
    /// Positions with one.
    Mated,
    /// The proofs, one JSON line each.
    MatedLines,
    /// Positions on which the search stopped before it knew.
    Unknown,
    /// Which records those are, wherever they are written, one JSON line each.
    UnknownLines,
    /// Solved positions, as rows of a table.
    Rows,
    /// Bytes of the records that could not be used.
    Quarantine,
    /// Where they stood and what was wrong, one JSON line each.
    QuarantineLines,
}

impl Stream {
    /// Every stream.
    pub const ALL: [Self; 8] = [
        Self::Kept,
        Self::Mated,
        Self::MatedLines,
        Self::Unknown,
        Self::UnknownLines,
        Self::Rows,
        Self::Quarantine,
        Self::QuarantineLines,
    ];

    /// What follows the stem in the name of its file; `extension` is that of the format of records or rows.
    pub fn suffix(self, extension: &str) -> String {
        match self {
            Self::Kept | Self::Rows => format!(".{extension}"),
            Self::Mated => format!(".mated.{extension}"),
            // The mated records have that name already.
            Self::MatedLines if extension == "jsonl" => ".mated.proofs.jsonl".to_owned(),
            Self::MatedLines => ".mated.jsonl".to_owned(),
            Self::Unknown => format!(".unknown.{extension}"),
            Self::UnknownLines if extension == "jsonl" => ".unknown.stops.jsonl".to_owned(),
            Self::UnknownLines => ".unknown.jsonl".to_owned(),
            Self::Quarantine => ".quarantine.bin".to_owned(),
            Self::QuarantineLines => ".quarantine.jsonl".to_owned(),
        }
    }

    /// Whether it holds records of the output format, and may be compressed.
    pub const fn holds_records(self) -> bool {
        matches!(self, Self::Kept | Self::Mated | Self::Unknown)
    }
}

/// Records for one stream, from one block.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Batch {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Batch {
    /// Records of one size that stand in a row.
    pub fn of_row(bytes: Vec<u8>, record_len: usize) -> Self {
        let ends = (record_len..=bytes.len()).step_by(record_len).collect();
        Self { bytes, ends }
    }

    /// Appends a record.
    #[inline]
    pub fn push(&mut self, record: &[u8]) {
        self.bytes.extend_from_slice(record);
        self.end_record();
    }

    /// Appends records of one size that stand in a row.
    pub fn push_row(&mut self, bytes: &[u8], record_len: usize) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        let records = bytes.len() / record_len;
        self.ends.extend((1..=records).map(|record| start + record * record_len));
    }

    /// Where an encoder appends the bytes of the next record; [`Self::end_record`] closes it.
    pub fn open_record(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Closes the record whose bytes were appended last.
    pub fn end_record(&mut self) {
        self.ends.push(self.bytes.len());
    }

    /// Closes a group of records whose bytes were appended last. Nothing is written between them: they
    /// count as records of the group's last byte.
    pub fn end_group(&mut self, records: usize) {
        let start = self.ends.last().copied().unwrap_or(0);
        self.ends.extend(std::iter::repeat_n(start, records.saturating_sub(1)));
        if records > 0 {
            self.end_record();
        }
    }

    /// Takes out the records, by their number from 0, that are not to be kept. Not for groups.
    pub fn retain(&mut self, mut is_kept: impl FnMut(usize) -> bool) {
        let (mut start, mut len, mut records) = (0, 0, 0);
        for record in 0..self.ends.len() {
            let end = self.ends[record];
            if is_kept(record) {
                self.bytes.copy_within(start..end, len);
                len += end - start;
                self.ends[records] = len;
                records += 1;
            }
            start = end;
        }
        self.bytes.truncate(len);
        self.ends.truncate(records);
    }

    /// Number of records.
    pub fn len(&self) -> u64 {
        self.ends.len() as u64
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Memory that it takes, in bytes.
    pub fn size(&self) -> usize {
        self.bytes.len() + self.ends.len() * size_of::<usize>()
    }

    /// All its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Bytes of the records from number `from` up to, but not including, number `to`; those of a group
    /// belong to its last record. What follows the last record, a group of none, comes with it.
    pub fn bytes_of(&self, from: u64, to: u64) -> &[u8] {
        let end = |records: u64| match usize::try_from(records) {
            Ok(0) => 0,
            Ok(records) if records < self.ends.len() => self.ends[records - 1],
            _ => self.bytes.len(),
        };
        &self.bytes[end(from)..end(to)]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::format::Format;

    #[test]
    fn no_two_streams_of_a_run_have_one_name() {
        for format in Format::ALL {
            // Rows stand where the kept records would.
            let streams = Stream::ALL.into_iter().filter(|&stream| stream != Stream::Rows);
            let names: Vec<_> = streams.map(|stream| stream.suffix(format.name())).collect();
            assert_eq!(BTreeSet::from_iter(&names).len(), names.len(), "{format}");
        }
    }

    #[test]
    fn what_is_not_retained_leaves_no_trace() {
        let mut batch = Batch::default();
        for record in ["one", "", "three", "four"] {
            batch.push(record.as_bytes());
        }
        batch.retain(|record| record != 0 && record != 2);
        let mut expected = Batch::default();
        expected.push(b"");
        expected.push(b"four");
        assert_eq!(batch, expected);
    }
}
