//! Relabels single records, and games whose output format holds single records.

use std::sync::atomic::AtomicBool;

use super::evaluator::Evaluated;
use super::worker::{Evaluate, Relabelling};
use crate::error::Error;
use crate::format::{FieldChanges, is_mate_eval};
use crate::records::counts::Disposition;
use crate::records::filters::Condition;
use crate::records::output_kind::OutputKind;
use crate::records::processing::{
    AfterRecord, NumberedRecord, ProcessedBlock, copy, process_block,
};
use crate::records::reading::RecordError;
use crate::records::source::Block;
use crate::shogi::{Color, Position};

#[expect(clippy::large_enum_variant, reason = "values are consumed at once")]
enum Choice {
    Filtered(Condition),
    KeepEvaluation,
    Evaluate(Position),
    /// Use the stored evaluation, seen from this side.
    Reuse(i16, Color),
}

/// Reads the block twice: first to collect the positions, then to write the records with their new evaluations.
pub(super) fn relabel_block(
    relabelling: &Relabelling<'_>,
    block: &Block,
    cancel: &AtomicBool,
    evaluate: &mut Evaluate<'_>,
) -> Result<ProcessedBlock, Error> {
    let plan = relabelling.plan;
    let file = plan.listed_name(block.input);
    let on_error = plan.settings.on_error;
    let mut positions = Vec::new();
    process_block(block, file, on_error, cancel, |item, _| {
        if let Choice::Evaluate(position) = relabelling.choice(item)? {
            positions.push(position);
        }
        Ok(AfterRecord::Continue)
    })
    .ok_or_else(Error::evaluation_interrupted)?;
    let mut evaluated = evaluate(&positions)?.into_iter();
    let processed = process_block(block, file, on_error, cancel, |item, processed| {
        let record = &item.record;
        let mut is_illegal = false;
        let (disposition, new) = match relabelling.choice(item)? {
            Choice::Filtered(condition) => {
                return Ok(AfterRecord::Filtered(condition));
            }
            Choice::KeepEvaluation => (Disposition::EvaluationUnchanged, None),
            Choice::Reuse(eval_cp, mover) => {
                let stored = Evaluated::stored(eval_cp);
                let new = relabelling.reevaluation(stored, mover, record.result()?)?;
                (Disposition::Evaluated, Some(new))
            }
            Choice::Evaluate(position) => {
                let mut evaluated = evaluated.next().expect("one evaluation per position");
                if let Some(text) = evaluated.rejected_move.take() {
                    if relabelling.settings.policy {
                        return Err(RecordError::IllegalBestMove { text });
                    }
                    is_illegal = true;
                }
                let mover = position.side_to_move();
                let new = relabelling.reevaluation(evaluated, mover, record.result()?)?;
                (Disposition::Evaluated, Some(new))
            }
        };
        let warnings = record.warnings()?;
        let (to, fill) = (relabelling.to, &plan.settings.fill);
        let encoded = processed.encoded_mut(OutputKind::Kept);
        let out = encoded.open_record();
        let written: FieldChanges = match new {
            Some(new) => record.with_evaluation(&new, to, fill, out)?,
            None if to == record.format() => copy(item, out)?,
            None => to.append_chunk(out, |out| record.convert(to, fill, out))?,
        };
        encoded.end_record();
        processed.count_fields(written);
        processed.count_warnings(warnings);
        if is_illegal {
            processed.count_illegal_best_move();
        }
        processed.counts.count_disposition(disposition);
        Ok(AfterRecord::Continue)
    });
    processed.ok_or_else(Error::evaluation_interrupted)
}

impl Relabelling<'_> {
    fn choice(&self, item: &NumberedRecord<'_>) -> Result<Choice, RecordError> {
        let (record, filters) = (&item.record, &self.plan.settings.filters);
        if let Some(condition) = filters.failed_field_condition(item.number, record)? {
            return Ok(Choice::Filtered(condition));
        }
        let position = Position::try_from(&record.setup()?)?;
        if let Some(condition) =
            filters.failed_position_condition(Some(&position), record.best_move()?)
        {
            return Ok(Choice::Filtered(condition));
        }
        Ok(match record.eval_cp()? {
            Some(eval_cp) if is_mate_eval(eval_cp) => Choice::KeepEvaluation,
            _ if !self.settings.keep_eval => Choice::Evaluate(position),
            Some(eval_cp) => Choice::Reuse(eval_cp, position.side_to_move()),
            None => Choice::KeepEvaluation,
        })
    }
}
