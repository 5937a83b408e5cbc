//! The units of a block as things that are moved: nothing of them is understood but where they end.
//!
//! What has no end, or says nothing, is set aside as in every other command.

use std::ops::Range;

use crate::format::{Format, RawUnit};
use crate::records::bad_record::BadPolicy;
use crate::records::filters::Condition;
use crate::records::processing::ProcessedBlock;
use crate::records::reading::RecordError;
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

/// Units to be written.
#[derive(Debug, Default)]
pub(super) struct EncodedUnits {
    /// Each unit as one record.
    units: EncodedRecords,
    /// Records of each unit; empty if every unit is one record.
    records: Vec<u64>,
}

impl EncodedUnits {
    #[inline]
    pub(super) fn push(&mut self, bytes: &[u8], records: u64) {
        if records != 1 && self.records.is_empty() {
            self.records.resize(self.units.len() as usize, 1);
        }
        self.units.push(bytes);
        if records != 1 || !self.records.is_empty() {
            self.records.push(records);
        }
    }

    pub(super) fn push_all(&mut self, units: &BlockUnits, range: Range<usize>) {
        match &units.bounds {
            UnitBounds::Row { len, .. } => {
                self.units.push_row(&units.bytes[range.start * len..range.end * len], *len);
            }
            UnitBounds::Each(_) => range.for_each(|unit| {
                let item = units.get(unit);
                self.push(item.bytes, item.records);
            }),
        }
    }

    /// Counts each unit as the number of records it holds.
    pub(super) fn into_records(self) -> EncodedRecords {
        if self.records.is_empty() {
            return self.units;
        }
        let mut encoded = EncodedRecords::default();
        for (unit, &records) in (0..).zip(&self.records) {
            encoded.open_record().extend_from_slice(self.units.bytes_of(unit, unit + 1));
            encoded.end_group(usize::try_from(records).unwrap_or(usize::MAX));
        }
        encoded
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
            let mut encoded = EncodedUnits::default();
            let mut from = 0;
            for &unit in omitted {
                encoded.push_all(&self, from..unit);
                from = unit + 1;
            }
            encoded.push_all(&self, from..self.len());
            return encoded.into_records();
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
    let mut processor = UnitProcessor {
        block,
        to: block.format,
        file,
        on_error,
        processed: ProcessedBlock::default(),
        written: Vec::new(),
    };
    let records = block.bytes().len() / len;
    let row = &block.bytes()[..records * len];
    processor.count(0..records as u64, None);
    if row.len() < block.bytes().len()
        && let Some((unit, numbers)) = units(block).nth(records)
    {
        processor.set_aside(&unit, numbers);
    }
    (processor.processed, row)
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
    let mut processor = UnitProcessor {
        block,
        to,
        file,
        on_error,
        processed: ProcessedBlock::default(),
        written: Vec::new(),
    };
    for (unit, records) in units(block) {
        processor.process(&unit, records, &mut each);
        if processor.processed.stopped_by.is_some() {
            break;
        }
    }
    processor.processed
}

/// Units with the numbers of their records over all inputs.
fn units(block: &Block) -> impl Iterator<Item = (RawUnit<'_>, Range<u64>)> {
    block.units().scan(block.first_number, move |next, unit| {
        let first = *next;
        *next += unit.count(block.format);
        Some((unit, first..*next))
    })
}

struct UnitProcessor<'a> {
    block: &'a Block,
    to: Format,
    file: &'a str,
    on_error: BadPolicy,
    processed: ProcessedBlock,
    /// Buffer for a unit that is not written as is.
    written: Vec<u8>,
}

impl UnitProcessor<'_> {
    #[inline]
    fn process(
        &mut self,
        unit: &RawUnit<'_>,
        records: Range<u64>,
        each: &mut impl FnMut(&WholeUnit<'_>),
    ) {
        let format = self.block.format;
        if !self.is_whole(unit) {
            return self.set_aside(unit, records);
        }
        let unit = &RawUnit { bytes: format.without_header(unit.bytes), ..*unit };
        if format.is_remark(unit.bytes) {
            return self.count(records, Some(Condition::Comment));
        }
        // Games and diagrams may lack a sign behind them or a head of their own, or be in another encoding.
        let is_plain_line = format.is_lines()
            && !format.holds_games()
            && unit.bytes.first().is_some_and(u8::is_ascii)
            && unit.bytes.ends_with(b"\n");
        let bytes = if format.record_len().is_some() || is_plain_line {
            unit.bytes
        } else {
            self.written.clear();
            if let Err(error) = self.to.write_unit(unit.bytes, &mut self.written) {
                return self.set_aside_for(&error.into(), unit, records);
            }
            &self.written
        };
        let number = records.start;
        each(&WholeUnit { bytes, number, records: records.end - number });
        self.count(records, None);
    }

    fn count(&mut self, records: Range<u64>, failed: Option<Condition>) {
        let (counts, records) = (&mut self.processed.counts, records.end - records.start);
        counts.input += records;
        match failed {
            None => counts.kept += records,
            Some(condition) => *counts.filtered.entry(condition).or_default() += records,
        }
    }

    /// False for a piece of a longer unit, a truncated record or an empty line.
    fn is_whole(&self, unit: &RawUnit<'_>) -> bool {
        let format = self.block.format;
        match format.record_len() {
            Some(len) => unit.bytes.len() == len,
            None if unit.is_piece => false,
            None if format.is_lines() => !unit.bytes.trim_ascii().is_empty(),
            None => !self.is_cut_off(unit),
        }
    }

    /// Whether a unit lacks its end, so that it would merge with the unit after it. Only the last unit of a file can.
    fn is_cut_off(&self, unit: &RawUnit<'_>) -> bool {
        self.block.behind(unit).is_empty()
            && matches!(self.block.records_in(unit).next(), Some(Err(_)))
            && !self.block.format.is_closed(unit.bytes)
    }

    fn set_aside(&mut self, unit: &RawUnit<'_>, records: Range<u64>) {
        let block = self.block;
        let Some(Err(error)) = block.records_in(unit).next() else {
            // An empty line, where nothing is an empty record.
            return self.count(records, Some(Condition::Comment));
        };
        self.set_aside_for(&error.into(), unit, records);
    }

    fn set_aside_for(&mut self, error: &RecordError, unit: &RawUnit<'_>, records: Range<u64>) {
        let block = self.block;
        let index = |number: u64| block.first_index + (number - block.first_number);
        let indices = index(records.start)..index(records.end);
        self.processed.set_aside(error, self.file, block, unit, indices, self.on_error);
    }
}
