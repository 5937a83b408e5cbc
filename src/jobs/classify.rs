//! Decodes, filters and searches the records of a block, and writes each to the output that belongs to its verdict.
//!
//! If input and output format are the same, records are copied byte for byte. In a dataset each record becomes a row.

use std::sync::atomic::AtomicBool;

use serde::Serialize;

use super::plan::{JobPlan, Product};
use super::settings::{MatedPolicy, UnknownPolicy};
use crate::format::{
    ConvertError, DecodeError, FieldChanges, Format, GameResult, ProvenLabels, RecordRef, encode,
    eval_of_mate,
};
use crate::jobs::leaves::LeafRow;
use crate::jobs::settings::DatasetSettings;
use crate::jobs::solved_positions::{SOLVED_POSITIONS, SolvedRow};
use crate::mate::judge::{MateResult, PositionJudge, Stop};
use crate::records::counts::Disposition;
use crate::records::filters::Condition;
use crate::records::format_name::FormatName;
use crate::records::output_kind::OutputKind;
use crate::records::position_verdict::PositionVerdict;
use crate::records::processing::{
    AfterRecord, NumberedRecord, ProcessedBlock, copy, process_block, push_json_line,
};
use crate::records::reading::RecordError;
use crate::records::source::Block;
use crate::shogi::{Color, Position};

/// A line of the list of mated records.
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

/// A line of the list of unknown records.
#[derive(Serialize)]
struct UnknownLine<'a> {
    file: &'a str,
    index: u64,
    stop: Stop,
    nodes: u64,
}

/// Classifies the records of a block by verdict. `None` if `cancel` was set meanwhile.
pub(crate) fn classify_block(
    plan: &JobPlan,
    block: &Block,
    judge: &mut dyn PositionJudge,
    cancel: &AtomicBool,
) -> Option<ProcessedBlock> {
    let file = plan.listed_name(block.input);
    let mut classifier = Classifier { plan, input: block.input, file, judge, cancel };
    process_block(block, file, plan.settings.on_error, cancel, |item, processed| {
        classifier.record(item, processed)
    })
}

struct Classifier<'a> {
    plan: &'a JobPlan,
    /// Index of the input.
    input: usize,
    file: &'a str,
    judge: &'a mut dyn PositionJudge,
    cancel: &'a AtomicBool,
}

