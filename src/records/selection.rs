//! Which records of which input are read.

use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::records::shard::Shard;
use crate::records::source::{self, Input, InputRange, OffsetTable, RecordCount, SeekPoint};
use crate::storage::quantity::quantity;

pub(crate) struct Selection {
    pub(crate) ranges: Vec<InputRange>,
    /// `None` if no shard needs the number and counting is expensive.
    pub(crate) records: Option<u64>,
    /// Number of the first one over all inputs, from 0.
    pub(crate) first_number: u64,
    /// New offset_tables, with the paths for saving them.
    pub(crate) offset_tables: Vec<(PathBuf, OffsetTable)>,
}

/// Selects the records of a shard, or all records, up to `limit` over all inputs. `folder` holds the offset_tables built by
/// earlier runs.
pub(crate) fn select_records(
    inputs: Vec<Input>,
    shard: Option<Shard>,
    limit: Option<u64>,
    folder: Option<&Path>,
) -> Result<Selection, Error> {
    if shard.is_none() && !inputs.iter().all(source::is_cheap_to_count) {
        let ranges = inputs.into_iter().map(InputRange::whole).collect();
        return Ok(Selection { ranges, records: None, first_number: 0, offset_tables: Vec::new() });
    }
    let mut counted = Vec::new();
    let mut offset_tables = Vec::new();
    for input in &inputs {
        // Without a shard all is read from the start: the number of records is all that helps.
        if shard.is_none() || source::can_be_computed(input) {
            counted.push((source::count_records(input)?, None));
            continue;
        }
        let place = folder.and_then(|folder| OffsetTable::path(folder, input));
        let kept = place.as_ref().and_then(|path| OffsetTable::load(path, input));
        let index = if let Some(index) = kept {
            index
        } else {
            let index = OffsetTable::build(input)?;
            offset_tables.extend(place.map(|path| (path, index.clone())));
            index
        };
        counted.push((index.records, Some(index)));
    }
    let all: u64 = counted.iter().map(|(count, _)| count).sum();
    let total = limit.map_or(all, |limit| limit.min(all));
    let range = shard.map_or(0..total, |shard| shard.range(total));
    let mut first = 0;
    let mut ranges = Vec::new();
    for (input, (count, index)) in inputs.into_iter().zip(counted) {
        let within = |record: u64| record.saturating_sub(first).min(count);
        let (from, to) = (within(range.start), within(range.end));
        let mark = index.map_or(SeekPoint::default(), |index| index.mark_before(from));
        first += count;
        // What stands behind the last record and is none, a game without moves, goes with that record.
        let has_last = range.start < first && first <= range.end;
        let is_first = shard.is_none_or(|shard| shard.index() == 1);
        let reads_end =
            input.format.record_len().is_none() && (has_last || (first == 0 && is_first));
        let counted = Some(RecordCount { records: count, is_relied_on: shard.is_some() });
        let to = (shard.is_some() && !reads_end).then_some(to);
        ranges.push(InputRange { mark, counted, ..InputRange::range(input, from, to) });
    }
    for part in &ranges {
        let (name, from) = (&part.input.name, part.from);
        let to = part.to.or(part.counted.map(|counted| counted.records)).unwrap_or_default();
        tracing::info!("{name}: records from {from} to before {to}");
    }
    if let Some(shard) = shard {
        tracing::info!("shard {shard}: {} of {all}", quantity(range.end - range.start, "record"));
    }
    let records = Some(range.end - range.start);
    Ok(Selection { ranges, records, first_number: range.start, offset_tables })
}
