//! One block of records: each is decoded, filtered, judged and laid on the stream where it belongs.
//!
//! Where input and output format are the same, a record leaves as the bytes that came in; in a table it becomes
//! a row.

use std::sync::atomic::AtomicBool;

use serde::Serialize;

use super::plan::{Plan, Product};
use super::settings::{MatedPolicy, UnknownPolicy};
use crate::format::{
    ConvertError, DecodeError, Format, GameResult, Outcome, RecordRef, Written, encode,
};
use crate::jobs::settings::DatasetSettings;
use crate::jobs::solved_positions::{SOLVED_POSITIONS, Solved};
use crate::mate::judge::{Decide, Judgement, Stop};
use crate::records::answer::Answer;
use crate::records::counts::{Condition, Fate};
use crate::records::format_name::FormatName;
use crate::records::reading::Fault;
use crate::records::sorting::{Item, Next, Sorted, copy, push_json_line, sort_block};
use crate::records::source::Block;
use crate::records::stream::Stream;
use crate::shogi::{Color, Position};

/// Distance of a mate score from 0, in centipawns, before its plies are taken off.
///
/// Archives of both families store mates as ±(30000 − plies).
const MATE_EVAL_CP: i16 = 30_000;

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

/// One line about what the search did not find out.
#[derive(Serialize)]
struct UnknownLine<'a> {
    file: &'a str,
    index: u64,
    stop: Stop,
    nodes: u64,
}

/// Sorts the records of a block; `None` if `cancel` was set meanwhile.
pub(crate) fn sort(
    plan: &Plan,
    block: &Block,
    judge: &mut dyn Decide,
    cancel: &AtomicBool,
) -> Option<Sorted> {
    let file = &plan.parts[block.part].input.name;
    let mut triage = Triage { plan, part: block.part, file, judge, cancel };
    sort_block(block, file, plan.settings.on_error, cancel, |item, sorted| {
        triage.record(item, sorted)
    })
}

struct Triage<'a> {
    plan: &'a Plan,
    part: usize,
    file: &'a str,
    judge: &'a mut dyn Decide,
    cancel: &'a AtomicBool,
}

