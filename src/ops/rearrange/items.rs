//! The units of a block as things that are moved: nothing of them is understood but where they end.
//!
//! What has no end, or says nothing, is set aside as in every other command.

use std::ops::Range;

use crate::format::{EncodeError, Format, RawUnit};
use crate::records::bad_record::BadPolicy;
use crate::records::filters::Condition;
use crate::records::processing::{ProcessedBlock, Processing};
use crate::records::source::Block;
use crate::records::stream::EncodedRecords;

/// A unit that is moved in one piece.
pub(super) struct WholeUnit<'a> {
    /// In the encoding of the output.
    pub(super) bytes: &'a [u8],
    /// Number of its first record over all inputs, from 0.
    pub(super) number: u64,
    pub(super) records: u64,
}

impl WholeUnit<'_> {
    /// Appends the unit to those that are written.
    #[inline]
    pub(super) fn append_to(&self, encoded: &mut EncodedRecords) {
        encoded.push_group(self.bytes, self.records);
    }
}

#[derive(Debug, Default)]
pub(super) struct BlockUnits {
    bytes: Vec<u8>,
    bounds: UnitBounds,
}

#[derive(Debug)]
enum UnitBounds {
    /// Fixed-size records.
    Row { len: usize, first_number: u64 },
    /// End of the bytes, number of the first record, and number of records of each unit.
    Each(Vec<(usize, u64, u64)>),
}

impl Default for UnitBounds {
    fn default() -> Self {
        Self::Each(Vec::new())
    }
}

impl BlockUnits {
    /// Fixed-size records with consecutive numbers.
    pub(super) fn row(bytes: &[u8], len: usize, first_number: u64) -> Self {
        Self { bytes: bytes.into(), bounds: UnitBounds::Row { len, first_number } }
    }

    pub(super) fn push(&mut self, item: &WholeUnit<'_>) {
        self.bytes.extend_from_slice(item.bytes);
        if let UnitBounds::Each(units) = &mut self.bounds {
            units.push((self.bytes.len(), item.number, item.records));
        }
    }

    /// Appends some units to those that are written.
    pub(super) fn append_to(&self, encoded: &mut EncodedRecords, units: Range<usize>) {
        match &self.bounds {
            UnitBounds::Row { len, .. } => {
                encoded.push_row(&self.bytes[units.start * len..units.end * len], *len);
            }
            UnitBounds::Each(_) => units.for_each(|unit| self.get(unit).append_to(encoded)),
        }
    }

    pub(super) const fn len(&self) -> usize {
        match &self.bounds {
            UnitBounds::Row { len, .. } => self.bytes.len() / *len,
            UnitBounds::Each(units) => units.len(),
        }
    }

    #[inline]
    pub(super) fn get(&self, unit: usize) -> WholeUnit<'_> {
        match &self.bounds {
            UnitBounds::Row { len, first_number } => {
                let bytes = &self.bytes[unit * len..(unit + 1) * len];
                WholeUnit { bytes, number: first_number + unit as u64, records: 1 }
            }
            UnitBounds::Each(units) => {
                let (end, number, records) = units[unit];
                let start = if unit == 0 { 0 } else { units[unit - 1].0 };
                WholeUnit { bytes: &self.bytes[start..end], number, records }
            }
        }
    }

    /// Index of the first unit at or after `from` whose first record has this number or a higher one.
    pub(super) fn position(&self, from: usize, number: u64) -> usize {
        match &self.bounds {
            UnitBounds::Row { first_number, .. } => {
                let unit = usize::try_from(number.saturating_sub(*first_number));
                unit.unwrap_or(usize::MAX).clamp(from, self.len())
            }
            UnitBounds::Each(units) => {
                let begins =
                    |&(_, first, records): &(usize, u64, u64)| first >= number && records > 0;
                units[from..].iter().position(begins).map_or(units.len(), |at| from + at)
            }
        }
    }

    /// Replaces the bytes of some units, in ascending order. Fixed-size records must keep their size.
    pub(super) fn replace(&mut self, replaced: &[(usize, Vec<u8>)]) {
        match &mut self.bounds {
            _ if replaced.is_empty() => {}
            UnitBounds::Row { len, .. } => {
                for (unit, bytes) in replaced {
                    self.bytes[unit * *len..(unit + 1) * *len].copy_from_slice(bytes);
                }
            }
            UnitBounds::Each(units) => {
                let (mut bytes, mut from) = (Vec::with_capacity(self.bytes.len()), 0);
                let mut next = replaced.iter().peekable();
                for (number, (end, ..)) in units.iter_mut().enumerate() {
                    match next.next_if(|(unit, _)| *unit == number) {
                        Some((_, other)) => bytes.extend_from_slice(other),
                        None => bytes.extend_from_slice(&self.bytes[from..*end]),
                    }
                    from = std::mem::replace(end, bytes.len());
                }
                self.bytes = bytes;
            }
        }
    }

    /// All units except `omitted`, which must be ascending.
    pub(super) fn without(mut self, omitted: &[usize]) -> EncodedRecords {
        let UnitBounds::Row { len, .. } = self.bounds else {
            let mut encoded = EncodedRecords::default();
            let mut from = 0;
            for &unit in omitted {
                self.append_to(&mut encoded, from..unit);
                from = unit + 1;
            }
            self.append_to(&mut encoded, from..self.len());
            return encoded;
        };
        let ends = omitted.iter().skip(1).copied().chain([self.len()]);
        let mut kept = omitted.first().map_or(self.bytes.len(), |unit| unit * len);
        for (&unit, end) in omitted.iter().zip(ends) {
            let run = (unit + 1) * len..end * len;
            let run_len = run.len();
            self.bytes.copy_within(run, kept);
            kept += run_len;
        }
        self.bytes.truncate(kept);
        EncodedRecords::of_row(self.bytes, len)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = WholeUnit<'_>> {
        (0..self.len()).map(|unit| self.get(unit))
    }
}

