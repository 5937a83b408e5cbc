//! Checks every record of a file (bytes, position, move, result) and can separate bad records from good ones.
//!
//! Unreadable records are bad. Records that can be read but break a rule get a warning. `docs/formats/` lists the
//! warnings.

mod findings;
mod plan;
mod proofs;

use std::iter;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

use crate::engine::job::{BlockFunction, Job};
use crate::engine::progress::Progress;
use crate::engine::run::{CompletedPass, pass};
use crate::error::Error;
use crate::format::{Format, RawChunk, RecordRef, Warning, Warnings, read_games};
use crate::records::counts::{Counts, Disposition};
use crate::records::filters::Condition;
use crate::records::output_kind::OutputKind;
use crate::records::processing::{ProcessedBlock, push_json_line};
use crate::records::reading::RecordError;
use crate::records::sink::Sinks;
use crate::records::source::Block;
use crate::shogi::Position;
use crate::storage::quantity::quantity;

pub use findings::{Example, Finding, Findings, Level, VerifyReport};
pub use plan::{VerifyPlan, VerifyRequest};
pub use proofs::{ProofsReport, verify_proofs};

const BLOCK_RECORDS: u64 = 1 << 10;

/// Finding: the frames of a file do not match its frame table.
const WRONG_TABLE: &str = "wrong-table-of-frames";

/// Finding: the content of a file contradicts its extension. The records of the file are not checked.
pub const WRONG_NAME: &str = "wrong-name";

/// Checks the records of a file. The outputs get their final names only if the whole check succeeds.
///
/// # Errors
/// [`Error`] if the file cannot be read or an output cannot be written. Unfinished outputs are removed.
pub fn verify(
    plan: VerifyPlan,
    progress: &mut Progress,
    cancel: &AtomicBool,
) -> Result<VerifyReport, Error> {
    if let Some(contradiction) = &plan.contradiction {
        let mut findings = Findings::default();
        let what = contradiction.to_string();
        findings.count(Level::Error, WRONG_NAME, || Example { record: 0, byte: 0, what });
        return Ok(VerifyReport::new(&plan, &Counts::default(), &[], findings, iter::empty()));
    }
    let _folders = plan.create_folder()?;
    let plan = Arc::new(plan);
    let ranges = std::slice::from_ref(&plan.range);
    let job = Job { limit: plan.limit, ..Job::new(ranges, plan.threads, BLOCK_RECORDS) };
    let mut sinks = Sinks::create_with(&plan.outputs, true)?;
    let worker_plan = Arc::clone(&plan);
    let worker: BlockFunction<_> =
        Arc::new(move |block, stop| verify_block(&worker_plan, block, stop));
    let mut findings = Findings::default();
    let add_findings = |_: &mut ProcessedBlock, block_findings: Findings| {
        findings.add(block_findings);
        Ok(())
    };
    let CompletedPass { counts, ranges_read } =
        pass(&job, &mut sinks, worker, add_findings, progress, cancel)?;
    if let Some(records) = plan.records.filter(|&records| records != counts.input) {
        let (record, byte) = (counts.input, ranges_read.iter().map(|read| read.bytes).sum());
        let what = format!("the file ends here, expected {}", quantity(records, "record"));
        findings.count(Level::Error, WRONG_TABLE, || Example { record, byte, what });
    }
    let finished = sinks.finish()?;
    let report = VerifyReport::new(&plan, &counts, &ranges_read, findings, finished.written());
    report.check_balance().map_err(Error::fault)?;
    finished.commit()?;
    progress.finish(&counts);
    Ok(report)
}

/// Returns `None` if cancelled.
fn verify_block(
    plan: &VerifyPlan,
    block: &Block,
    cancel: &AtomicBool,
) -> Option<(ProcessedBlock, Findings)> {
    let mut worker = RecordVerifier {
        plan,
        block,
        processed: ProcessedBlock::default(),
        findings: Findings::default(),
    };
    let mut index = block.first_index;
    for chunk in block.chunks() {
        if cancel.load(Ordering::Relaxed) {
            return None;
        }
        index += worker.verify_chunk(&chunk, index);
    }
    Some((worker.processed, worker.findings))
}

struct RecordVerifier<'a> {
    plan: &'a VerifyPlan,
    block: &'a Block,
    processed: ProcessedBlock,
    findings: Findings,
}

