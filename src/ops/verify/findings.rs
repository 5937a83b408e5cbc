//! Findings about the records of a file, with counts and examples.
//!
//! The examples are the first records with the finding, in file order.

use std::collections::BTreeMap;

use serde::Serialize;

use super::WRONG_NAME;
use super::plan::VerifyPlan;
use crate::error::Error;
use crate::records::account::{OutputEntry, output_entry};
use crate::records::counts::{Counts, equal};
use crate::records::output_kind::OutputKind;
use crate::records::sink::WrittenOutput;
use crate::records::source::RangeRead;

/// Maximum number of examples per finding.
const MAX_EXAMPLES: usize = 3;

/// Severity of a finding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Level {
    /// The record cannot be used, or the file contradicts its name or frame table.
    Error,
    /// The record can be read but is unusual.
    Warning,
}

/// A record with a finding.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Example {
    /// Number of the record in the file, from 0.
    pub record: u64,
    /// Offset of the record, or of its game, in the uncompressed file.
    pub byte: u64,
    /// Details that the name of the finding does not contain. May be empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub what: String,
}

/// A kind of problem found in records.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// Severity.
    pub level: Level,
    /// Name of the finding. Names are stable across versions.
    pub name: &'static str,
    /// Number of records with the finding.
    pub records: u64,
    /// The first of these records.
    pub examples: Vec<Example>,
}

/// All findings of a file or of some of its records.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Findings(BTreeMap<(Level, &'static str), Finding>);

impl Findings {
    pub(super) fn count(
        &mut self,
        level: Level,
        name: &'static str,
        example: impl FnOnce() -> Example,
    ) {
        let finding = self.entry(level, name);
        finding.records += 1;
        if finding.examples.len() < MAX_EXAMPLES {
            finding.examples.push(example());
        }
    }

    /// Adds the findings of later records.
    pub(super) fn add(&mut self, others: Self) {
        for ((level, name), other) in others.0 {
            let finding = self.entry(level, name);
            finding.records += other.records;
            finding.examples.extend(other.examples);
            finding.examples.truncate(MAX_EXAMPLES);
        }
    }

    fn entry(&mut self, level: Level, name: &'static str) -> &mut Finding {
        let none = || Finding { level, name, records: 0, examples: Vec::new() };
        self.0.entry((level, name)).or_insert_with(none)
    }

    /// Errors first, then warnings, each sorted by name.
    fn into_list(self) -> Vec<Finding> {
        self.0.into_values().collect()
    }
}

/// The report about a file. `records` = `good` + `bad` + `comments`.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct VerifyReport {
    /// The path as given on the command line.
    pub file: String,
    /// Format of the records.
    pub format: &'static str,
    /// Number of records.
    pub records: u64,
    /// Number of usable records.
    pub good: u64,
    /// Number of bad records.
    pub bad: u64,
    /// Number of comment lines in text.
    pub comments: u64,
    /// The findings, errors first.
    pub findings: Vec<Finding>,
    /// The outputs: good records, bad records, and the reasons. Formats with games are written in whole games.
    pub outputs: Vec<OutputEntry>,
}

impl VerifyReport {
    /// Appends advice to the finding [`WRONG_NAME`]: the option for the [`remedy`](VerifyPlan::remedy).
    pub fn advise(&mut self, advice: &str) {
        let wrong_names = self.findings.iter_mut().filter(|finding| finding.name == WRONG_NAME);
        for example in wrong_names.flat_map(|finding| &mut finding.examples) {
            example.what += "; ";
            example.what += advice;
        }
    }

    pub(super) fn new<'a>(
        plan: &VerifyPlan,
        counts: &Counts,
        ranges_read: &[RangeRead],
        findings: Findings,
        written: impl Iterator<Item = &'a WrittenOutput>,
    ) -> Self {
        Self {
            file: plan.range.input.name.clone(),
            format: plan.range.input.format.name(),
            records: ranges_read.iter().map(|read| read.records).sum(),
            good: counts.kept,
            bad: counts.bad_records(),
            comments: counts.filtered.values().sum(),
            findings: findings.into_list(),
            outputs: written.map(output_entry).collect(),
        }
    }

    /// Checks that every record read is counted once and was written to one of the outputs.
    ///
    /// # Errors
    /// [`Error`] with the two sums that differ.
    pub fn check_balance(&self) -> Result<(), Error> {
        let counted = self.good + self.bad + self.comments;
        equal("records read", self.records, "good + bad + comments", counted)?;
        if self.outputs.is_empty() {
            return Ok(());
        }
        let outputs =
            self.outputs.iter().filter(|output| output.kind != OutputKind::QuarantineLines);
        let written = outputs.map(|output| output.records).sum();
        equal("records read", self.records, "records written", written)
    }
}
