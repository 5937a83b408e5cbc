//! Processes the records of one block: each is decoded, then written to an output, filtered out or rejected as bad.
//!
//! The definition of a bad record is the same for every command. The user chooses how bad records are handled.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

use super::counts::{Counts, add_tally};
use super::filters::Condition;
use super::output_kind::{EncodedRecords, OutputKind};
use super::reading::RecordError;
use super::source::Block;
use crate::format::{
    DecodeError, Decoded, EncodeError, FieldChanges, Fields, Format, Game, InfoCounts, RawChunk,
    RecordRef, Warning, Warnings, WriteOptions, write_game_with,
};
use crate::records::bad_record::{BadPolicy, BadRecord};

#[derive(Debug, Default)]
pub(crate) struct ProcessedBlock {
    encoded: [EncodedRecords; OutputKind::ALL.len()],
    pub(crate) counts: Counts,
    tallies: Tallies,
    /// The bad record that ends the run.
    pub(crate) stopped_by: Option<BadRecord>,
}

/// Counters indexed by enum value. Names are looked up once per block. For fields, each distinct set of fields has a
/// counter, because the records of a file have few different sets.
#[derive(Debug)]
struct Tallies {
    warnings: [u64; Warning::ALL.len()],
    lost: [u64; Fields::COUNT],
    filled_in: [u64; Fields::COUNT],
    missing: [u64; Fields::COUNT],
}

impl Default for Tallies {
    fn default() -> Self {
        Self {
            warnings: [0; Warning::ALL.len()],
            lost: [0; Fields::COUNT],
            filled_in: [0; Fields::COUNT],
            missing: [0; Fields::COUNT],
        }
    }
}

impl ProcessedBlock {
    #[inline]
    pub(crate) fn encoded(&self, kind: OutputKind) -> &EncodedRecords {
        &self.encoded[kind as usize]
    }

    #[inline]
    pub(crate) fn encoded_mut(&mut self, kind: OutputKind) -> &mut EncodedRecords {
        &mut self.encoded[kind as usize]
    }

    /// Size of all outputs in bytes.
    pub(crate) fn size(&self) -> usize {
        self.encoded.iter().map(EncodedRecords::size).sum()
    }

    #[inline]
    pub(crate) fn count_warnings(&mut self, warnings: Warnings) {
        if warnings.is_empty() {
            return;
        }
        for warning in warnings.iter() {
            self.tallies.warnings[warning as usize] += 1;
        }
    }

    /// Counts a record that is written without a best move because the move of the evaluator is illegal.
    pub(crate) fn count_illegal_best_move(&mut self) {
        *self.counts.warnings.entry("illegal_best_move".to_owned()).or_default() += 1;
    }

    pub(crate) fn count_fields(&mut self, written: FieldChanges) {
        self.tallies.lost[written.lost.index()] += 1;
        self.tallies.filled_in[written.filled_in.index()] += 1;
    }

    /// Counts the fields that are empty in a written record.
    pub(crate) fn count_missing(&mut self, missing: Fields) {
        self.tallies.missing[missing.index()] += 1;
    }

    /// Moves the tallies into `counts`.
    pub(crate) fn with_tallies(mut self) -> Self {
        let Tallies { warnings, lost, filled_in, missing } = std::mem::take(&mut self.tallies);
        let names = Warning::ALL.map(Warning::name);
        add_tally(&mut self.counts.warnings, names.into_iter().zip(warnings));
        add_tally(&mut self.counts.lost, by_field(&lost));
        add_tally(&mut self.counts.filled_in, by_field(&filled_in));
        add_tally(&mut self.counts.missing, by_field(&missing));
        self
    }

    pub(crate) fn count_filtered(&mut self, condition: Condition) {
        *self.counts.filtered.entry(condition).or_default() += 1;
    }

    /// Inserts the kept records of `before` in front of the kept records of this block, and adds its counts.
    pub(crate) fn prepend(&mut self, before: Self) {
        let mut before = before.with_tallies();
        self.counts.add(&before.counts);
        let mut kept = std::mem::take(before.encoded_mut(OutputKind::Kept));
        kept.append(std::mem::take(self.encoded_mut(OutputKind::Kept)));
        *self.encoded_mut(OutputKind::Kept) = kept;
    }

    /// Counts records as read and filtered out.
    pub(crate) fn filter_out(&mut self, condition: Condition, records: u64) {
        self.counts.input += records;
        if records > 0 {
            *self.counts.filtered.entry(condition).or_default() += records;
        }
    }

    /// Appends a game with `records` records to the kept ones.
    pub(crate) fn write_game(
        &mut self,
        (to, options): (Format, WriteOptions),
        (game, lost): (&Game, InfoCounts),
        records: usize,
    ) -> Result<(), EncodeError> {
        let encoded = self.encoded_mut(OutputKind::Kept);
        to.append_chunk(encoded.open_record(), |out| write_game_with(to, game, options, out))?;
        encoded.end_records(records);
        self.counts.count_game(game, lost);
        Ok(())
    }
}

