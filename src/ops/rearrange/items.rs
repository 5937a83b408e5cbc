//! The units of a block as things that are moved: nothing of them is understood but where they end.
//!
//! What has no end, or says nothing, is set aside as in every other command.

use std::ops::Range;

use crate::format::count;
use crate::records::bad_record::BadPolicy;
use crate::records::counts::Condition;
use crate::records::reading::in_unit;
use crate::records::sorting::Sorted;
use crate::records::source::{Block, RawUnit};
use crate::records::stream::Batch;

/// A unit that is moved as a whole.
pub(super) struct Item<'a> {
    /// Its bytes, closed if the end of a file has left it open.
    pub(super) bytes: &'a [u8],
    /// Number over all inputs, from 0, of the first record in it.
    pub(super) number: u64,
    /// Records in it.
    pub(super) records: u64,
}

/// Units on their way into an output.
#[derive(Debug, Default)]
pub(super) struct ItemBatch {
    /// Each unit as if it were one record.
    units: Batch,
    /// Records of each unit, unless each is one.
    records: Vec<u64>,
}

impl ItemBatch {
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

    /// Units that stand in a row.
    pub(super) fn push_all(&mut self, units: &Units, range: Range<usize>) {
        match &units.places {
            Places::Row { len, .. } => {
                self.units.push_row(&units.bytes[range.start * len..range.end * len], *len);
            }
            Places::Each(_) => range.for_each(|unit| {
                let item = units.get(unit);
                self.push(item.bytes, item.records);
            }),
        }
    }

    /// The units as the records that they hold.
    pub(super) fn into_batch(self) -> Batch {
        if self.records.is_empty() {
            return self.units;
        }
        let mut batch = Batch::default();
        for (unit, &records) in (0..).zip(&self.records) {
            batch.open_record().extend_from_slice(self.units.bytes_of(unit, unit + 1));
            batch.end_group(usize::try_from(records).unwrap_or(usize::MAX));
        }
        batch
    }
}

/// The units of a block, until it is decided where each of them goes.
#[derive(Debug, Default)]
pub(super) struct Units {
    bytes: Vec<u8>,
    places: Places,
}

#[derive(Debug)]
enum Places {
    /// Records of one size in a row.
    Row { len: usize, first_number: u64 },
    /// Of each unit the end of its bytes, the number of its first record, and how many it has.
    Each(Vec<(usize, u64, u64)>),
}

impl Default for Places {
    fn default() -> Self {
        Self::Each(Vec::new())
    }
}

impl Units {
    /// Records of one size, the first of which has this number.
    pub(super) fn row(bytes: &[u8], len: usize, first_number: u64) -> Self {
        Self { bytes: bytes.into(), places: Places::Row { len, first_number } }
    }

    pub(super) fn push(&mut self, item: &Item<'_>) {
        self.bytes.extend_from_slice(item.bytes);
        if let Places::Each(units) = &mut self.places {
            units.push((self.bytes.len(), item.number, item.records));
        }
    }

    pub(super) const fn len(&self) -> usize {
        match &self.places {
            Places::Row { len, .. } => self.bytes.len() / *len,
            Places::Each(units) => units.len(),
        }
    }

    #[inline]
    pub(super) fn get(&self, unit: usize) -> Item<'_> {
        match &self.places {
            Places::Row { len, first_number } => {
                let bytes = &self.bytes[unit * len..(unit + 1) * len];
                Item { bytes, number: first_number + unit as u64, records: 1 }
            }
            Places::Each(units) => {
                let (end, number, records) = units[unit];
                let start = if unit == 0 { 0 } else { units[unit - 1].0 };
                Item { bytes: &self.bytes[start..end], number, records }
            }
        }
    }

    /// Where the first unit from `from` on stands whose records begin at this number or behind it.
    pub(super) fn position(&self, from: usize, number: u64) -> usize {
        match &self.places {
            Places::Row { first_number, .. } => {
                let unit = usize::try_from(number.saturating_sub(*first_number));
                unit.unwrap_or(usize::MAX).clamp(from, self.len())
            }
            Places::Each(units) => {
                let begins =
                    |&(_, first, records): &(usize, u64, u64)| first >= number && records > 0;
                units[from..].iter().position(begins).map_or(units.len(), |at| from + at)
            }
        }
    }

    /// All but these, which ascend.
    pub(super) fn without(mut self, left_out: &[usize]) -> Batch {
        let Places::Row { len, .. } = self.places else {
            let mut batch = ItemBatch::default();
            let mut from = 0;
            for &unit in left_out {
                batch.push_all(&self, from..unit);
                from = unit + 1;
            }
            batch.push_all(&self, from..self.len());
            return batch.into_batch();
        };
        let ends = left_out.iter().skip(1).copied().chain([self.len()]);
        let mut kept = left_out.first().map_or(self.bytes.len(), |unit| unit * len);
        for (&unit, end) in left_out.iter().zip(ends) {
            let run = (unit + 1) * len..end * len;
            let run_len = run.len();
            self.bytes.copy_within(run, kept);
            kept += run_len;
        }
        self.bytes.truncate(kept);
        Batch::of_row(self.bytes, len)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Item<'_>> {
        (0..self.len()).map(|unit| self.get(unit))
    }
}

