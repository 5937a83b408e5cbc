//! The end of an operation: its sums are checked, and its outputs get their names.

use std::time::Instant;

use serde_json::Value;

use super::plan::RearrangePlan;
use crate::engine::progress::Progress;
use crate::error::Error;
use crate::jobs::identity::RunDescription;
use crate::jobs::manifest::{Manifest, per_s};
use crate::jobs::operation_totals::{
    AverageCounts, OperationCounts, OperationManifest, OperationTotals,
};
use crate::records::account::{input_entry, output_entry};
use crate::records::counts::Counts;
use crate::records::sink::FinishedOutputs;
use crate::records::source::PartRead;
use crate::storage::platform;

/// A completed operation without its manifest.
pub(super) struct FinishedOperation {
    pub(super) command: &'static str,
    /// Settings specific to the command.
    pub(super) settings: Vec<(&'static str, Value)>,
    pub(super) counts: Counts,
    /// None unless records were averaged.
    pub(super) averaged: Option<AverageCounts>,
    pub(super) parts_read: Vec<PartRead>,
    pub(super) finished: FinishedOutputs,
    pub(super) started: Instant,
}

impl FinishedOperation {
    /// Checks the counts and moves the outputs to their final names, the manifest last.
    pub(super) fn commit(
        self,
        plan: &RearrangePlan,
        progress: &mut Progress,
    ) -> Result<OperationManifest, Error> {
        let elapsed_s = self.started.elapsed().as_secs_f64();
        let Self { command, counts, averaged, parts_read, finished, .. } = self;
        let shown = counts.clone();
        let common = [
            ("to", plan.to.to_string().into()),
            ("on-error", serde_json::to_value(plan.on_error).unwrap_or_default()),
            ("memory", plan.resources.memory.to_string().into()),
            ("threads", plan.resources.threads.into()),
        ];
        let settings = self.settings.into_iter().chain(common);
        let settings = settings.map(|(name, value)| (name.to_owned(), value)).collect();
        let input = |read: &PartRead| input_entry(&plan.parts[read.part], read);
        let manifest = Manifest {
            run: RunDescription::new(command, settings, None),
            totals: OperationTotals {
                inputs: parts_read.iter().map(input).collect(),
                records_per_s: per_s(counts.input, elapsed_s),
                counts: OperationCounts {
                    input: counts.input,
                    written: counts.kept,
                    filtered: counts.filtered,
                    bad: counts.bad,
                    averaged,
                },
            },
            outputs: finished.written().map(output_entry).collect(),
            ended_unix_s: platform::now_unix_s(),
            elapsed_s,
            resumed_from: Vec::new(),
            parents: Vec::new(),
        };
        manifest.check_balance()?;
        match &plan.manifest {
            Some(path) => finished.commit_with(path, &manifest.to_json())?,
            None => finished.commit()?,
        }
        progress.finish(&shown);
        Ok(manifest)
    }
}
