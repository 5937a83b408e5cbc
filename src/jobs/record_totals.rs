//! Inputs and counts of a run over the records of archives.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::checkpoint::RunProgress;
use super::identity::{DATASET, FILTER, MERGE, RELABEL, RunDescription, SOLVE};
use super::manifest::{Manifest, Totals, per_s};
use super::settings::{MatedPolicy, UnknownPolicy};
use crate::error::Error;
use crate::format::Format;
use crate::mate::judge::MemoHits;
use crate::records::account::{InputEntry, InputIdentity, OutputEntry};
use crate::records::account_check::{check_numbers, check_outputs};
use crate::records::bad_record::BadPolicy;
use crate::records::counts::ResumePoint;
use crate::records::counts::{Counts, equal};
use crate::records::format_name::FormatName;
use crate::records::output_kind::OutputKind;
use crate::storage::compression::Compression;
use crate::storage::quantity::quantity;

/// The manifest of a run over records.
pub type RecordManifest = Manifest<RecordTotals>;

/// Inputs and counts of a run over records.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RecordTotals {
    /// The inputs read, in order.
    pub inputs: Vec<InputEntry>,
    /// Counts of the records.
    pub counts: Counts,
    /// Records per second.
    pub records_per_s: f64,
    /// Nodes per second of all threads, without the nodes in `saved`.
    pub nodes_per_s: f64,
    /// Memo hits: records that needed no search because an equal position had been searched. `counts` includes these
    /// records, with the nodes of the earlier search. Varies from run to run.
    pub saved: MemoHits,
}

/// The progress of a run over records.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct RecordProgress {
    /// The resume point in the inputs, with the counts up to it.
    #[serde(rename = "place")]
    pub resume_point: ResumePoint,
    /// Memo hits.
    pub saved: MemoHits,
}

impl RunProgress for RecordProgress {
    fn done(&self) -> u64 {
        self.resume_point.counts.input
    }
}

impl RecordTotals {
    /// The totals of a run that took `elapsed_s` seconds.
    pub(crate) fn new(
        inputs: Vec<InputEntry>,
        counts: Counts,
        saved: MemoHits,
        elapsed_s: f64,
    ) -> Self {
        let mut totals = Self { inputs, counts, records_per_s: 0.0, nodes_per_s: 0.0, saved };
        totals.set_rates(elapsed_s);
        totals
    }

    fn set_rates(&mut self, elapsed_s: f64) {
        self.records_per_s = per_s(self.counts.input, elapsed_s);
        let nodes = self.counts.nodes.saturating_sub(self.saved.nodes);
        self.nodes_per_s = per_s(nodes, elapsed_s);
    }

    /// Number of records or lines that an output must have according to the counts.
    pub(crate) fn records_of(&self, kind: OutputKind, command: &str) -> u64 {
        let counts = &self.counts;
        match kind {
            OutputKind::Kept => counts.kept + counts.mated.relabelled + counts.evaluations.all(),
            OutputKind::Mated => counts.mated.split,
            OutputKind::MatedLines => counts.mated.all(),
            OutputKind::Unknown => counts.unknown.split,
            // A table has a row for unknown positions too, and no list of them.
            OutputKind::UnknownLines if counts.rows > 0 || writes_rows(command) => 0,
            OutputKind::UnknownLines => counts.verdicts.unknown.values().sum(),
            OutputKind::Rows => counts.rows,
            OutputKind::Proofs if command == SOLVE => counts.verdicts.win + counts.verdicts.loss,
            OutputKind::Proofs => 0,
            OutputKind::Quarantine | OutputKind::QuarantineLines => counts.bad.quarantined,
        }
    }
}

impl Totals for RecordTotals {
    fn input_identities(&self) -> Vec<InputIdentity> {
        InputEntry::identities(&self.inputs)
    }

    fn check(&self, run: &RunDescription, outputs: &[OutputEntry]) -> Result<(), Error> {
        check_numbers(&self.counts, &self.inputs, outputs)?;
        self.inputs.iter().try_for_each(check_input)?;
        check_outputs(outputs)?;
        check_output_kinds(run, outputs)?;
        self.check_balance(run, outputs)?;
        if matches!(&*run.command, FILTER | RELABEL) {
            outputs.iter().try_for_each(check_size)?;
        }
        Ok(())
    }

    fn check_balance(&self, run: &RunDescription, outputs: &[OutputEntry]) -> Result<(), Error> {
        self.counts.check_balance()?;
        let read = self.inputs.iter().map(|input| input.to - input.from).sum();
        equal("records read", read, "input", self.counts.input)?;
        let in_file: BTreeMap<OutputKind, u64> =
            outputs.iter().map(|output| (output.kind, output.records)).collect();
        for kind in OutputKind::ALL {
            let in_file = in_file.get(&kind).copied();
            // A merge writes only one of the outputs.
            if in_file.is_some() || run.command != MERGE {
                let (in_file, counted) =
                    (in_file.unwrap_or(0), self.records_of(kind, &run.command));
                equal("records in an output", in_file, "records counted for it", counted)?;
            }
        }
        Ok(())
    }