/// A block being processed, with the results of its records.
pub(crate) struct BlockState<'a> {
    pub(crate) block: &'a Block,
    /// Name of its input.
    pub(crate) file: &'a str,
    pub(crate) on_error: BadPolicy,
    pub(crate) processed: ProcessedBlock,
    /// The chunk that was quarantined last, as its offset within the block. Its bytes are written once, even if several
    /// of its records are bad.
    quarantined_chunk: Option<u64>,
}

impl<'a> BlockState<'a> {
    pub(crate) fn new(block: &'a Block, file: &'a str, on_error: BadPolicy) -> Self {
        let processed = ProcessedBlock::default();
        Self { block, file, on_error, processed, quarantined_chunk: None }
    }

    /// Whether a bad record has ended the run.
    pub(crate) const fn is_stopped(&self) -> bool {
        self.processed.stopped_by.is_some()
    }

    /// Quarantines or skips bad records in the wanted range, or stops the run. Comments of a text are only counted.
    ///
    /// Records that fail together get one line, and the bytes of a chunk are quarantined once. The shard that contains
    /// the first of these records writes both.
    pub(crate) fn reject(
        &mut self,
        error: &RecordError,
        chunk: &RawChunk<'_>,
        records: Range<u64>,
    ) {
        let (processed, Range { start, end }) = (&mut self.processed, self.block.wanted.clone());
        let number = records.end.min(end).saturating_sub(records.start.max(start));
        if error.is_comment() {
            return processed.filter_out(Condition::Comment, number);
        }
        processed.counts.input += number;
        let is_in_earlier_shard = records.start < start;
        let place = (self.block.offset + chunk.offset, chunk.bytes.len());
        let bad = error.bad_record(self.file, records, place);
        match self.on_error {
            _ if number == 0 => {}
            _ if error.ends_run() => processed.stopped_by = Some(bad),
            BadPolicy::Stop => processed.stopped_by = Some(bad),
            BadPolicy::Skip => processed.counts.bad.skipped += number,
            BadPolicy::Quarantine => {
                processed.counts.bad.quarantined += number;
                let is_new = !is_in_earlier_shard && self.quarantined_chunk != Some(chunk.offset);
                let bytes = processed.encoded_mut(OutputKind::Quarantine);
                bytes.open_record().extend_from_slice(if is_new { chunk.bytes } else { &[] });
                bytes.end_records(number as usize);
                let lines = processed.encoded_mut(OutputKind::QuarantineLines);
                if !is_in_earlier_shard {
                    append_json_line(lines.open_record(), &bad);
                }
                lines.end_records(number as usize);
            }
        }
        self.quarantined_chunk = Some(chunk.offset);
    }
}

/// Converts counts of sets to counts of single fields.
fn by_field(sets: &[u64; Fields::COUNT]) -> impl Iterator<Item = (&'static str, u64)> {
    let counted = sets.iter().enumerate().filter(|&(_, &count)| count > 0);
    counted.flat_map(|(index, &count)| {
        let fields = Fields::from_index(index).unwrap_or(Fields::NONE);
        fields.iter().map(move |field| (field.name(), count))
    })
}

pub(crate) struct NumberedRecord<'a> {
    /// Number within the input, from 0.
    pub(crate) index: u64,
    /// Number over all inputs, from 0.
    pub(crate) number: u64,
    pub(crate) chunk: RawChunk<'a>,
    pub(crate) record: RecordRef<'a>,
}

pub(crate) enum AfterRecord {
    Continue,
    Filtered(Condition),
    Cancelled,
}

/// Calls `process_record` for each wanted record of a block of `file`. `None` if `cancel` was set meanwhile.
pub(crate) fn process_block(
    block: &Block,
    file: &str,
    on_error: BadPolicy,
    cancel: &AtomicBool,
    process_record: impl FnMut(
        &NumberedRecord<'_>,
        &mut ProcessedBlock,
    ) -> Result<AfterRecord, RecordError>,
) -> Option<ProcessedBlock> {
    let processing = BlockState::new(block, file, on_error);
    let mut processor = BlockProcessor { processing, cancel, process_record };
    let is_single = block.format.record_len().is_some();
    let result =
        if is_single { processor.process_fixed_size_records() } else { processor.process_chunks() };
    match result {
        Err(StopReason::Cancelled) => None,
        Ok(()) | Err(StopReason::Stopped) => Some(processor.processing.processed),
    }
}

struct BlockProcessor<'a, F> {
    processing: BlockState<'a>,
    cancel: &'a AtomicBool,
    process_record: F,
}

enum StopReason {
    Cancelled,
    /// A bad record ends the run.
    Stopped,
}

