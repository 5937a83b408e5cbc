//! The kinds of outputs of a run, and encoded records for one of them.
//!
//! The files are named `STEM.hcp`, `STEM.hcp.mated`, `STEM.mated.jsonl` and so on, as documented for the command line.
//! Only the name of the kept records ends with their format, so that a pattern like `out/*.hcp` does not match the
//! removed records.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The kind of an output.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OutputKind {
    /// Positions without a proven mate.
    Kept,
    /// Positions with a proven mate.
    Mated,
    /// Proofs of the mates, one JSON line each.
    MatedLines,
    /// Positions that the search could not decide.
    Unknown,
    /// List of the undecided records with their stop reasons, one JSON line each. They may be in any other output.
    UnknownLines,
    /// Solved positions, as rows of a table.
    Rows,
    /// Proofs of mates without the first and the last line of a proof file.
    Proofs,
    /// Bytes of the bad records.
    Quarantine,
    /// Location and error of each bad record, one JSON line each.
    QuarantineLines,
}

/// Last part of the names of files with bad records in their original format.
pub(crate) const BAD: &str = "bad";

impl OutputKind {
    /// All kinds.
    pub const ALL: [Self; 9] = [
        Self::Kept,
        Self::Mated,
        Self::MatedLines,
        Self::Unknown,
        Self::UnknownLines,
        Self::Rows,
        Self::Proofs,
        Self::Quarantine,
        Self::QuarantineLines,
    ];

    /// Suffix of the file name after the stem. `extension` is the extension of the records or rows.
    pub fn suffix(self, extension: &str) -> String {
        let is_json_lines = extension.split('.').next() == Some("jsonl");
        match self {
            Self::Kept | Self::Rows => format!(".{extension}"),
            Self::Mated | Self::Unknown => format!(".{extension}.{self}"),
            // Next to records in JSON lines, other JSON lines must not look like records.
            Self::MatedLines if is_json_lines => ".mated.proofs".to_owned(),
            Self::MatedLines => ".mated.jsonl".to_owned(),
            Self::UnknownLines if is_json_lines => ".unknown.stops".to_owned(),
            Self::UnknownLines => ".unknown.jsonl".to_owned(),
            Self::Proofs => ".proofs".to_owned(),
            Self::Quarantine => ".quarantine.bin".to_owned(),
            Self::QuarantineLines if is_json_lines => ".quarantine.reasons".to_owned(),
            Self::QuarantineLines => ".quarantine.jsonl".to_owned(),
        }
    }

    /// Splits `a.hcp.mated` into `a.hcp` and `mated`. `None` for other files.
    pub(crate) fn split_suffix(file_name: &str) -> Option<(&str, &'static str)> {
        ["mated", "unknown", BAD].into_iter().find_map(|suffix| {
            let name = file_name.strip_suffix(suffix)?.strip_suffix('.')?;
            Some((name, suffix))
        })
    }

    /// Whether it holds records of the output format, and may be compressed.
    pub const fn holds_records(self) -> bool {
        matches!(self, Self::Kept | Self::Mated | Self::Unknown)
    }
}

impl fmt::Display for OutputKind {
    /// The name in manifests.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// Encoded records of one block for one output.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct EncodedRecords {
    bytes: Vec<u8>,
    /// Length of each record, if all are equal and `ends` is empty.
    record_len: Option<usize>,
    /// End of each record in `bytes`, unless `record_len` is set.
    ends: Vec<usize>,
    /// Number of calls of [`Self::push_records`], unless changed by [`Self::into_one_group`].
    groups: u64,
}

impl EncodedRecords {
    pub(crate) const fn from_fixed(bytes: Vec<u8>, record_len: usize) -> Self {
        Self { bytes, record_len: Some(record_len), ends: Vec::new(), groups: 0 }
    }

    /// Replaces `record_len` by `ends`.
    #[inline]
    fn listed(&mut self) -> &mut Vec<usize> {
        if let Some(len) = self.record_len.take() {
            self.ends.extend((len..=self.bytes.len()).step_by(len));
        }
        &mut self.ends
    }