impl Classifier<'_> {
    fn record(
        &mut self,
        item: &NumberedRecord<'_>,
        processed: &mut ProcessedBlock,
    ) -> Result<AfterRecord, RecordError> {
        let record = &item.record;
        let filters = &self.plan.settings.filters;
        if let Some(condition) = filters.failed_field_condition(item.number, record)? {
            return Ok(AfterRecord::Filtered(condition));
        }
        let setup = record.setup()?;
        let mut position = Position::try_from(&setup)?;
        if let Some(condition) =
            filters.failed_position_condition(Some(&position), record.best_move()?)
        {
            return Ok(AfterRecord::Filtered(condition));
        }
        let is_searched = self.plan.settings.search.in_check.searches(&position)?;
        if let (false, Product::Rows(_)) = (is_searched, &self.plan.product) {
            // A row needs a verdict.
            return Ok(AfterRecord::Filtered(Condition::InCheck));
        }
        let mut mate_result =
            if is_searched { Some(self.mate_result(item.index, &mut position)?) } else { None };
        if let (Product::Leaves, Some(mate_result)) = (&self.plan.product, &mut mate_result) {
            self.push_proof(item.index, &position, mate_result, processed);
        }
        let verdict = mate_result.as_ref().map(|mate_result| mate_result.verdict);
        if verdict == Some(PositionVerdict::Unknown(Stop::Cancelled)) {
            return Ok(AfterRecord::Cancelled);
        }
        let warnings = record.warnings_about(&setup, Some(&position))?;
        let disposition = match (&self.plan.product, &mate_result) {
            (Product::Rows(dataset), Some(mate_result)) => {
                let (file, index) = (self.file, item.index);
                let (setup, position) = (&setup, &position);
                let solved = SolvedRow { file, index, record, setup, position, mate_result };
                push_row(*dataset, &solved, processed)?;
                Disposition::TableRow
            }
            (Product::Leaves, Some(mate_result)) => {
                let row = LeafRow::new(&position, mate_result);
                push_json_line(processed.encoded_mut(OutputKind::Rows), &row);
                Disposition::TableRow
            }
            _ => self.write_classified(item, &position, mate_result.as_ref(), processed)?,
        };
        processed.count_warnings(warnings);
        let counts = &mut processed.counts;
        counts.count_verdict(verdict);
        counts.count_disposition(disposition);
        counts.nodes += mate_result.map_or(0, |mate_result| mate_result.nodes);
        Ok(AfterRecord::Continue)
    }

    /// The verdict of the previous run, if it decided the record, or else of a new search.
    fn mate_result(
        &mut self,
        index: u64,
        position: &mut Position,
    ) -> Result<MateResult, RecordError> {
        let previous_run = self.plan.previous_run.as_ref();
        let known = previous_run.and_then(|previous| previous.mate_result(self.input, index));
        match known {
            Some(known) => known.map_err(|error| RecordError::PreviousRun(error.into())),
            None => Ok(self.judge.judge(position, self.cancel)),
        }
    }

    /// Writes the proof of a mate. Without its proof, the mate is unknown.
    fn push_proof(
        &self,
        index: u64,
        position: &Position,
        mate_result: &mut MateResult,
        processed: &mut ProcessedBlock,
    ) {
        match self.judge.proof(position, mate_result.verdict, index) {
            Some(Ok(proof)) => {
                let encoded = processed.encoded_mut(OutputKind::Proofs);
                proof.write(encoded.open_record());
                encoded.end_record();
            }
            _ if mate_result.verdict.is_mate() => {
                let too_large = PositionVerdict::Unknown(Stop::Memory);
                *mate_result = MateResult::new(too_large, Vec::new(), mate_result.nodes);
            }
            _ => {}
        }
    }

    /// Writes the record to the output that belongs to its verdict, and its line to the list of mated or unknown
    /// records.
    fn write_classified(
        &self,
        item: &NumberedRecord<'_>,
        position: &Position,
        mate_result: Option<&MateResult>,
        processed: &mut ProcessedBlock,
    ) -> Result<Disposition, RecordError> {
        let disposition = self.disposition(mate_result.map(|mate_result| mate_result.verdict));
        self.write(disposition, item, mate_result, processed)?;
        let Some(mate_result) = mate_result else { return Ok(disposition) };
        if matches!(mate_result.verdict, PositionVerdict::Win | PositionVerdict::Loss) {
            let line = self.mated_line(item.index, position, mate_result);
            push_json_line(processed.encoded_mut(OutputKind::MatedLines), &line);
        }
        if let PositionVerdict::Unknown(stop) = mate_result.verdict {
            let (file, nodes) = (self.file, mate_result.nodes);
            let line = UnknownLine { file, index: item.index, stop, nodes };
            push_json_line(processed.encoded_mut(OutputKind::UnknownLines), &line);
        }
        Ok(disposition)
    }

    fn disposition(&self, verdict: Option<PositionVerdict>) -> Disposition {
        let settings = &self.plan.settings;
        match verdict {
            Some(PositionVerdict::Win | PositionVerdict::Loss) => match settings.mated {
                MatedPolicy::Split => Disposition::MatedWritten,
                MatedPolicy::Drop => Disposition::MatedDropped,
                MatedPolicy::Relabel => Disposition::Relabelled,
            },
            Some(PositionVerdict::Unknown(_)) => match settings.unknown {
                UnknownPolicy::Keep => Disposition::Kept,
                UnknownPolicy::Drop => Disposition::UnknownDropped,
                UnknownPolicy::Split => Disposition::UnknownWritten,
            },
            Some(PositionVerdict::NoMate) | None => Disposition::Kept,
        }
    }

    fn write(
        &self,
        disposition: Disposition,
        item: &NumberedRecord<'_>,
        mate_result: Option<&MateResult>,
        processed: &mut ProcessedBlock,
    ) -> Result<(), RecordError> {
        let kind = match disposition {
            Disposition::Kept | Disposition::Relabelled => OutputKind::Kept,
            Disposition::MatedWritten => OutputKind::Mated,
            Disposition::UnknownWritten => OutputKind::Unknown,
            Disposition::MatedDropped
            | Disposition::UnknownDropped
            | Disposition::TableRow
            | Disposition::Evaluated
            | Disposition::EvaluationUnchanged => {
                return Ok(());
            }
        };
        let Product::Records(FormatName { format: to, .. }) = self.plan.product else {
            return Ok(());
        };
        let fill = &self.plan.settings.fill;
        let encoded = processed.encoded_mut(kind);
        let out = encoded.open_record();
        let written = match (disposition, mate_result) {
            (Disposition::Relabelled, Some(mate_result)) => {
                self.relabel(to, &item.record, mate_result, out)?
            }
            _ if to == item.record.format() => copy(item, out)?,
            _ => to.append_chunk(out, |out| item.record.convert(to, fill, out))?,
        };
        encoded.end_record();
        processed.count_fields(written);
        Ok(())
    }

    fn relabel(
        &self,
        to: Format,
        record: &RecordRef<'_>,
        mate_result: &MateResult,
        out: &mut Vec<u8>,
    ) -> Result<FieldChanges, ConvertError> {
        if to == record.format() {
            record.with_labels(proven_labels(record.setup()?.side_to_move(), mate_result), out)?;
            return Ok(FieldChanges::default());
        }
        let content = record.record()?;
        let labels = proven_labels(content.setup.side_to_move(), mate_result);
        Ok(encode(to, &labels.of(content), &self.plan.settings.fill, out)?)
    }

    fn mated_line(
        &self,
        index: u64,
        position: &Position,
        mate_result: &MateResult,
    ) -> MatedLine<'_> {
        MatedLine {
            file: self.file,
            index,
            sfen: position.to_string(),
            verdict: mate_result.verdict.word(),
            plies: mate_result.line.len(),
            line: mate_result.line.iter().map(ToString::to_string).collect(),
            nodes: mate_result.nodes,
        }
    }
}

/// Appends the row of a position.
fn push_row(
    dataset: DatasetSettings,
    solved: &SolvedRow<'_>,
    processed: &mut ProcessedBlock,
) -> Result<(), DecodeError> {
    let row = solved.row(dataset.shares)?;
    let encoded = processed.encoded_mut(OutputKind::Rows);
    dataset.format.push_row(&SOLVED_POSITIONS, &row, encoded.open_record());
    encoded.end_record();
    Ok(())
}

/// Best move, evaluation and result that follow from a win or a loss.
fn proven_labels(side_to_move: Color, mate_result: &MateResult) -> ProvenLabels {
    let wins = mate_result.verdict == PositionVerdict::Win;
    let winner = if wins { side_to_move } else { !side_to_move };
    let eval_cp = eval_of_mate(wins, mate_result.line.len());
    let best_move = mate_result.line.first().copied();
    ProvenLabels { best_move, eval_cp, result: GameResult::win_of(winner) }
}
