//! The chunks of a block. Only their boundaries are parsed, not their content.
//!
//! Truncated chunks are bad records, and comments and empty lines are filtered, as in every other command.

use std::convert::Infallible;
use std::ops::Range;

use crate::format::{DecodeError, EncodeError, Format, Game, RawChunk, read_games, write_game};
use crate::records::bad_record::BadPolicy;
use crate::records::filters::{Condition, RecordFilters};
use crate::records::output_kind::EncodedRecords;
use crate::records::processing::{BlockState, ProcessedBlock};
use crate::records::reading::RecordError;
use crate::records::source::Block;

/// How the chunks of a block are read.
#[derive(Clone, Copy)]
pub(super) struct ChunkReading {
    /// Format of the output.
    pub(super) to: Format,
    /// Records that fail a filter are counted and left out.
    pub(super) filters: RecordFilters,
    pub(super) on_error: BadPolicy,
}

impl ChunkReading {
    /// Length of the records if all records of a block are taken without looking into them.
    pub(super) fn row_len(&self, format: Format) -> Option<usize> {
        format.record_len().filter(|_| !self.filters.drops_any())
    }
}

/// A complete chunk.
pub(super) struct WholeChunk<'a> {
    /// In the text encoding of the output.
    pub(super) bytes: &'a [u8],
    /// Number of its first record, counted over all inputs from 0.
    pub(super) number: u64,
    pub(super) records: u64,
}

impl WholeChunk<'_> {
    /// Appends the chunk to the output.
    #[inline]
    pub(super) fn append_to(&self, encoded: &mut EncodedRecords) {
        encoded.push_records(self.bytes, self.records);
    }
}

#[derive(Debug, Default)]
pub(super) struct BlockChunks {
    bytes: Vec<u8>,
    bounds: ChunkBounds,
}

#[derive(Debug)]
enum ChunkBounds {
    /// Fixed-size records.
    FixedSize { len: usize, first_number: u64 },
    /// For each chunk: end of its bytes, number of its first record (as in [`WholeChunk`]), count of its records.
    Listed(Vec<(usize, u64, u64)>),
}

impl Default for ChunkBounds {
    fn default() -> Self {
        Self::Listed(Vec::new())
    }
}

impl BlockChunks {
    /// Fixed-size records with consecutive numbers.
    pub(super) fn fixed_size(bytes: &[u8], len: usize, first_number: u64) -> Self {
        Self { bytes: bytes.into(), bounds: ChunkBounds::FixedSize { len, first_number } }
    }

    pub(super) fn push(&mut self, chunk: &WholeChunk<'_>) {
        self.bytes.extend_from_slice(chunk.bytes);
        if let ChunkBounds::Listed(chunks) = &mut self.bounds {
            chunks.push((self.bytes.len(), chunk.number, chunk.records));
        }
    }

    /// Appends some chunks to the output.
    pub(super) fn append_to(&self, encoded: &mut EncodedRecords, chunks: Range<usize>) {
        match &self.bounds {
            ChunkBounds::FixedSize { len, .. } => {
                encoded.push_fixed(&self.bytes[chunks.start * len..chunks.end * len], *len);
            }
            ChunkBounds::Listed(_) => chunks.for_each(|chunk| self.get(chunk).append_to(encoded)),
        }
    }

    pub(super) const fn len(&self) -> usize {
        match &self.bounds {
            ChunkBounds::FixedSize { len, .. } => self.bytes.len() / *len,
            ChunkBounds::Listed(chunks) => chunks.len(),
        }
    }

