//! The account of a conversion: what was read and written, lost and filled in, unusual or bad.
//!
//! Sums are checked before the output gets its name: a record that is missing in them was lost.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use super::plan::{Check, ConvertPlan, MakeGames};
use crate::error::Error;
use crate::format::{Field, Fields};
use crate::records::account::{InputEntry, OutputEntry, input_entry, output_entry};
use crate::records::counts::{BadCounts, Counts, equal};
use crate::records::filters::{Condition, RecordFilters};
use crate::records::output_kind::OutputKind;
use crate::records::sink::WrittenOutput;
use crate::records::source::RangeRead;
use crate::storage::memory::Memory;

/// The account of a conversion.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ConvertReport {
    /// Name and version of the program.
    pub program: String,
    /// What was run.
    pub command: &'static str,
    /// How the output was written.
    pub to: String,
    /// What was to be filled in, as in `eval=0,ply=0`.
    pub fill: String,
    /// Whether records were written anew also where the format stayed.
    pub canonical: bool,
    /// What single records became, if games were written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub make_games: Option<MakeGames>,
    /// Whether left and right of the board were exchanged.
    pub mirror: bool,
    /// Whether only the first of equal positions was written, and the memory there was for them.
    pub dedup: Option<Memory>,
    /// Which records were taken.
    pub filters: RecordFilters,
    /// What was examined of records that were written: what `warnings` can speak of.
    pub check: Check,
    /// Whether any loss would have been refused.
    pub strict: bool,
    /// What was read, in order.
    pub inputs: Vec<ConvertedInput>,
    /// What was written.
    pub outputs: Vec<OutputEntry>,
    /// What became of the records.
    pub counts: RecordCounts,
    /// How long it took.
    pub elapsed_s: f64,
    /// Speed.
    pub records_per_s: f64,
}

/// What was read of one input, and what the formats alone say about its conversion.
#[derive(Clone, Debug, Serialize)]
pub struct ConvertedInput {
    /// What was read.
    #[serde(flatten)]
    pub account: InputEntry,
    /// Fields of the input's format that the output's format cannot hold.
    pub cannot_hold: Vec<&'static str>,
    /// Fields of the output's format that the input's format lacks and that are filled in.
    pub filled_in: Vec<&'static str>,
    /// Fields of arrays that the input's format lacks and that stay empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<&'static str>,
}

/// What became of the records of a conversion. `input` = `written` + `filtered` + `bad`.
#[derive(Clone, Debug, Serialize)]
pub struct RecordCounts {
    /// Records read.
    pub input: u64,
    /// Records written.
    pub written: u64,
    /// Games written, if the output holds games.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub games: Option<u64>,
    /// Positions without a move written, if the output holds games.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub positions: Option<u64>,
    /// Records that a filter took out, by the first condition that did not hold.
    pub filtered: BTreeMap<Condition, u64>,
    /// Records that could not be used.
    pub bad: BadCounts,
    /// Oddities of records that were written all the same, by kind.
    pub warnings: BTreeMap<String, u64>,
    /// Records that lost a field because the output format cannot hold it, by field.
    pub lost: BTreeMap<String, u64>,
    /// What games say besides their records and the output format cannot hold, by kind: `headers`, `comments`, `times`,
    /// `variations`, `bookmarks`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub lost_info: BTreeMap<String, u64>,
    /// Records into which a field was filled that they lacked, by field.
    pub invented: BTreeMap<String, u64>,
    /// Records that lack a field of the arrays that are written, by field: of those that all of them lack there is no
    /// array.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub missing: BTreeMap<String, u64>,
}

impl ConvertReport {
    pub(super) fn new<'a>(
        plan: &ConvertPlan,
        counts: &Counts,
        ranges_read: &[RangeRead],
        written: impl Iterator<Item = &'a WrittenOutput>,
        elapsed: Duration,
    ) -> Self {
        let elapsed_s = elapsed.as_secs_f64();
        Self {
            program: format!("kyokumen {}", env!("CARGO_PKG_VERSION")),
            command: "convert",
            to: plan.to.to_string(),
            fill: plan.settings.fill.to_string(),
            canonical: plan.settings.canonical,
            make_games: plan.to.games().is_some().then_some(plan.settings.make_games),
            mirror: plan.settings.mirror,
            dedup: plan.settings.dedup.then_some(plan.settings.memory),
            filters: plan.settings.filters,
            check: plan.settings.check,
            strict: plan.settings.strict,
            inputs: ranges_read.iter().map(|read| converted_input(plan, read)).collect(),
            outputs: written.map(output_entry).collect(),
            counts: RecordCounts {
                input: counts.input,
                written: counts.kept,
                games: plan.to.games().map(|_| counts.games),
                positions: plan.to.games().map(|_| counts.positions),
                filtered: counts.filtered.clone(),
                bad: counts.bad.clone(),
                warnings: counts.warnings.clone(),
                lost: counts.lost.clone(),
                lost_info: counts.lost_info.clone(),
                invented: counts.invented.clone(),
                missing: counts.missing.clone(),
            },
            elapsed_s,
            records_per_s: if elapsed_s > 0.0 { counts.input as f64 / elapsed_s } else { 0.0 },
        }
    }

    /// Checks that every record read is accounted for, and that the files hold what the counts say.
    ///
    /// # Errors
    /// [`Error`] with the two sides that differ.
    pub fn check_balance(&self) -> Result<(), Error> {
        let counts = &self.counts;
        let filtered = counts.filtered.values().sum::<u64>();
        let bad = counts.bad.all();
        let all = counts.written + filtered + bad;
        equal("input", counts.input, "written + filtered + bad", all)?;
        let read = self.inputs.iter().map(|input| input.account.to - input.account.from).sum();
        equal("records read", read, "input", counts.input)?;
        for output in &self.outputs {
            let counted = match output.kind {
                OutputKind::Quarantine | OutputKind::QuarantineLines => counts.bad.quarantined,
                _ => counts.written,
            };
            equal("records in an output", output.records, "records counted for it", counted)?;
        }
        Ok(())
    }
}

fn converted_input(plan: &ConvertPlan, read: &RangeRead) -> ConvertedInput {
    let names = |fields: Fields| fields.iter().map(Field::name).collect();
    let conversion = plan.conversions[read.input];
    ConvertedInput {
        account: input_entry(&plan.ranges[read.input], read),
        cannot_hold: names(conversion.lost),
        filled_in: names(conversion.invented),
        absent: names(plan.to.absent(plan.ranges[read.input].input.format, conversion)),
    }
}