    /// Appends a record.
    #[inline]
    pub fn push(&mut self, record: &[u8]) {
        self.open_record().extend_from_slice(record);
        self.end_record();
    }

    /// Appends consecutive records of `record_len` bytes each.
    pub fn push_fixed(&mut self, bytes: &[u8], record_len: usize) {
        if self.is_empty() && self.bytes.is_empty() {
            self.record_len = Some(record_len);
        }
        if self.record_len == Some(record_len) {
            return self.bytes.extend_from_slice(bytes);
        }
        let start = self.bytes.len();
        let records = bytes.len() / record_len;
        self.listed().extend((1..=records).map(|record| start + record * record_len));
        self.bytes.extend_from_slice(bytes);
    }

    /// An encoder appends the next record here and then calls [`Self::end_record`].
    #[inline]
    pub(crate) fn open_record(&mut self) -> &mut Vec<u8> {
        self.listed();
        &mut self.bytes
    }

    #[inline]
    pub(crate) fn end_record(&mut self) {
        let end = self.bytes.len();
        self.listed().push(end);
    }

    /// Closes records that share the bytes appended last. The bytes are assigned to the last of these records.
    #[inline]
    pub(crate) fn end_records(&mut self, records: usize) {
        let ends = self.listed();
        let start = ends.last().copied().unwrap_or(0);
        ends.extend(std::iter::repeat_n(start, records.saturating_sub(1)));
        if records > 0 {
            self.end_record();
        }
    }

    /// Appends records that share these bytes.
    #[inline]
    pub(crate) fn push_records(&mut self, bytes: &[u8], records: u64) {
        self.open_record().extend_from_slice(bytes);
        self.groups += 1;
        if records == 1 {
            return self.end_record();
        }
        self.end_records(usize::try_from(records).unwrap_or(usize::MAX));
    }

    /// Counts all records as one group, if there are any.
    #[must_use]
    pub(crate) fn into_one_group(self) -> Self {
        Self { groups: u64::from(!self.is_empty()), ..self }
    }

    /// Appends other records.
    pub fn append(&mut self, mut others: Self) {
        if self.is_empty() && self.bytes.is_empty() {
            *self = others;
            return;
        }
        let start = self.bytes.len();
        others.listed();
        self.groups += others.groups;
        self.listed().extend(others.ends.iter().map(|end| start + end));
        self.bytes.extend_from_slice(&others.bytes);
    }

    /// Keeps only the records whose number, from 0, satisfies `is_kept`. Groups are not supported.
    pub fn retain(&mut self, mut is_kept: impl FnMut(usize) -> bool) {
        self.listed();
        let Self { bytes, ends, .. } = self;
        let (mut start, mut len, mut records) = (0, 0, 0);
        for record in 0..ends.len() {
            let end = ends[record];
            if is_kept(record) {
                bytes.copy_within(start..end, len);
                len += end - start;
                ends[records] = len;
                records += 1;
            }
            start = end;
        }
        bytes.truncate(len);
        ends.truncate(records);
    }

    /// Number of records.
    pub fn len(&self) -> u64 {
        self.record_len.map_or(self.ends.len(), |len| self.bytes.len() / len) as u64
    }

    /// Number of groups that were appended whole, such as games.
    pub(crate) const fn groups(&self) -> u64 {
        self.groups
    }

    /// Whether it has no records.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Memory use in bytes.
    pub fn size(&self) -> usize {
        self.bytes.len() + size_of_val(&*self.ends)
    }

    /// The bytes of all records.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Bytes of the records from number `from` to before number `to`. Bytes that several records share belong to the
    /// last of these records.
    pub fn bytes_of(&self, from: u64, to: u64) -> &[u8] {
        &self.bytes[self.end_of(from)..self.end_of(to)]
    }

    /// The bytes after the last record: chunks without records.
    pub(crate) fn bytes_after_records(&self) -> &[u8] {
        &self.bytes[self.end_of(self.len())..]
    }