    #[inline]
    pub(super) fn get(&self, chunk: usize) -> WholeChunk<'_> {
        match &self.bounds {
            ChunkBounds::FixedSize { len, first_number } => {
                let bytes = &self.bytes[chunk * len..(chunk + 1) * len];
                WholeChunk { bytes, number: first_number + chunk as u64, records: 1 }
            }
            ChunkBounds::Listed(chunks) => {
                let (end, number, records) = chunks[chunk];
                let start = if chunk == 0 { 0 } else { chunks[chunk - 1].0 };
                WholeChunk { bytes: &self.bytes[start..end], number, records }
            }
        }
    }

    /// Index of the first chunk at or after `from` whose first record has this number or a higher one.
    pub(super) fn position(&self, from: usize, number: u64) -> usize {
        match &self.bounds {
            ChunkBounds::FixedSize { first_number, .. } => {
                let chunk = usize::try_from(number.saturating_sub(*first_number));
                chunk.unwrap_or(usize::MAX).clamp(from, self.len())
            }
            ChunkBounds::Listed(chunks) => {
                let is_at_or_after =
                    |&(_, first, records): &(usize, u64, u64)| first >= number && records > 0;
                chunks[from..].iter().position(is_at_or_after).map_or(chunks.len(), |at| from + at)
            }
        }
    }

    /// Replaces the bytes of some chunks, given in ascending order. Fixed-size records must keep their size.
    pub(super) fn replace(&mut self, replaced: &[(usize, Vec<u8>)]) {
        match &mut self.bounds {
            _ if replaced.is_empty() => {}
            ChunkBounds::FixedSize { len, .. } => {
                for (chunk, bytes) in replaced {
                    self.bytes[chunk * *len..(chunk + 1) * *len].copy_from_slice(bytes);
                }
            }
            ChunkBounds::Listed(chunks) => {
                let (mut bytes, mut from) = (Vec::with_capacity(self.bytes.len()), 0);
                let mut next = replaced.iter().peekable();
                for (number, (end, ..)) in chunks.iter_mut().enumerate() {
                    match next.next_if(|(chunk, _)| *chunk == number) {
                        Some((_, other)) => bytes.extend_from_slice(other),
                        None => bytes.extend_from_slice(&self.bytes[from..*end]),
                    }
                    from = std::mem::replace(end, bytes.len());
                }
                self.bytes = bytes;
            }
        }
    }

    /// Returns all chunks except `omitted`, which must be in ascending order.
    pub(super) fn without(mut self, omitted: &[usize]) -> EncodedRecords {
        let ChunkBounds::FixedSize { len, .. } = self.bounds else {
            let mut encoded = EncodedRecords::default();
            let mut from = 0;
            for &chunk in omitted {
                self.append_to(&mut encoded, from..chunk);
                from = chunk + 1;
            }
            self.append_to(&mut encoded, from..self.len());
            return encoded;
        };
        let ends = omitted.iter().skip(1).copied().chain([self.len()]);
        let mut kept = omitted.first().map_or(self.bytes.len(), |chunk| chunk * len);
        for (&chunk, end) in omitted.iter().zip(ends) {
            let run = (chunk + 1) * len..end * len;
            let run_len = run.len();
            self.bytes.copy_within(run, kept);
            kept += run_len;
        }
        self.bytes.truncate(kept);
        EncodedRecords::from_fixed(self.bytes, len)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = WholeChunk<'_>> {
        (0..self.len()).map(|chunk| self.get(chunk))
    }
}

/// Returns the complete records of a block of fixed-size records. A truncated last record is a bad record.
pub(super) fn process_fixed_size<'a>(
    block: &'a Block,
    len: usize,
    file: &str,
    on_error: BadPolicy,
) -> (ProcessedBlock, &'a [u8]) {
    let mut processing = BlockState::new(block, file, on_error);
    let (whole, rest) = block.bytes().split_at(block.bytes().len() / len * len);
    let records = (whole.len() / len) as u64;
    processing.processed.counts.input += records;
    processing.processed.counts.kept += records;
    if !rest.is_empty() {
        let chunk = RawChunk { bytes: rest, offset: whole.len() as u64, is_piece: false };
        let index = block.first_index + records;
        reject_or_count(&mut processing, &chunk, index..index + 1);
    }
    (processing.processed, whole)
}

/// Returns the complete chunks of a block that pass the filters, and counts them as kept.
pub(super) fn process_chunks(
    block: &Block,
    file: &str,
    reading: &ChunkReading,
) -> (ProcessedBlock, BlockChunks) {
    if let Some(len) = reading.row_len(block.format) {
        let (processed, bytes) = process_fixed_size(block, len, file, reading.on_error);
        return (processed, BlockChunks::fixed_size(bytes, len, block.first_number));
    }
    let mut chunks = BlockChunks::default();
    let processed = for_each_chunk(block, file, reading, |chunk| chunks.push(chunk));
    (processed, chunks)
}

