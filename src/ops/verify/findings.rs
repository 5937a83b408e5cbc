//! What was found out about the records of a file, and how often.
//!
//! The first records of each finding are named, in the order of the file.

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

/// Examples per finding.
const MAX_EXAMPLES: usize = 3;

/// How bad a finding is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Level {
    /// The record cannot be used, or what the file says of itself.
    Error,
    /// The record can be read and is unusual.
    Warning,
}

/// A record of which something was found out.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Example {
    /// Number of the record within the file, from 0.
    pub record: u64,
    /// Where it begins, or the game that it is part of, uncompressed.
    pub byte: u64,
    /// What exactly is wrong, if the name of the finding does not say it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub what: String,
}

/// What was found out about some records.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// How bad it is.
    pub level: Level,
    /// Its name, the same in all reports and versions.
    pub name: &'static str,
    /// How many records it is true of.
    pub records: u64,
    /// The first of them.
    pub examples: Vec<Example>,
}

/// All findings of a file or a part of it.
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

    /// `others` must belong to later records.
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

    /// Errors first, each level by name.
    fn into_list(self) -> Vec<Finding> {
        self.0.into_values().collect()
    }
}

/// The account of a file. `records` = `good` + `bad` + `comments`.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct VerifyReport {
    /// The file, as it was given.
    pub file: String,
    /// Format of its records.
    pub format: &'static str,
    /// Records in it.
    pub records: u64,
    /// Those that can be used.
    pub good: u64,
    /// Those that cannot.
    pub bad: u64,
    /// Lines of text that are comments.
    pub comments: u64,
    /// What was found, errors first.
    pub findings: Vec<Finding>,
    /// What was written: the good, the bad, and what is wrong with each of these. Where a format holds
    /// games, whole games.
    pub outputs: Vec<OutputEntry>,
}

impl VerifyReport {
    /// Appends advice to the finding [`WRONG_NAME`]: the option for the [`remedy`](VerifyPlan::remedy) of the plan.
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
            file: plan.part.input.name.clone(),
            format: plan.part.input.format.name(),
            records: ranges_read.iter().map(|read| read.records).sum(),
            good: counts.kept,
            bad: counts.bad_records(),
            comments: counts.filtered.values().sum(),
            findings: findings.into_list(),
            outputs: written.map(output_entry).collect(),
        }
    }

    /// Checks that every record read is accounted for, and stands in one of the files.
    ///
    /// # Errors
    /// [`Error`] with the two sides that differ.
    pub fn check_balance(&self) -> Result<(), Error> {
        let judged = self.good + self.bad + self.comments;
        equal("records read", self.records, "good + bad + comments", judged)?;
        if self.outputs.is_empty() {
            return Ok(());
        }
        let sides = self.outputs.iter().filter(|output| output.kind != OutputKind::QuarantineLines);
        let written = sides.map(|output| output.records).sum();
        equal("records read", self.records, "records written", written)
    }
}
