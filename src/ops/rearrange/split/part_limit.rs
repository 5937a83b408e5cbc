//! Parts that are filled one after another up to a limit.

use super::super::chunks::{BlockChunks, process_chunks};
use super::super::pass::{Checksums, RunControl, block_worker, read};
use super::super::plan::RearrangePlan;
use crate::error::Error;
use crate::records::bad_record::BadPolicy;
use crate::records::sink::Sinks;
use crate::records::source::{count_records, has_random_access};
use crate::storage::compression::Compression;
use crate::storage::memory::Memory;

/// Maximum size of a part. Chunks are not divided: records, or whole games in formats that hold games.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PartLimit {
    /// Maximum size in uncompressed bytes, including the file header.
    Bytes(u64),
    /// Maximum number of records.
    Records(u64),
}

impl PartLimit {
    /// Long name of the command-line option.
    pub(super) const fn option(self) -> &'static str {
        match self {
            Self::Bytes(_) => "size",
            Self::Records(_) => "records",
        }
    }

    /// Value of the command-line option.
    pub(super) fn value(self) -> String {
        match self {
            Self::Bytes(bytes) => Memory::of_bytes(bytes).to_string(),
            Self::Records(records) => records.to_string(),
        }
    }

    const fn allows(self, size: ChunkSize) -> bool {
        match self {
            Self::Bytes(most) => size.bytes <= most,
            Self::Records(most) => size.records <= most,
        }
    }
}

#[derive(Clone, Copy, Default, Debug)]
pub(super) struct ChunkSize {
    pub(super) bytes: u64,
    pub(super) records: u64,
}

impl ChunkSize {
    const fn and(self, other: Self) -> Self {
        Self { bytes: self.bytes + other.bytes, records: self.records + other.records }
    }

    fn of_chunks(chunks: &BlockChunks) -> Vec<Self> {
        let sizes = chunks.iter();
        sizes
            .map(|chunk| Self { bytes: chunk.bytes.len() as u64, records: chunk.records })
            .collect()
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct PartFill {
    limit: PartLimit,
    /// Size of the file header.
    header: ChunkSize,
    filled: ChunkSize,
    is_empty: bool,
}

impl PartFill {
    pub(super) fn new(plan: &RearrangePlan, limit: PartLimit) -> Self {
        let header = ChunkSize { bytes: plan.format().header().len() as u64, records: 0 };
        Self { limit, header, filled: header, is_empty: true }
    }

    /// Adds a chunk if the part is empty or the chunk fits. Otherwise starts the next part without the chunk and
    /// returns false.
    pub(super) fn add(&mut self, size: ChunkSize) -> bool {
        let filled = self.filled.and(size);
        let is_added = self.is_empty || self.limit.allows(filled);
        self.is_empty = !is_added;
        self.filled = if is_added { filled } else { self.header };
        is_added
    }
}

/// Computes the number of parts. Reads the inputs unless their sizes determine it.
pub(super) fn count_parts(
    plan: &RearrangePlan,
    limit: PartLimit,
    control: &mut RunControl<'_>,
) -> Result<u64, Error> {
    let mut fill = PartFill::new(plan, limit);
    if let Some((size, records)) = chunks_of_one_size(plan)? {
        check_fits(&fill, size, limit)?;
        let per_part = match limit {
            PartLimit::Bytes(most) => (most - fill.header.bytes) / size.bytes,
            PartLimit::Records(most) => most,
        };
        return Ok(records.div_ceil(per_part).max(1));
    }
    control.progress.begin("measuring", plan.records);
    let reading = plan.reading(BadPolicy::Skip);
    let worker = block_worker(plan, move |block, file, _| {
        let (processed, chunks) = process_chunks(block, file, &reading);
        Some((processed, ChunkSize::of_chunks(&chunks)))
    });
    let (mut parts, mut largest) = (1, ChunkSize::default());
    let add_sizes = |_: &mut _, sizes: Vec<ChunkSize>| {
        for size in sizes {
            largest.bytes = largest.bytes.max(size.bytes);
            largest.records = largest.records.max(size.records);
            if !fill.add(size) {
                parts += 1;
                fill.add(size);
            }
        }
        Ok(())
    };
    read(plan, &mut Sinks::create(&[])?, Checksums::Known, worker, add_sizes, control)?;
    check_fits(&fill, largest, limit)?;
    Ok(parts)
}

/// Size and number of the chunks. `None` unless all inputs are complete fixed-size records and all are written.
fn chunks_of_one_size(plan: &RearrangePlan) -> Result<Option<(ChunkSize, u64)>, Error> {
    let row_len = plan.reading(plan.on_error).row_len(plan.format());
    let Some(len) = row_len.map(|len| len as u64) else { return Ok(None) };
    let mut all = 0;
    for input in plan.ranges.iter().map(|range| &range.input) {
        let bytes = input.location.state().map(|state| state.bytes);
        let is_whole = bytes.is_some_and(|bytes| bytes.is_multiple_of(len));
        if !is_whole || input.compression != Compression::None || !has_random_access(input) {
            return Ok(None);
        }
        all += count_records(input)?;
    }
    Ok(Some((ChunkSize { bytes: len, records: 1 }, all)))
}

/// Checks that the largest chunk fits into an empty part.
fn check_fits(fill: &PartFill, largest: ChunkSize, limit: PartLimit) -> Result<(), Error> {
    let needed = fill.header.and(largest);
    if limit.allows(needed) {
        return Ok(());
    }
    let needs = match limit {
        PartLimit::Records(_) => format!("the largest game has {} records", needed.records),
        PartLimit::Bytes(_) if fill.header.bytes == 0 => {
            format!("the largest record or game needs {} bytes", needed.bytes)
        }
        PartLimit::Bytes(_) => {
            format!("the file header and the largest record or game need {} bytes", needed.bytes)
        }
    };
    Err(Error::usage(format!("--{} is too small: {needs}", limit.option())))
}
