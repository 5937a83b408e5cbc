//! Selects the records to read from each input.

use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::records::shard::Shard;
use crate::records::source::{self, Input, InputRange, OffsetTable, RecordCount, SeekPoint};
use crate::storage::quantity::quantity;

pub(crate) struct Selection {
    pub(crate) ranges: Vec<InputRange>,
    /// Number of selected records. `None` if there is no shard and counting is expensive.
    pub(crate) records: Option<u64>,
    /// Number of the first selected record over all inputs, from 0.
    pub(crate) first_number: u64,
    /// New offset tables, with the paths where they will be saved.
    pub(crate) offset_tables: Vec<(PathBuf, OffsetTable)>,
}

/// Selects the records of a shard, or all records, up to `limit` over all inputs. `folder` holds the offset tables of
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
        // Without a shard everything is read from the start, so only the number of records is needed.
        if shard.is_none() || source::has_random_access(input) {
            counted.push((source::count_records(input)?, None));
            continue;
        }
        let path = folder.and_then(|folder| OffsetTable::path(folder, input));
        let saved = path.as_ref().and_then(|path| OffsetTable::load(path, input));
        let table = if let Some(table) = saved {
            table
        } else {
            let table = OffsetTable::build(input)?;
            offset_tables.extend(path.map(|path| (path, table.clone())));
            table
        };
        counted.push((table.records, Some(table)));
    }
    let all: u64 = counted.iter().map(|(count, _)| count).sum();
    if shard.is_some() && all == 0 {
        // A shard may be empty, so only this shows that all of the data is missing.
        return Err(Error::invalid("the inputs have no records, so they have no shards"));
    }
    let total = limit.map_or(all, |limit| limit.min(all));
    let range = shard.map_or(0..total, |shard| shard.range(total));
    // Number of the first record of the input.
    let mut start = 0;
    let mut ranges = Vec::new();
    for (input, (count, table)) in inputs.into_iter().zip(counted) {
        let within = |record: u64| record.saturating_sub(start).min(count);
        let (from, to) = (within(range.start), within(range.end));
        let mark = table.map_or(SeekPoint::default(), |table| table.mark_before(from));
        let end = start + count;
        start = end;
        // Chunks without records after the last record, such as games without moves, are read with that record.
        let has_last = range.start < end && end <= range.end;
        let is_first = shard.is_none_or(|shard| shard.index() == 1);
        let reads_end = input.format.record_len().is_none() && (has_last || (end == 0 && is_first));
        let counted = Some(RecordCount { records: count, is_relied_on: shard.is_some() });
        let to = (shard.is_some() && !reads_end).then_some(to);
        ranges.push(InputRange { mark, counted, ..InputRange::range(input, from, to) });
    }
    for range in &ranges {
        let (name, from) = (&range.input.name, range.from);
        let to = range.end().unwrap_or_default();
        tracing::info!("{name}: records from {from} to before {to}");
    }
    if let Some(shard) = shard {
        tracing::info!("shard {shard}: {} of {all}", quantity(range.end - range.start, "record"));
    }
    let records = Some(range.end - range.start);
    Ok(Selection { ranges, records, first_number: range.start, offset_tables })
}