impl Triage<'_> {
    fn record(&mut self, item: &Item<'_>, sorted: &mut Sorted) -> Result<Next, Fault> {
        let record = &item.record;
        let filters = &self.plan.settings.filters;
        if let Some(condition) = filters.failed_by_fields(item.number, record)? {
            sorted.count_filtered(condition);
            return Ok(Next::Sorted);
        }
        let setup = record.setup()?;
        let mut position = Position::try_from(&setup)?;
        if let Some(condition) = filters.failed_by_rules(Some(&position), record.best_move()?) {
            sorted.count_filtered(condition);
            return Ok(Next::Sorted);
        }
        let is_asked = self.plan.settings.search.in_check.asks_about(&position)?;
        if let (false, Product::Rows(_)) = (is_asked, &self.plan.product) {
            // A row needs a verdict.
            sorted.count_filtered(Condition::InCheck);
            return Ok(Next::Sorted);
        }
        let judgement =
            if is_asked { Some(self.judgement(item.index, &mut position)?) } else { None };
        let answer = judgement.as_ref().map(|judgement| judgement.answer);
        if answer == Some(Answer::Unknown(Stop::Cancelled)) {
            return Ok(Next::Cancelled);
        }
        let warnings = record.warnings_about(&setup, Some(&position))?;
        let fate = match (&self.plan.product, &judgement) {
            (Product::Rows(dataset), Some(judgement)) => {
                let (file, index) = (self.file, item.index);
                let (setup, position) = (&setup, &position);
                let solved = Solved { file, index, record, setup, position, judgement };
                push_row(*dataset, &solved, sorted)?;
                Fate::Row
            }
            _ => self.write_sorted(item, &position, judgement.as_ref(), sorted)?,
        };
        sorted.count_warnings(warnings);
        let counts = &mut sorted.counts;
        counts.count_verdict(answer);
        counts.count_fate(fate);
        counts.nodes += judgement.map_or(0, |judgement| judgement.nodes);
        Ok(Next::Sorted)
    }

    /// What an earlier run found out, if there was one and it did, or what a search finds out now.
    fn judgement(&mut self, index: u64, position: &mut Position) -> Result<Judgement, Fault> {
        let known =
            self.plan.first_pass.as_ref().and_then(|first| first.judgement(self.part, index));
        match known {
            Some(known) => known.map_err(|error| Fault::FirstPass(error.into())),
            None => Ok(self.judge.judge(position, self.cancel)),
        }
    }

    /// Writes the record where its verdict sends it, and what is to be said about that.
    fn write_sorted(
        &self,
        item: &Item<'_>,
        position: &Position,
        judgement: Option<&Judgement>,
        sorted: &mut Sorted,
    ) -> Result<Fate, Fault> {
        let fate = self.fate(judgement.map(|judgement| judgement.answer));
        self.write(fate, item, judgement, sorted)?;
        let Some(judgement) = judgement else { return Ok(fate) };
        if fate == Fate::MatedSplit {
            let line = self.proof(item.index, position, judgement);
            push_json_line(sorted.batch_mut(Stream::MatedLines), &line);
        }
        if let Answer::Unknown(stop) = judgement.answer {
            let (file, nodes) = (self.file, judgement.nodes);
            let line = UnknownLine { file, index: item.index, stop, nodes };
            push_json_line(sorted.batch_mut(Stream::UnknownLines), &line);
        }
        Ok(fate)
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
        &self,
        fate: Fate,
        item: &Item<'_>,
        judgement: Option<&Judgement>,
        sorted: &mut Sorted,
    ) -> Result<(), Fault> {
        let stream = match fate {
            Fate::Kept | Fate::Relabelled => Stream::Kept,
            Fate::MatedSplit => Stream::Mated,
            Fate::UnknownSplit => Stream::Unknown,
            Fate::MatedDropped | Fate::UnknownDropped | Fate::Row => return Ok(()),
        };
        let Product::Records(FormatName { format: to, .. }) = self.plan.product else {
            return Ok(());
        };
        let fill = &self.plan.settings.fill;
        let batch = sorted.batch_mut(stream);
        let out = batch.open_record();
        let written = match (fate, judgement) {
            (Fate::Relabelled, Some(judgement)) => {
                self.relabel(to, &item.record, judgement, out)?
            }
            _ if to == item.record.format() => copy(item, out),
            _ => item.record.convert(to, fill, out)?,
        };
        batch.end_record();
        sorted.count_fields(written);
        Ok(())
    }

    fn relabel(
        &self,
        to: Format,
        record: &RecordRef<'_>,
        judgement: &Judgement,
        out: &mut Vec<u8>,
    ) -> Result<Written, ConvertError> {
        if to == record.format() {
            record.with_outcome(outcome(record.setup()?.side_to_move(), judgement), out)?;
            return Ok(Written::default());
        }
        let content = record.record()?;
        let outcome = outcome(content.setup.side_to_move(), judgement);
        Ok(encode(to, &outcome.of(content), &self.plan.settings.fill, out)?)
    }

    fn proof(&self, index: u64, position: &Position, judgement: &Judgement) -> MatedLine<'_> {
        MatedLine {
            file: self.file,
            index,
            sfen: position.to_string(),
            verdict: judgement.answer.word(),
            plies: judgement.line.len(),
            line: judgement.line.iter().map(ToString::to_string).collect(),
            nodes: judgement.nodes,
        }
    }
}

/// Appends the row of a position.
fn push_row(
    dataset: DatasetSettings,
    solved: &Solved<'_>,
    sorted: &mut Sorted,
) -> Result<(), DecodeError> {
    let row = solved.row(dataset.shares)?;
    let batch = sorted.batch_mut(Stream::Rows);
    dataset.format.push_row(&SOLVED_POSITIONS, &row, batch.open_record());
    batch.end_record();
    Ok(())
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
