//! One block of records: each is decoded, filtered, judged and laid on the stream where it belongs.
//!
//! Where input and output format are the same, a record leaves as the bytes that came in.

use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;
use thiserror::Error;

use super::counts::{Condition, Counts, Fate};
use super::judge::{Answer, Decide, Judgement, NothingToMate, Stop};
use super::plan::Plan;
use super::settings::{BadPolicy, MatedPolicy, RecordFilters, UnknownPolicy};
use super::source::{Block, MAX_LINE_BYTES, RawRecord};
use super::stream::{Batch, Stream};
use crate::format::{
    ConvertError, DecodeError, Format, GameResult, Outcome, RecordRef, Written, encode,
};
use crate::shogi::{Color, Position, PositionError};

/// Distance of a mate score from 0, in centipawns, before its plies are taken off.
///
/// Archives of both families store mates as ±(30000 − plies).
const MATE_EVAL_CP: i16 = 30_000;

/// A block after triage.
#[derive(Debug, Default)]
pub(super) struct Sorted {
    batches: [Batch; Stream::ALL.len()],
    pub(super) counts: Counts,
    /// The first record that could not be used, if that ends the run.
    pub(super) stopped_by: Option<BadRecord>,
}

impl Sorted {
    pub(super) fn batch(&self, stream: Stream) -> &Batch {
        &self.batches[stream as usize]
    }

    fn batch_mut(&mut self, stream: Stream) -> &mut Batch {
        &mut self.batches[stream as usize]
    }

    /// Memory that the streams take, in bytes.
    pub(super) fn size(&self) -> usize {
        self.batches.iter().map(Batch::size).sum()
    }
}

/// A record that could not be used.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Error)]
#[error("{file}, record {index}, at byte {offset}: {reason}")]
pub struct BadRecord {
    /// The input, as it was given.
    pub file: String,
    /// Number of the record within the file, from 0.
    pub index: u64,
    /// Where it begins within the file, uncompressed.
    pub offset: u64,
    /// Its length.
    pub bytes: usize,
    /// What is wrong; byte numbers in it count from the start of the record.
    pub reason: String,
}