impl<F: FnMut(&NumberedRecord<'_>, &mut ProcessedBlock) -> Result<AfterRecord, RecordError>>
    BlockProcessor<'_, F>
{
    /// Fast path for fixed-size records, where each chunk is a record.
    fn process_fixed_size_records(&mut self) -> Result<(), StopReason> {
        let block = self.processing.block;
        let Block { format, dialect, first_index, .. } = *block;
        for (chunk, index) in block.chunks().zip(first_index..) {
            if !block.wanted.contains(&index) {
                continue;
            }
            let processed = match RecordRef::with_dialect(format, dialect, chunk.bytes) {
                Ok(record) => self.process(index, chunk, record)?,
                Err(error) => Err(error.into()),
            };
            if let Err(error) = processed {
                self.reject(&error, &chunk, index..index + 1)?;
            }
        }
        Ok(())
    }

    fn process_chunks(&mut self) -> Result<(), StopReason> {
        let block = self.processing.block;
        let Range { start, end: wanted_end } = block.wanted;
        let mut reads = block.records().peekable();
        // Offset of the chunk, and index of its first record.
        let mut current = (0, block.first_index);
        while let Some(Decoded { index, chunk, record }) =
            reads.next_if(|read| read.index < wanted_end)
        {
            if chunk.offset != current.0 {
                current = (chunk.offset, index);
            }
            let processed = match record {
                Ok(_) if index < start => Ok(()),
                Ok(record) => self.process(index, chunk, record)?,
                Err(error) => Err(error.into()),
            };
            if let Err(error) = processed {
                let mut end = index + 1;
                // After an error the rest of a game cannot be decoded. These records fail together.
                while reads.next_if(|next| fails_with(next, &chunk, &error)).is_some() {
                    end += 1;
                }
                if current.1 < start && start <= index {
                    self.find_earlier_quarantine(&chunk, current.1)?;
                }
                self.reject(&error, &chunk, index..end)?;
            }
        }
        Ok(())
    }

    /// Finds out whether an earlier shard quarantines the bytes of a chunk that begins before the wanted records.
    /// Records that cannot be decoded were already passed to [`BlockState::reject`]. So only the earlier records that
    /// can be decoded are tried again.
    fn find_earlier_quarantine(
        &mut self,
        chunk: &RawChunk<'_>,
        first_index: u64,
    ) -> Result<(), StopReason> {
        let BlockState { block, on_error, quarantined_chunk, .. } = &mut self.processing;
        if *quarantined_chunk == Some(chunk.offset) || *on_error != BadPolicy::Quarantine {
            return Ok(());
        }
        for (index, record) in (first_index..block.wanted.start).zip(block.records_in(chunk)) {
            let Ok(record) = record else { continue };
            let number = block.number_of(index);
            let item = NumberedRecord { index, number, chunk: *chunk, record };
            match (self.process_record)(&item, &mut ProcessedBlock::default()) {
                Ok(AfterRecord::Continue | AfterRecord::Filtered(_)) => {}
                Ok(AfterRecord::Cancelled) => return Err(StopReason::Cancelled),
                Err(_) => {
                    *quarantined_chunk = Some(chunk.offset);
                    break;
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn process(
        &mut self,
        index: u64,
        chunk: RawChunk<'_>,
        record: RecordRef<'_>,
    ) -> Result<Result<(), RecordError>, StopReason> {
        if self.cancel.load(Ordering::Relaxed) {
            return Err(StopReason::Cancelled);
        }
        let BlockState { block, processed, .. } = &mut self.processing;
        let item = NumberedRecord { index, number: block.number_of(index), chunk, record };
        match (self.process_record)(&item, processed) {
            Ok(AfterRecord::Continue) => processed.counts.input += 1,
            Ok(AfterRecord::Filtered(condition)) => processed.filter_out(condition, 1),
            Ok(AfterRecord::Cancelled) => return Err(StopReason::Cancelled),
            Err(error) => return Ok(Err(error)),
        }
        Ok(Ok(()))
    }

    fn reject(
        &mut self,
        error: &RecordError,
        chunk: &RawChunk<'_>,
        records: Range<u64>,
    ) -> Result<(), StopReason> {
        self.processing.reject(error, chunk, records);
        if self.processing.is_stopped() { Err(StopReason::Stopped) } else { Ok(()) }
    }
}

/// Whether a record belongs to this chunk and fails for the same reason.
fn fails_with(read: &Decoded<'_>, chunk: &RawChunk<'_>, error: &RecordError) -> bool {
    let is_same = match (&read.record, error) {
        (Err(own), RecordError::Decode(other)) => own != &DecodeError::TOO_LONG && own == other,
        _ => false,
    };
    is_same && read.chunk.offset == chunk.offset
}

/// Appends a record unchanged, except that text is converted to the encoding of the output format.
///
/// # Errors
/// [`RecordError::Encode`] if that encoding lacks a character.
#[inline]
pub(crate) fn copy(
    item: &NumberedRecord<'_>,
    out: &mut Vec<u8>,
) -> Result<FieldChanges, RecordError> {
    match item.record.own_bytes() {
        Some(bytes) => out.extend_from_slice(bytes),
        None => item.chunk.write(item.record.format(), out)?,
    }
    Ok(FieldChanges::default())
}

pub(crate) fn push_json_line(encoded: &mut EncodedRecords, line: &impl Serialize) {
    append_json_line(encoded.open_record(), line);
    encoded.end_record();
}

fn append_json_line(out: &mut Vec<u8>, line: &impl Serialize) {
    serde_json::to_writer(&mut *out, line).expect("strings and numbers are always valid JSON");
    out.push(b'\n');
}