    /// Where the first `records` records end.
    fn end_of(&self, records: u64) -> usize {
        let records = usize::try_from(records.min(self.len())).unwrap_or(usize::MAX);
        match (records, self.record_len) {
            (0, _) => 0,
            (_, Some(len)) => records * len,
            (_, None) => self.ends[records - 1],
        }
    }

    /// Where a frame that begins with record `from` ends: after `records` records, or after the record that brings it
    /// to `bytes` bytes, whichever comes first. Returns the index of the next record.
    pub(crate) fn end_of_frame(&self, from: u64, records: u64, bytes: usize) -> u64 {
        let last = self.len().min(from.saturating_add(records));
        let full = self.end_of(from).saturating_add(bytes);
        let is_full = |to: u64| self.end_of(to) >= full;
        let (mut low, mut high) = (from + 1, last.max(from + 1));
        while low < high {
            let middle = low.midpoint(high);
            if is_full(middle) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::format::Format;

    #[test]
    fn outputs_have_different_names_and_only_kept_ones_end_with_the_format() {
        let names = Format::ALL.map(Format::name).into_iter();
        for extension in names.flat_map(|name| [name.to_owned(), format!("{name}.zst")]) {
            // Rows have the name of the kept records.
            let kinds = OutputKind::ALL.into_iter().filter(|&kind| kind != OutputKind::Rows);
            let names: Vec<_> = kinds.map(|kind| kind.suffix(&extension)).collect();
            assert_eq!(BTreeSet::from_iter(&names).len(), names.len(), "{extension}");
            let kept = format!(".{extension}");
            let matching: Vec<_> = names.iter().filter(|name| name.ends_with(&kept)).collect();
            assert_eq!(matching, [&kept]);
        }
    }

    #[test]
    fn retain_removes_all_other_records() {
        let mut encoded = EncodedRecords::default();
        for record in ["one", "", "three", "four"] {
            encoded.push(record.as_bytes());
        }
        encoded.retain(|record| record != 0 && record != 2);
        let mut expected = EncodedRecords::default();
        expected.push(b"");
        expected.push(b"four");
        assert_eq!(encoded, expected);
    }

    #[test]
    fn append_joins_fixed_size_records_and_groups() {
        let row = EncodedRecords::from_fixed(b"onetwo".to_vec(), 3);
        let mut listed = EncodedRecords::default();
        listed.open_record().extend_from_slice(b"game");
        listed.end_records(2);
        for (first, second, bytes) in [(&row, &listed, "onetwogame"), (&listed, &row, "gameonetwo")]
        {
            let mut all = EncodedRecords::default();
            all.append(first.clone());
            assert_eq!(&all, first);
            all.append(second.clone());
            assert_eq!((all.len(), all.bytes()), (4, bytes.as_bytes()));
            let ends = [first.len(), all.len()];
            assert_eq!(all.bytes_of(0, ends[0]), first.bytes());
            assert_eq!(all.bytes_of(ends[0], ends[1]), second.bytes());
        }
    }

    #[test]
    fn appending_records_together_equals_appending_each() {
        let mut one_by_one = EncodedRecords::default();
        for record in [b"one", b"two", b"six", b"ten"] {
            one_by_one.push(record);
        }
        let mut row = EncodedRecords::from_fixed(b"onetwo".to_vec(), 3);
        row.push_fixed(b"sixten", 3);
        let bytes_of = |encoded: &EncodedRecords| {
            (0..=4).map(|to| encoded.bytes_of(to / 2, to).to_vec()).collect::<Vec<_>>()
        };
        assert_eq!((row.len(), bytes_of(&row)), (4, bytes_of(&one_by_one)));
        for encoded in [&mut one_by_one, &mut row] {
            encoded.push(b"eleven");
            encoded.push_fixed(b"1234", 2);
            encoded.retain(|record| record != 1);
        }
        assert_eq!(row, one_by_one);
        assert_eq!((row.len(), row.bytes()), (6, &b"onesixteneleven1234"[..]));
    }
}