/// The records of a block of records of one size, and what becomes of one that is cut off.
pub(super) fn sort_row<'a>(
    block: &'a Block,
    len: usize,
    file: &str,
    on_error: BadPolicy,
) -> (Sorted, &'a [u8]) {
    let mut sorter =
        Sorter { block, file, on_error, sorted: Sorted::default(), closed: Vec::new() };
    let records = block.bytes().len() / len;
    let row = &block.bytes()[..records * len];
    sorter.count(0..records as u64, None);
    if let Some((unit, numbers)) = units(block).nth(records) {
        sorter.set_aside(&unit, numbers);
    }
    (sorter.sorted, row)
}

/// The units of a block of `file` that are whole, all of them counted as written.
pub(super) fn sort_units(block: &Block, file: &str, on_error: BadPolicy) -> (Sorted, Units) {
    if let Some(len) = block.format.record_len() {
        let (sorted, row) = sort_row(block, len, file, on_error);
        return (sorted, Units::row(row, len, block.first_number));
    }
    let mut units = Units::default();
    let sorted = sort_items(block, file, on_error, |item| units.push(item));
    (sorted, units)
}

/// Shows `each` the units of a block of `file` that are whole, in order, and counts them as written.
pub(super) fn sort_items(
    block: &Block,
    file: &str,
    on_error: BadPolicy,
    mut each: impl FnMut(&Item<'_>),
) -> Sorted {
    let mut sorter =
        Sorter { block, file, on_error, sorted: Sorted::default(), closed: Vec::new() };
    for (unit, records) in units(block) {
        sorter.sort(&unit, records, &mut each);
        if sorter.sorted.stopped_by.is_some() {
            break;
        }
    }
    sorter.sorted
}

/// The units of a block with the numbers, over all inputs, of their records.
fn units(block: &Block) -> impl Iterator<Item = (RawUnit<'_>, Range<u64>)> {
    let fixed = block.format.record_len().is_some();
    block.units().scan(block.first_number, move |next, unit| {
        let is_one = fixed || unit.is_cut;
        let bytes = unit.without_line_end(block.format);
        let records = if is_one { 1 } else { count(block.format, bytes) };
        let first = *next;
        *next += records;
        Some((unit, first..*next))
    })
}

struct Sorter<'a> {
    block: &'a Block,
    file: &'a str,
    on_error: BadPolicy,
    sorted: Sorted,
    /// A unit that had to be closed.
    closed: Vec<u8>,
}

impl Sorter<'_> {
    #[inline]
    fn sort(&mut self, unit: &RawUnit<'_>, records: Range<u64>, each: &mut impl FnMut(&Item<'_>)) {
        let format = self.block.format;
        if !self.is_whole(unit) {
            return self.set_aside(unit, records);
        }
        let unit = &RawUnit { bytes: format.without_header(unit.bytes), ..*unit };
        if format.is_remark(unit.bytes) {
            return self.count(records, Some(Condition::Comment));
        }
        // A game that ends with a line may lack the sign behind it, or a head of its own.
        let is_game = format.holds_games() && !format.is_lines();
        let bytes = if format.record_len().is_some() || (unit.bytes.ends_with(b"\n") && !is_game) {
            unit.bytes
        } else {
            self.closed.clear();
            unit.copy(format, &mut self.closed);
            &self.closed
        };
        let number = records.start;
        each(&Item { bytes, number, records: records.end - number });
        self.count(records, None);
    }

    fn count(&mut self, records: Range<u64>, failed: Option<Condition>) {
        let (counts, records) = (&mut self.sorted.counts, records.end - records.start);
        counts.input += records;
        match failed {
            None => counts.kept += records,
            Some(condition) => *counts.filtered.entry(condition).or_default() += records,
        }
    }

    /// Whether it is no piece of a longer unit, no record that is cut off, and no empty line.
    fn is_whole(&self, unit: &RawUnit<'_>) -> bool {
        let format = self.block.format;
        match format.record_len() {
            Some(len) => unit.bytes.len() == len,
            None if unit.is_cut => false,
            None if format.is_lines() => !unit.bytes.trim_ascii().is_empty(),
            None => !self.is_cut_off(unit),
        }
    }

    /// Whether a unit lacks its end, so that it would take in what it is put before. Only the last one of a
    /// file can.
    fn is_cut_off(&self, unit: &RawUnit<'_>) -> bool {
        self.block.behind(unit).is_empty()
            && matches!(in_unit(self.block, unit).next(), Some(Err(_)))
            && !self.block.format.is_closed(unit.bytes)
    }

    fn set_aside(&mut self, unit: &RawUnit<'_>, records: Range<u64>) {
        let block = self.block;
        let Some(Err(fault)) = in_unit(block, unit).next() else {
            // An empty line, where nothing is an empty record.
            return self.count(records, Some(Condition::Comment));
        };
        let index = |number: u64| block.first_index + (number - block.first_number);
        let indices = index(records.start)..index(records.end);
        self.sorted.set_aside(&fault, self.file, block, unit, indices, self.on_error);
    }
}
