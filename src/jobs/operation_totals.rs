//! Inputs and counts of an operation on archives: shuffle, dedup, split, sample, interleave.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::identity::RunDescription;
use super::manifest::{Manifest, Totals};
use crate::error::Error;
use crate::records::account::{InputEntry, InputIdentity, OutputEntry};
use crate::records::account_check::{check_numbers, check_outputs};
use crate::records::counts::{BadCounts, equal};
use crate::records::filters::Condition;
use crate::records::output_kind::OutputKind;

/// The manifest of an operation, as written to `FILE.manifest.json`.
pub type OperationManifest = Manifest<OperationTotals>;

/// Inputs and counts of an operation.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OperationTotals {
    /// The inputs read, in order.
    pub inputs: Vec<InputEntry>,
    /// Counts of the records.
    pub counts: OperationCounts,
    /// Records per second.
    pub records_per_s: f64,
}

/// Counts of the records. `input` = `written` + `filtered` + `bad`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OperationCounts {
    /// Records read.
    pub input: u64,
    /// Records written.
    pub written: u64,
    /// Records that a filter removed, and comments of text formats, by reason.
    pub filtered: BTreeMap<Condition, u64>,
    /// Bad records.
    pub bad: BadCounts,
    /// Averaged records, if averaging was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub averaged: Option<AverageCounts>,
}

/// Counts of records that were written with the averages of their copies.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct AverageCounts {
    /// Records that replace several copies.
    pub records: u64,
    /// All copies, including those records.
    pub copies: u64,
    /// Largest number of copies of one record.
    pub most_copies: u64,
    /// Records whose evaluation differs from the evaluation of the first copy.
    pub evaluations: u64,
    /// Records whose result differs from the first copy.
    pub results: u64,
    /// Records whose move differs from the first copy.
    pub moves: u64,
}

impl AverageCounts {
    /// Checks the counts against each other and against the number of written records.
    ///
    /// # Errors
    /// [`Error`] with the two sides that contradict each other.
    fn check(&self, written: u64) -> Result<(), Error> {
        let Self { records, copies, .. } = *self;
        // The left side is the limit if the right side violates it, and equal to the right side otherwise.
        equal("written records", records.min(written), "averaged records", records)?;
        for changed in [self.evaluations, self.results, self.moves] {
            equal("averaged records", changed.min(records), "changed records", changed)?;
        }
        // An averaged record replaces at least two copies.
        let least = records.saturating_mul(2);
        equal("minimum number of averaged copies", copies.max(least), "averaged copies", copies)
    }
}

impl Totals for OperationTotals {
    fn input_identities(&self) -> Vec<InputIdentity> {
        InputEntry::identities(&self.inputs)
    }

    fn check(&self, run: &RunDescription, outputs: &[OutputEntry]) -> Result<(), Error> {
        check_numbers(&self.counts, &self.inputs, outputs)?;
        check_outputs(outputs)?;
        self.check_balance(run, outputs)
    }

    fn check_balance(&self, _run: &RunDescription, outputs: &[OutputEntry]) -> Result<(), Error> {
        let counts = &self.counts;
        let filtered = counts.filtered.values().sum::<u64>();
        let all = counts.written + filtered + counts.bad.all();
        equal("input", counts.input, "written + filtered + bad", all)?;
        let read = self.inputs.iter().map(|input| input.to - input.from).sum();
        equal("records read", read, "input", counts.input)?;
        if let Some(averaged) = counts.averaged {
            averaged.check(counts.written)?;
        }
        let in_files = |kind| {
            let files = outputs.iter().filter(|output| output.kind == kind);
            files.map(|output| output.records).sum()
        };
        equal("records in the outputs", in_files(OutputKind::Kept), "written", counts.written)?;
        for kind in [OutputKind::Quarantine, OutputKind::QuarantineLines] {
            let bad = counts.bad.quarantined;
            equal("records in a quarantine file", in_files(kind), "quarantined", bad)?;
        }
        Ok(())
    }

    fn add(&mut self, _next: &Self) {
        unreachable!("operations have no shards");
    }

    fn can_have_shards(&self) -> bool {
        false
    }
}
