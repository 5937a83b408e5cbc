//! The report of a conversion: records read and written, lost and filled-in fields, warnings and bad records.
//!
//! The sums are checked before the output gets its final name, so a lost record is detected.

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

/// The report of a conversion.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ConvertReport {
    /// Name and version of the program.
    pub program: String,
    /// Name of the command.
    pub command: &'static str,
    /// Format of the output.
    pub to: String,
    /// Values for missing fields, as in `eval=0,ply=0`.
    pub fill: String,
    /// Whether records were re-encoded even if the format stayed the same.
    pub canonical: bool,
    /// How single records were written. `None` if the output does not hold games.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub make_games: Option<MakeGames>,
    /// Scales of the evaluations, as in `600:361`, if they were rescaled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eval_scale: Option<String>,
    /// Whether the board was mirrored left to right.
    pub mirror: bool,
    /// Memory for deduplication. `None` if equal positions were kept.
    pub dedup: Option<Memory>,
    /// Filters that selected the records.
    pub filters: RecordFilters,
    /// The problems that `warnings` counts.
    pub check: Check,
    /// Whether any loss was an error.
    pub strict: bool,
    /// The inputs, in order.
    pub inputs: Vec<ConvertedInput>,
    /// The outputs.
    pub outputs: Vec<OutputEntry>,
    /// Counts of records.
    pub counts: RecordCounts,
    /// Duration in seconds.
    pub elapsed_s: f64,
    /// Records read per second.
    pub records_per_s: f64,
}

/// One input, and the effects of the conversion that follow from its format.
#[derive(Clone, Debug, Serialize)]
pub struct ConvertedInput {
    /// The input.
    #[serde(flatten)]
    pub entry: InputEntry,
    /// Fields of the input format that the output format cannot store.
    pub cannot_hold: Vec<&'static str>,
    /// Fields of the output format that the input format lacks and that are filled in.
    pub filled_in: Vec<&'static str>,
    /// Array fields that the input format lacks and that stay empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<&'static str>,
}

/// Counts of records of a conversion. `input` = `written` + `filtered` + `bad`.
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
    /// Filtered records by the first condition that failed.
    pub filtered: BTreeMap<Condition, u64>,
    /// Bad records.
    pub bad: BadCounts,
    /// Written records with unusual content, by kind.
    pub warnings: BTreeMap<String, u64>,
    /// Records that lost a field because the output format cannot store it, by field.
    pub lost: BTreeMap<String, u64>,
    /// Information about games, other than their records, that the output format cannot store, by kind: `headers`,
    /// `comments`, `times`, `variations`, `bookmarks`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub lost_info: BTreeMap<String, u64>,
    /// Records with a missing field that was filled in, by field.
    #[serde(rename = "invented")]
    pub filled_in: BTreeMap<String, u64>,
    /// Records that lack an array field, by field. A field that all records lack has no array.
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
            eval_scale: plan.settings.eval_scale.map(|scale| scale.to_string()),
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
                filled_in: counts.filled_in.clone(),
                missing: counts.missing.clone(),
            },
            elapsed_s,
            records_per_s: if elapsed_s > 0.0 { counts.input as f64 / elapsed_s } else { 0.0 },
        }
    }

    /// Checks that every record read is counted once and that the outputs contain the counted number of records.
    ///
    /// # Errors
    /// [`Error`] with the two sums that differ.
    pub fn check_balance(&self) -> Result<(), Error> {
        let counts = &self.counts;
        let filtered = counts.filtered.values().sum::<u64>();
        let bad = counts.bad.all();
        let all = counts.written + filtered + bad;
        equal("input", counts.input, "written + filtered + bad", all)?;
        let read = self.inputs.iter().map(|input| input.entry.to - input.entry.from).sum();
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
        entry: input_entry(&plan.ranges[read.input], read),
        cannot_hold: names(conversion.lost),
        filled_in: names(conversion.filled_in),
        absent: names(plan.to.absent(plan.ranges[read.input].input.format, conversion)),
    }
}