/// Calls `each` with the complete chunks of a block that pass the filters, in order and in the output format. Counts
/// their records as kept.
pub(super) fn for_each_chunk(
    block: &Block,
    file: &str,
    reading: &ChunkReading,
    mut each: impl FnMut(&WholeChunk<'_>),
) -> ProcessedBlock {
    let mut processing = BlockState::new(block, file, reading.on_error);
    // Buffer for chunks that are changed.
    let mut written = Vec::new();
    let mut index = block.first_index;
    for chunk in block.chunks() {
        let records = index..index + chunk.count(block.format);
        index = records.end;
        match content(block, &chunk, reading.to, &mut written) {
            Ok(Some(bytes)) => {
                let number = block.number_of(records.start);
                let whole = WholeChunk { bytes, number, records: records.end - records.start };
                let counts = &mut processing.processed;
                let filtered = reading.filter(block, (&chunk, &whole), counts, &mut each);
                if let Err(error) = filtered {
                    processing.reject(&error, &chunk, records);
                }
            }
            Ok(None) => count_comment(&mut processing, records),
            Err(None) => reject_or_count(&mut processing, &chunk, records),
            Err(Some(error)) => processing.reject(&error.into(), &chunk, records),
        }
        if processing.is_stopped() {
            break;
        }
    }
    processing.processed
}

impl ChunkReading {
    /// Calls `each` with a chunk if it passes the filters, and counts its records as kept or filtered. If only some
    /// games of a chunk pass, each of them becomes a chunk.
    fn filter(
        &self,
        block: &Block,
        (chunk, whole): (&RawChunk<'_>, &WholeChunk<'_>),
        processed: &mut ProcessedBlock,
        each: &mut impl FnMut(&WholeChunk<'_>),
    ) -> Result<(), RecordError> {
        let mut keep = |processed: &mut ProcessedBlock, kept: &WholeChunk<'_>| {
            each(kept);
            processed.counts.input += kept.records;
            processed.counts.kept += kept.records;
        };
        if !self.filters.drops_any() {
            keep(processed, whole);
        } else if block.format.holds_games() {
            let games = read_games(block.format, chunk.without_line_end(block.format));
            let games: Vec<Game> = games.collect::<Result<_, DecodeError>>()?;
            let failed: Vec<_> = games.iter().map(|game| self.failed_game(game)).collect();
            if failed.iter().all(Option::is_none) {
                keep(processed, whole);
                return Ok(());
            }
            let written = games.iter().map(|game| {
                let mut bytes = Vec::new();
                let written =
                    self.to.append_chunk(&mut bytes, |out| write_game(self.to, game, out));
                written.map(|()| bytes)
            });
            let written = written.collect::<Result<Vec<_>, _>>()?;
            let mut number = whole.number;
            for ((game, failed), bytes) in games.iter().zip(failed).zip(&written) {
                let records = game.records().len() as u64;
                match failed {
                    Some(condition) => processed.filter_out(condition, records),
                    None => keep(processed, &WholeChunk { bytes, number, records }),
                }
                number += records;
            }
        } else if let Some(record) = block.records_in(chunk).next() {
            match self.filters.failed_condition(whole.number, &record?)? {
                Some(condition) => processed.filter_out(condition, whole.records),
                None => keep(processed, whole),
            }
        }
        Ok(())
    }

    fn failed_game(&self, game: &Game) -> Option<Condition> {
        let plies = || Ok::<_, Infallible>(game.end_ply());
        let Ok(failed) = self.filters.failed_game_condition((game.result, game.ending), plies);
        failed
    }
}

/// Returns the bytes of a chunk in the output format. `written` is a buffer for changed chunks. Returns `None` for a
/// comment and `Err(None)` for a truncated chunk.
#[inline]
fn content<'a>(
    block: &Block,
    chunk: &RawChunk<'a>,
    to: Format,
    written: &'a mut Vec<u8>,
) -> Result<Option<&'a [u8]>, Option<EncodeError>> {
    let format = block.format;
    if !is_whole(block, chunk) {
        return Err(None);
    }
    let bytes = format.without_header(chunk.bytes);
    if format.is_comment(bytes) {
        return Ok(None);
    }
    // Games and diagrams may lack an end mark or a header, or have another text encoding.
    let is_plain_line = format.is_lines()
        && !format.holds_games()
        && bytes.first().is_some_and(u8::is_ascii)
        && bytes.ends_with(b"\n");
    if format.record_len().is_some() || is_plain_line {
        return Ok(Some(bytes));
    }
    written.clear();
    to.write_chunk(bytes, written).map_err(Some)?;
    Ok(Some(written))
}

fn count_comment(processing: &mut BlockState<'_>, records: Range<u64>) {
    let (counts, records) = (&mut processing.processed.counts, records.end - records.start);
    counts.input += records;
    *counts.filtered.entry(Condition::Comment).or_default() += records;
}

/// Handles a chunk that is not whole: rejects a truncated chunk as bad, or counts an empty line as a comment.
fn reject_or_count(processing: &mut BlockState<'_>, chunk: &RawChunk<'_>, records: Range<u64>) {
    match processing.block.records_in(chunk).next() {
        Some(Err(error)) => processing.reject(&error.into(), chunk, records),
        // An empty line.
        _ => count_comment(processing, records),
    }
}

/// Returns false for a piece of a longer chunk, a truncated record or an empty line.
fn is_whole(block: &Block, chunk: &RawChunk<'_>) -> bool {
    let format = block.format;
    match format.record_len() {
        Some(len) => chunk.bytes.len() == len,
        None if chunk.is_piece => false,
        None if format.is_lines() => !chunk.bytes.trim_ascii().is_empty(),
        None if format == Format::Plain && is_cut_off(chunk.bytes) => false,
        // In the output a chunk of another file may follow or precede. Readers would join it with a damaged last chunk
        // that lacks an end mark, or with a damaged first chunk that lacks a beginning. The other chunks of a file have
        // both.
        None => {
            let (is_first, is_last) =
                (block.offset + chunk.offset == 0, block.bytes_after(chunk).is_empty());
            !(is_first || is_last)
                || !matches!(block.records_in(chunk).next(), Some(Err(_)))
                || (!is_last || format.is_closed(chunk.bytes))
                    && (!is_first || format.is_opened(chunk.bytes))
        }
    }
}

/// Whether a chunk of `plain` lacks its last line, `e`. Readers would join it with a following chunk that lacks its
/// first line.
fn is_cut_off(chunk: &[u8]) -> bool {
    let chunk = chunk.trim_ascii_end();
    let last = chunk.rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
    !chunk.is_empty() && last.trim_ascii() != b"e"
}