/// Why a record cannot be used.
#[derive(Debug, Error)]
enum Fault {
    #[error("part of a line longer than {MAX_LINE_BYTES} bytes")]
    CutLine,
    #[error(transparent)]
    Decode(#[from] DecodeError),
    #[error(transparent)]
    Position(#[from] PositionError),
    #[error(transparent)]
    NothingToMate(#[from] NothingToMate),
    #[error(transparent)]
    Convert(#[from] ConvertError),
}

/// One line of the proofs.
#[derive(Serialize)]
struct MatedLine<'a> {
    file: &'a str,
    index: u64,
    sfen: String,
    verdict: &'static str,
    plies: usize,
    line: Vec<String>,
    nodes: u64,
}

/// Sorts the records of a block; `None` if `cancel` was set meanwhile.
pub(super) fn sort(
    plan: &Plan,
    block: &Block,
    judge: &mut dyn Decide,
    cancel: &AtomicBool,
) -> Option<Sorted> {
    let file = &plan.parts[block.part].input.name;
    let mut triage =
        Triage { plan, format: block.format, file, judge, cancel, sorted: Sorted::default() };
    for (raw, index) in block.records().zip(block.first_index..) {
        if cancel.load(Ordering::Relaxed) {
            return None;
        }
        triage.sorted.counts.input += 1;
        match triage.record(index, &raw) {
            Ok(Next::Sorted) => {}
            Ok(Next::Cancelled) => return None,
            Err(fault) => {
                let bad = BadRecord {
                    file: file.clone(),
                    index,
                    offset: block.offset + raw.offset,
                    bytes: raw.bytes.len(),
                    reason: fault.to_string(),
                };
                if let Some(bad) = triage.set_aside(bad, &raw) {
                    triage.sorted.stopped_by = Some(bad);
                    break;
                }
            }
        }
    }
    Some(triage.sorted)
}

enum Next {
    Sorted,
    Cancelled,
}

struct Triage<'a> {
    plan: &'a Plan,
    format: Format,
    file: &'a str,
    judge: &'a mut dyn Decide,
    cancel: &'a AtomicBool,
    sorted: Sorted,
}

impl Triage<'_> {
    fn record(&mut self, index: u64, raw: &RawRecord<'_>) -> Result<Next, Fault> {
        if raw.is_cut {
            return Err(Fault::CutLine);
        }
        let record = RecordRef::new(self.format, raw.without_line_end(self.format))?;
        let setup = record.setup()?;
        if let Some(condition) = failed_condition(&self.plan.settings.filters, &record)? {
            *self.sorted.counts.filtered.entry(condition).or_default() += 1;
            return Ok(Next::Sorted);
        }
        let mut position = Position::try_from(&setup)?;
        let judgement = if self.plan.settings.search.in_check.asks_about(&position)? {
            Some(self.judge.judge(&mut position, self.cancel))
        } else {
            None
        };
        let answer = judgement.as_ref().map(|judgement| judgement.answer);
        if answer == Some(Answer::Unknown(Stop::Cancelled)) {
            return Ok(Next::Cancelled);
        }
        let fate = self.fate(answer);
        let warnings = record.warnings_about(&setup, Some(&position))?;
        self.write(fate, &record, raw, judgement.as_ref())?;
        if let (Fate::MatedSplit, Some(judgement)) = (fate, &judgement) {
            self.write_proof(index, &position, judgement);
        }
        let counts = &mut self.sorted.counts;
        counts.count_verdict(answer);
        counts.count_fate(fate);
        counts.nodes += judgement.map_or(0, |judgement| judgement.nodes);
        for warning in warnings.iter() {
            *counts.warnings.entry(warning.name().to_owned()).or_default() += 1;
        }
        Ok(Next::Sorted)
    }

    fn fate(&self, answer: Option<Answer>) -> Fate {
        let settings = &self.plan.settings;
        match answer {
            Some(Answer::Win | Answer::Loss) => match settings.mated {
                MatedPolicy::Split => Fate::MatedSplit,
                MatedPolicy::Drop => Fate::MatedDropped,
                MatedPolicy::Relabel => Fate::Relabelled,
            },
            Some(Answer::Unknown(_)) => match settings.unknown {
                UnknownPolicy::Keep => Fate::Kept,
                UnknownPolicy::Drop => Fate::UnknownDropped,
                UnknownPolicy::Split => Fate::UnknownSplit,
            },
            Some(Answer::NoMate) | None => Fate::Kept,
        }
    }

    fn write(
        &mut self,
        fate: Fate,
        record: &RecordRef<'_>,
        raw: &RawRecord<'_>,
        judgement: Option<&Judgement>,
    ) -> Result<(), Fault> {
        let (to, fill) = (self.plan.to.format, &self.plan.settings.fill);
        let stream = match fate {
            Fate::Kept | Fate::Relabelled => Stream::Kept,
            Fate::MatedSplit => Stream::Mated,
            Fate::UnknownSplit => Stream::Unknown,
            Fate::MatedDropped | Fate::UnknownDropped => return Ok(()),
        };
        let batch = self.sorted.batch_mut(stream);
        let out = batch.open_record();
        let written = match (fate, judgement) {
            (Fate::Relabelled, Some(judgement)) if to == self.format => {
                record.with_outcome(outcome(record.setup()?.side_to_move(), judgement), out)?;
                Written::default()
            }
            (Fate::Relabelled, Some(judgement)) => {
                let content = record.record()?;
                let outcome = outcome(content.setup.side_to_move(), judgement);
                encode(to, &outcome.of(content), fill, out).map_err(ConvertError::from)?
            }
            _ if to == self.format => {
                out.extend_from_slice(raw.bytes);
                // The last line of a file may lack its end; the next record must not join it.
                if to.record_len().is_none() && !raw.bytes.ends_with(b"\n") {
                    out.push(b'\n');
                }
                Written::default()
            }
            _ => record.convert(to, fill, out)?,
        };
        batch.end_record();
        self.sorted.counts.count_fields(written);
        Ok(())
    }

    fn write_proof(&mut self, index: u64, position: &Position, judgement: &Judgement) {
        let line = MatedLine {
            file: self.file,
            index,
            sfen: position.to_string(),
            verdict: judgement.answer.word(),
            plies: judgement.line.len(),
            line: judgement.line.iter().map(ToString::to_string).collect(),
            nodes: judgement.nodes,
        };
        push_json_line(self.sorted.batch_mut(Stream::MatedLines), &line);
    }

    /// Quarantines or skips a bad record; gives it back if it ends the run.
    fn set_aside(&mut self, bad: BadRecord, raw: &RawRecord<'_>) -> Option<BadRecord> {
        match self.plan.settings.on_error {
            BadPolicy::Stop => return Some(bad),
            BadPolicy::Skip => self.sorted.counts.bad.skipped += 1,
            BadPolicy::Quarantine => {
                self.sorted.counts.bad.quarantined += 1;
                self.sorted.batch_mut(Stream::Quarantine).push(raw.bytes);
                push_json_line(self.sorted.batch_mut(Stream::QuarantineLines), &bad);
            }
        }
        None
    }
}

fn push_json_line(batch: &mut Batch, line: &impl Serialize) {
    let out = batch.open_record();
    serde_json::to_writer(&mut *out, line).expect("strings and numbers always have a JSON form");
    out.push(b'\n');
    batch.end_record();
}

/// The first filter that does not hold, in the order of [`Condition`].
fn failed_condition(
    filters: &RecordFilters,
    record: &RecordRef<'_>,
) -> Result<Option<Condition>, DecodeError> {
    if let Some(most) = filters.max_abs_eval_cp {
        match record.eval_cp()? {
            None => return Ok(Some(Condition::NoEval)),
            Some(eval) if eval.unsigned_abs() > most => return Ok(Some(Condition::MaxAbsEval)),
            Some(_) => {}
        }
    }
    if filters.min_ply.is_some() || filters.max_ply.is_some() {
        let Some(ply) = record.ply()? else { return Ok(Some(Condition::NoPly)) };
        if filters.min_ply.is_some_and(|least| ply < least) {
            return Ok(Some(Condition::MinPly));
        }
        if filters.max_ply.is_some_and(|most| ply > most) {
            return Ok(Some(Condition::MaxPly));
        }
    }
    Ok(None)
}

/// What a proof says about its position.
fn outcome(side_to_move: Color, judgement: &Judgement) -> Outcome {
    let plies = i16::try_from(judgement.line.len()).unwrap_or(MATE_EVAL_CP).min(MATE_EVAL_CP);
    let (winner, eval_cp) = if judgement.answer == Answer::Win {
        (side_to_move, MATE_EVAL_CP - plies)
    } else {
        (!side_to_move, plies - MATE_EVAL_CP)
    };
    let best_move = judgement.line.first().copied();
    Outcome { best_move, eval_cp, result: GameResult::win_of(winner) }
}