/// Returns the complete records of a block of fixed-size records, and sets aside a truncated last one.
pub(super) fn process_row<'a>(
    block: &'a Block,
    len: usize,
    file: &str,
    on_error: BadPolicy,
) -> (ProcessedBlock, &'a [u8]) {
    let mut processing = Processing::new(block, file, on_error);
    let (row, rest) = block.bytes().split_at(block.bytes().len() / len * len);
    let records = (row.len() / len) as u64;
    processing.processed.counts.input += records;
    processing.processed.counts.kept += records;
    if !rest.is_empty() {
        let unit = RawUnit { bytes: rest, offset: row.len() as u64, is_piece: false };
        let index = block.first_index + records;
        set_aside(&mut processing, &unit, index..index + 1);
    }
    (processing.processed, row)
}

/// The complete units of a block, all counted as kept.
pub(super) fn process_units(
    block: &Block,
    to: Format,
    file: &str,
    on_error: BadPolicy,
) -> (ProcessedBlock, BlockUnits) {
    if let Some(len) = block.format.record_len() {
        let (processed, row) = process_row(block, len, file, on_error);
        return (processed, BlockUnits::row(row, len, block.first_number));
    }
    let mut units = BlockUnits::default();
    let processed = process_items(block, to, file, on_error, |item| units.push(item));
    (processed, units)
}

/// Calls `each` with the complete units of a block, in order and in the output's format, and counts them as kept.
pub(super) fn process_items(
    block: &Block,
    to: Format,
    file: &str,
    on_error: BadPolicy,
    mut each: impl FnMut(&WholeUnit<'_>),
) -> ProcessedBlock {
    let mut processing = Processing::new(block, file, on_error);
    // Buffer for a unit that is not written as is.
    let mut written = Vec::new();
    let mut index = block.first_index;
    for unit in block.units() {
        let records = index..index + unit.count(block.format);
        index = records.end;
        match content(block, &unit, to, &mut written) {
            Ok(Some(bytes)) => {
                let (number, records) =
                    (block.number_of(records.start), records.end - records.start);
                each(&WholeUnit { bytes, number, records });
                processing.processed.counts.input += records;
                processing.processed.counts.kept += records;
            }
            Ok(None) => count_comment(&mut processing, records),
            Err(None) => set_aside(&mut processing, &unit, records),
            Err(Some(error)) => processing.set_aside(&error.into(), &unit, records),
        }
        if processing.is_stopped() {
            break;
        }
    }
    processing.processed
}

/// The bytes of a unit in the output's format, which may stand in `written`; none for a remark. Without an error if the
/// unit is not whole.
#[inline]
fn content<'a>(
    block: &Block,
    unit: &RawUnit<'a>,
    to: Format,
    written: &'a mut Vec<u8>,
) -> Result<Option<&'a [u8]>, Option<EncodeError>> {
    let format = block.format;
    if !is_whole(block, unit) {
        return Err(None);
    }
    let bytes = format.without_header(unit.bytes);
    if format.is_remark(bytes) {
        return Ok(None);
    }
    // Games and diagrams may lack an end mark or a header, or have another encoding.
    let is_plain_line = format.is_lines()
        && !format.holds_games()
        && bytes.first().is_some_and(u8::is_ascii)
        && bytes.ends_with(b"\n");
    if format.record_len().is_some() || is_plain_line {
        return Ok(Some(bytes));
    }
    written.clear();
    to.write_unit(bytes, written).map_err(Some)?;
    Ok(Some(written))
}

fn count_comment(processing: &mut Processing<'_>, records: Range<u64>) {
    let (counts, records) = (&mut processing.processed.counts, records.end - records.start);
    counts.input += records;
    *counts.filtered.entry(Condition::Comment).or_default() += records;
}

/// Sets aside a unit that is not whole.
fn set_aside(processing: &mut Processing<'_>, unit: &RawUnit<'_>, records: Range<u64>) {
    match processing.block.records_in(unit).next() {
        Some(Err(error)) => processing.set_aside(&error.into(), unit, records),
        // An empty line, where nothing is an empty record.
        _ => count_comment(processing, records),
    }
}

/// False for a piece of a longer unit, a truncated record or an empty line.
fn is_whole(block: &Block, unit: &RawUnit<'_>) -> bool {
    let format = block.format;
    match format.record_len() {
        Some(len) => unit.bytes.len() == len,
        None if unit.is_piece => false,
        None if format.is_lines() => !unit.bytes.trim_ascii().is_empty(),
        // Readers would join a damaged last unit without an end with the unit after it, and a damaged first unit
        // without a beginning with the unit before it. Other units of a file have both.
        None => {
            let (is_first, is_last) =
                (block.offset + unit.offset == 0, block.behind(unit).is_empty());
            !(is_first || is_last)
                || !matches!(block.records_in(unit).next(), Some(Err(_)))
                || (!is_last || format.is_closed(unit.bytes))
                    && (!is_first || format.is_opened(unit.bytes))
        }
    }
}