/// A line of [`OutputKind::QuarantineLines`].
#[derive(Serialize)]
struct BadLine<'a> {
    file: &'a str,
    /// Number of the first record, from 0.
    index: u64,
    records: u64,
    offset: u64,
    bytes: usize,
    findings: Vec<&'static str>,
    /// Why the first bad record is bad.
    reason: String,
}

impl RecordVerifier<'_> {
    /// Checks the records of a chunk and returns their number.
    fn verify_chunk(&mut self, chunk: &RawChunk<'_>, first_index: u64) -> u64 {
        let mut index = first_index;
        let mut names = Vec::new();
        let mut reason = None;
        for record in self.block.records_in(chunk) {
            let checked = record.map_err(RecordError::from).and_then(|record| warnings_of(&record));
            if let Some(bad) = self.count(checked, chunk, index) {
                for name in bad.names {
                    if !names.contains(&name) {
                        names.push(name);
                    }
                }
                reason.get_or_insert(bad.reason);
            }
            index += 1;
        }
        let records = index - first_index;
        self.processed.counts.input += records;
        if !self.plan.outputs.is_empty() {
            let line = reason.map(|reason| {
                names.sort_unstable();
                BadLine {
                    file: &self.plan.range.input.name,
                    index: first_index,
                    records,
                    offset: self.block.offset + chunk.offset,
                    bytes: chunk.bytes.len(),
                    findings: names,
                    reason,
                }
            });
            self.write_chunk(chunk, records, line);
        }
        records
    }

    /// Counts the findings of a record. Returns why it is bad. `None` if it is good.
    fn count(
        &mut self,
        checked: Result<Warnings, RecordError>,
        chunk: &RawChunk<'_>,
        index: u64,
    ) -> Option<Bad> {
        let byte = self.block.offset + chunk.offset;
        let example = |what: String| Example { record: index, byte, what };
        let counts = &mut self.processed.counts;
        match checked {
            Err(error) if error.is_comment() => {
                *counts.filtered.entry(Condition::Comment).or_default() += 1;
                None
            }
            Err(error) => {
                counts.bad.skipped += 1;
                let (name, reason) = (error.name(), error.to_string());
                self.findings.count(Level::Error, name, || example(reason.clone()));
                Some(Bad { names: vec![name], reason })
            }
            Ok(warnings) => {
                let names: Vec<&str> = warnings.iter().map(Warning::name).collect();
                for warning in warnings.iter() {
                    let what = || match warning {
                        Warning::LinesSkipped => skipped_lines(self.block.format, chunk),
                        _ => String::new(),
                    };
                    self.findings.count(Level::Warning, warning.name(), || example(what()));
                }
                if self.plan.strict && !names.is_empty() {
                    counts.bad.skipped += 1;
                    let reason = names.join(", ");
                    return Some(Bad { names, reason });
                }
                counts.count_disposition(Disposition::Kept);
                None
            }
        }
    }

    /// Writes a chunk unchanged: to the quarantine if there is a `line`, otherwise to the good records.
    fn write_chunk(&mut self, chunk: &RawChunk<'_>, records: u64, line: Option<BadLine<'_>>) {
        let kind = if line.is_some() { OutputKind::Quarantine } else { OutputKind::Kept };
        let is_first = self.block.offset + chunk.offset == 0;
        // The output of good records already starts with the header.
        let bytes = if kind == OutputKind::Kept && is_first {
            self.block.format.without_header(chunk.bytes)
        } else {
            chunk.bytes
        };
        let encoded = self.processed.encoded_mut(kind);
        encoded.open_record().extend_from_slice(bytes);
        encoded.end_records(records as usize);
        if let Some(line) = line {
            push_json_line(self.processed.encoded_mut(OutputKind::QuarantineLines), &line);
        }
    }
}

/// The number of unparsed lines of a chunk, as text.
fn skipped_lines(format: Format, chunk: &RawChunk<'_>) -> String {
    let games = read_games(format, chunk.without_line_end(format)).flatten();
    quantity(games.map(|game| u64::from(game.info.skipped_lines)).sum::<u64>(), "line")
}

struct Bad {
    names: Vec<&'static str>,
    reason: String,
}

fn warnings_of(record: &RecordRef<'_>) -> Result<Warnings, RecordError> {
    let content = record.record()?;
    let position = Position::try_from(&content.setup).ok();
    Ok(record.warnings_about(&content.setup, position.as_ref())?)
}
