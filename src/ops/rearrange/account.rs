//! The account of an operation: what was read, what was written, what became of every record.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::average_counts::AverageCounts;
use super::plan::RearrangePlan;
use crate::engine::progress::Progress;
use crate::ops::error::OperationError;
use crate::records::account::{InputEntry, OutputEntry, input_entry, output_entry};
use crate::records::account_file::ManifestError;
use crate::records::counts::{BadCounts, Condition, Counts, ImbalanceError, equal};
use crate::records::sink::FinishedOutputs;
use crate::records::source::PartRead;
use crate::records::stream::Stream;
use crate::records::{account_check, account_file};
use crate::storage::platform;

/// The account of an operation, as it is written to `FILE.manifest.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OperationManifest {
    /// Name and version of the program.
    pub program: String,
    /// What was run.
    pub command: String,
    /// The effective settings, under the long names of the options.
    pub settings: Map<String, Value>,
    /// What was read, in order.
    pub inputs: Vec<InputEntry>,
    /// What was written.
    pub outputs: Vec<OutputEntry>,
    /// What became of the records.
    pub counts: OperationCounts,
    /// When it ended, in seconds since 1970.
    pub ended_unix_s: u64,
    /// How long it took.
    pub elapsed_s: f64,
    /// Speed.
    pub records_per_s: f64,
}

/// What became of the records. `input` = `written` + `filtered` + `bad`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OperationCounts {
    /// Records read.
    pub input: u64,
    /// Records written.
    pub written: u64,
    /// Records that were left out, and remarks in text, by the reason.
    pub filtered: BTreeMap<Condition, u64>,
    /// Records that could not be used.
    pub bad: BadCounts,
    /// Records that were written with the mean of their copies, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub averaged: Option<AverageCounts>,
}

/// An operation that is done but for its account.
pub(super) struct FinishedOperation {
    pub(super) command: &'static str,
    /// The settings that are its own.
    pub(super) settings: Vec<(&'static str, Value)>,
    pub(super) counts: Counts,
    /// Of records with the mean of their copies, if there may be any.
    pub(super) averaged: Option<AverageCounts>,
    pub(super) parts_read: Vec<PartRead>,
    pub(super) finished: FinishedOutputs,
    pub(super) started: Instant,
}

impl FinishedOperation {
    /// Gives the outputs their names if the sums are right, the manifest last.
    pub(super) fn commit(
        self,
        plan: &RearrangePlan,
        progress: &mut Progress,
    ) -> Result<OperationManifest, OperationError> {
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
        let account = OperationManifest {
            program: format!("kyokumen {}", env!("CARGO_PKG_VERSION")),
            command: command.to_owned(),
            settings: settings.map(|(name, value)| (name.to_owned(), value)).collect(),
            inputs: parts_read
                .iter()
                .map(|read| input_entry(&plan.parts[read.part], read))
                .collect(),
            outputs: finished.written().map(output_entry).collect(),
            ended_unix_s: platform::now_unix_s(),
            elapsed_s,
            records_per_s: if elapsed_s > 0.0 { counts.input as f64 / elapsed_s } else { 0.0 },
            counts: OperationCounts {
                input: counts.input,
                written: counts.kept,
                filtered: counts.filtered,
                bad: counts.bad,
                averaged,
            },
        };
        account.check_balance()?;
        match &plan.manifest {
            Some(path) => finished.commit_with(path, &account.to_json())?,
            None => finished.commit()?,
        }
        progress.finish(&shown);
        Ok(account)
    }
}

impl OperationManifest {
    /// Reads one from a file, and checks that it can be right.
    ///
    /// # Errors
    /// [`ManifestError`] if there is none, or something else.
    pub fn read(path: &Path) -> Result<Self, ManifestError> {
        let account: Self = account_file::read(path)?;
        let checked =
            account_check::check_numbers(&account.counts, &account.inputs, &account.outputs)
                .and_then(|()| account_check::check_outputs(&account.outputs))
                .and_then(|()| Ok(account.check_balance()?));
        checked.map_err(|why| ManifestError::Contradiction { path: path.to_owned(), why })?;
        Ok(account)
    }

    /// Checks that every record read is accounted for, and that the files hold what the counts say.
    ///
    /// # Errors
    /// [`ImbalanceError`] with the two sides that differ.
    pub fn check_balance(&self) -> Result<(), ImbalanceError> {
        let counts = &self.counts;
        let filtered = counts.filtered.values().sum::<u64>();
        let all = counts.written + filtered + counts.bad.all();
        equal("input", counts.input, "written + filtered + bad", all)?;
        let read = self.inputs.iter().map(|input| input.to - input.from).sum();
        equal("records read", read, "input", counts.input)?;
        if let Some(averaged) = counts.averaged {
            averaged.check(counts.written)?;
        }
        let in_files = |stream| {
            let files = self.outputs.iter().filter(|output| output.stream == stream);
            files.map(|output| output.records).sum()
        };
        equal("records in the outputs", in_files(Stream::Kept), "written", counts.written)?;
        for stream in [Stream::Quarantine, Stream::QuarantineLines] {
            let bad = counts.bad.quarantined;
            equal("records in a side file", in_files(stream), "quarantined", bad)?;
        }
        Ok(())
    }

    /// The bytes of the file.
    pub fn to_json(&self) -> Vec<u8> {
        account_file::to_json(self)
    }
}