    fn add(&mut self, next: &Self) {
        for (input, next) in self.inputs.iter_mut().zip(&next.inputs) {
            if input.from == input.to {
                input.offset = next.offset;
            }
            input.to = next.to;
            input.bytes = input.bytes.saturating_add(next.bytes);
        }
        self.counts.add(&next.counts);
        self.saved.add(next.saved);
    }

    fn finish_merge(&mut self, elapsed_s: f64) {
        // Each shard has only the checksum of its own range.
        self.inputs.iter_mut().for_each(|input| input.sha256 = None);
        self.set_rates(elapsed_s);
    }

    fn is_from_start(&self) -> bool {
        self.inputs.iter().all(|input| input.from == 0)
    }
}

/// The outputs that a command writes, in the order of [`OutputKind::ALL`].
pub(crate) fn output_kinds(
    command: &str,
    mated: MatedPolicy,
    unknown: UnknownPolicy,
    on_error: BadPolicy,
) -> impl Iterator<Item = OutputKind> {
    let (writes_rows, divides_by_verdict) = (writes_rows(command), divides_by_verdict(command));
    let writes_proofs = command == SOLVE;
    OutputKind::ALL.into_iter().filter(move |kind| match kind {
        OutputKind::Kept => !writes_rows,
        OutputKind::MatedLines | OutputKind::UnknownLines => divides_by_verdict,
        OutputKind::Mated => divides_by_verdict && mated == MatedPolicy::Split,
        OutputKind::Unknown => divides_by_verdict && unknown == UnknownPolicy::Split,
        OutputKind::Rows => writes_rows,
        OutputKind::Proofs => writes_proofs,
        OutputKind::Quarantine | OutputKind::QuarantineLines => on_error == BadPolicy::Quarantine,
    })
}

/// Whether a command writes a row for each record.
fn writes_rows(command: &str) -> bool {
    command == DATASET || command == SOLVE
}

/// Whether a command divides records by verdict.
fn divides_by_verdict(command: &str) -> bool {
    !writes_rows(command) && command != RELABEL
}

/// Checks that the manifest lists exactly the outputs that the settings request, each once. A merge has one output.
fn check_output_kinds(run: &RunDescription, outputs: &[OutputEntry]) -> Result<(), Error> {
    if run.command == MERGE {
        let found = outputs.len();
        let error = Error::number_of_outputs(found, "one");
        return if found == 1 { Ok(()) } else { Err(error) };
    }
    let divides_by_verdict = divides_by_verdict(&run.command);
    let settings = &run.settings;
    let mated =
        if divides_by_verdict { setting(settings, "mated")? } else { MatedPolicy::default() };
    let unknown =
        if divides_by_verdict { setting(settings, "unknown")? } else { UnknownPolicy::default() };
    let expected: Vec<OutputKind> =
        output_kinds(&run.command, mated, unknown, setting(settings, "on-error")?).collect();
    for kind in OutputKind::ALL {
        let expected = usize::from(expected.contains(&kind));
        let found = outputs.iter().filter(|output| output.kind == kind).count();
        if found != expected {
            return Err(Error::invalid(format!(
                "it has {} of kind {kind}, but its settings require {expected}",
                quantity(found as u64, "output")
            )));
        }
    }
    Ok(())
}

fn setting<T: DeserializeOwned>(
    settings: &Map<String, Value>,
    setting: &'static str,
) -> Result<T, Error> {
    let value = settings.get(setting).cloned().unwrap_or_default();
    serde_json::from_value(value.clone())
        .map_err(|_| Error::invalid(format!("settings.{setting} is {value}")))
}

/// Checks the number of records against the number of bytes, if all records have the same size.
fn check_input(input: &InputEntry) -> Result<(), Error> {
    let InputEntry { identity: InputIdentity { file, format, .. }, from, to, bytes, .. } = input;
    let Some(format) = Format::from_name(format) else {
        return Err(Error::invalid(format!("the format of {file} is unknown: {format:?}")));
    };
    let records = to - from;
    match format.record_len() {
        Some(len) if bytes.div_ceil(len as u64) != records => {
            Err(impossible_size(file, format, records, *bytes))
        }
        _ => Ok(()),
    }
}

fn impossible_size(file: &str, format: Format, records: u64, bytes: u64) -> Error {
    let (records, bytes) = (quantity(records, "record"), quantity(bytes, "byte"));
    Error::invalid(format!("{file} cannot hold {records} of {format} in {bytes}"))
}

/// Like [`check_input`] for an uncompressed output. Its format is determined by its name.
fn check_size(output: &OutputEntry) -> Result<(), Error> {
    let OutputEntry { file, kind, records, bytes, .. } = output;
    let name = FormatName::from_file_name(file).filter(|_| kind.holds_records());
    let Some(FormatName { format, compression: Compression::None }) = name else { return Ok(()) };
    match format.record_len() {
        Some(len) if records.checked_mul(len as u64) != Some(*bytes) => {
            Err(impossible_size(file, format, *records, *bytes))
        }
        _ => Ok(()),
    }
}
