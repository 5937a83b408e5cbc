//! The account of a run: what was read, what was written, what became of every record.
//!
//! The only output that holds times and what varies with them; everything else depends on input and settings alone.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;

use super::counts::{Counts, Imbalance, equal};
use super::filters::RecordFilters;
use super::judge::{NODE_DEFINITION, SOLVER_VERSION, Saved, SearchSettings};
use super::plan::Plan;
use super::settings::{BadPolicy, MatedPolicy, UnknownPolicy};
use super::sink::Written;
use super::source::{Part, PartRead, Place};
use super::stream::Stream;
use crate::format::move16::Dialect;
use crate::format::{MoveCounts, Survey};

/// The account of a run, as it is written to `STEM.manifest.json`.
#[derive(Clone, Debug, Serialize)]
pub struct Manifest {
    /// Name and version of the program.
    pub program: String,
    /// What was run.
    pub command: &'static str,
    /// Which definition of a node the counts follow.
    pub node_definition: u32,
    /// Which solver gave the verdicts.
    pub solver_version: u32,
    /// The effective settings, under the long names of the options.
    pub settings: EffectiveSettings,
    /// Which part of the input this is, as in `3/10`.
    pub shard: Option<String>,
    /// What was read, in order.
    pub inputs: Vec<InputAccount>,
    /// What was written.
    pub outputs: Vec<OutputAccount>,
    /// What became of the records.
    pub counts: Counts,
    /// When the run ended, in seconds since 1970.
    pub ended_unix_s: u64,
    /// How long it took.
    pub elapsed_s: f64,
    /// Speed.
    pub records_per_s: f64,
    /// Speed of the search, all threads together: without the nodes that were saved.
    pub nodes_per_s: f64,
    /// Records that were answered because an equal position had been searched; they stand in the counts
    /// like all others, with the nodes of that search. Varies as the times do.
    pub saved: Saved,
}

/// The settings under the long names of the options.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the help of the command line describes each")]
pub struct EffectiveSettings {
    pub to: String,
    #[serde(flatten)]
    pub search: SearchSettings,
    pub mated: MatedPolicy,
    pub unknown: UnknownPolicy,
    pub on_error: BadPolicy,
    #[serde(flatten)]
    pub filters: RecordFilters,
    pub fill: String,
    pub threads: usize,
}

/// What was read of one input.
#[derive(Clone, Debug, Serialize)]
pub struct InputAccount {
    /// The input, as it was given.
    pub file: String,
    /// Format of its records.
    pub format: String,
    /// Size of the file; none for standard input.
    pub file_bytes: Option<u64>,
    /// When the file was written last, in seconds since 1970.
    pub modified_unix_s: Option<u64>,
    /// Index of the first record read.
    pub from: u64,
    /// Index behind the last record read.
    pub to: u64,
    /// Where the first byte read stands, uncompressed.
    pub offset: u64,
    /// Bytes read, uncompressed.
    pub bytes: u64,
    /// SHA-256 of these bytes; none where the command was not to compute it.
    pub sha256: Option<String>,
    /// What a sample of all of its records shows of its writer.
    pub evidence: Option<Evidence>,
}

/// What a sample of records shows of their writer; the same for every shard.
#[derive(Clone, Debug, Serialize)]
pub struct Evidence {
    /// Records looked at.
    pub sampled: u64,
    /// Records that could not be read.
    pub unreadable: u64,
    /// Order of the pieces in hand.
    pub hand_order: String,
    /// Records whose padding is not zero.
    pub padding_not_zero: u64,
    /// Records whose result holds flags.
    pub result_flags: u64,
    /// What became of the stored moves, in the encoding in which they were read.
    pub moves: MoveCounts,
    /// The encoding in which moves are read.
    pub dialect: &'static str,
    /// Moves that tell the encodings apart.
    pub telling_moves: u64,
    /// How many of them are legal in each encoding.
    pub legal_in: BTreeMap<&'static str, u64>,
}

impl Evidence {
    fn new(survey: &Survey, dialect: Dialect) -> Self {
        Self {
            sampled: survey.records,
            unreadable: survey.unreadable,
            hand_order: survey.hand_orders().to_string(),
            padding_not_zero: survey.padding_not_zero,
            result_flags: survey.result_flags,
            moves: survey.moves,
            dialect: dialect.name(),
            telling_moves: survey.telling_moves,
            legal_in: Dialect::ALL
                .into_iter()
                .map(|dialect| (dialect.name(), survey.legal_in(dialect)))
                .collect(),
        }
    }
}

/// One file written.
#[derive(Clone, Debug, Serialize)]
pub struct OutputAccount {
    /// Its name, without the folder, which may move.
    pub file: String,
    /// What it holds.
    pub stream: Stream,
    /// Records or lines in it.
    pub records: u64,
    /// Its size.
    pub bytes: u64,
    /// SHA-256 of the file; none where the command was not to compute it.
    pub sha256: Option<String>,
}

impl Manifest {
    pub(super) fn new<'a>(
        plan: &Plan,
        counts: &Counts,
        parts_read: Vec<PartRead>,
        written: impl Iterator<Item = &'a Written>,
        saved: Saved,
        elapsed: Duration,
    ) -> Self {
        let elapsed_s = elapsed.as_secs_f64();
        let per_s = |count: u64| if elapsed_s > 0.0 { count as f64 / elapsed_s } else { 0.0 };
        Self {
            program: format!("kyokumen {}", env!("CARGO_PKG_VERSION")),
            command: "filter",
            node_definition: NODE_DEFINITION,
            solver_version: SOLVER_VERSION,
            settings: effective(plan),
            shard: plan.shard.map(|shard| shard.to_string()),
            inputs: parts_read
                .into_iter()
                .map(|read| input_account(&plan.parts[read.part], &read))
                .collect(),
            outputs: written.map(output_account).collect(),
            counts: counts.clone(),
            ended_unix_s: unix_s(SystemTime::now()),
            elapsed_s,
            records_per_s: per_s(counts.input),
            nodes_per_s: per_s(counts.nodes - saved.nodes),
            saved,
        }
    }

    /// Checks that every record read is accounted for, and that the files hold what the counts say.
    ///
    /// # Errors
    /// [`Imbalance`] with the two sides that differ.
    pub fn check_balance(&self) -> Result<(), Imbalance> {
        let counts = &self.counts;
        counts.check_balance()?;
        let read = self.inputs.iter().map(|input| input.to - input.from).sum();
        equal("records read", read, "input", counts.input)?;
        let in_file: BTreeMap<Stream, u64> =
            self.outputs.iter().map(|output| (output.stream, output.records)).collect();
        let in_file = |stream| in_file.get(&stream).copied().unwrap_or(0);
        let kept = counts.kept + counts.mated.relabelled;
        equal("kept records in the file", in_file(Stream::Kept), "kept + relabelled", kept)?;
        for (stream, count) in [
            (Stream::Mated, counts.mated.split),
            (Stream::MatedLines, counts.mated.split),
            (Stream::Unknown, counts.unknown.split),
            (Stream::Quarantine, counts.bad.quarantined),
            (Stream::QuarantineLines, counts.bad.quarantined),
        ] {
            equal("records in a side file", in_file(stream), "records counted for it", count)?;
        }
        Ok(())
    }

    /// The bytes of the file.
    ///
    /// # Panics
    /// Never: everything in it has a JSON form.
    pub fn to_json(&self) -> Vec<u8> {
        let mut json = serde_json::to_vec_pretty(self)
            .expect("strings, numbers and maps with words as keys always have a JSON form");
        json.push(b'\n');
        json
    }
}

fn effective(plan: &Plan) -> EffectiveSettings {
    let settings = &plan.settings;
    EffectiveSettings {
        to: plan.to.to_string(),
        search: settings.search.clone(),
        mated: settings.mated,
        unknown: settings.unknown,
        on_error: settings.on_error,
        filters: settings.filters,
        fill: settings.fill.to_string(),
        threads: settings.threads,
    }
}

pub(super) fn input_account(part: &Part, read: &PartRead) -> InputAccount {
    let metadata = match &part.input.place {
        Place::File(path) => path.metadata().ok(),
        Place::Stdin => None,
    };
    InputAccount {
        file: part.input.name.clone(),
        format: part.input.format.name().to_owned(),
        file_bytes: metadata.as_ref().map(std::fs::Metadata::len),
        modified_unix_s: metadata.and_then(|metadata| metadata.modified().ok()).map(unix_s),
        from: part.from,
        to: part.from + read.records,
        offset: read.offset,
        bytes: read.bytes,
        sha256: read.sha256.as_ref().map(|sum| hex(sum)),
        evidence: part
            .input
            .evidence
            .as_ref()
            .map(|survey| Evidence::new(survey, part.input.dialect)),
    }
}

pub(super) fn output_account(written: &Written) -> OutputAccount {
    let name = written.path.file_name().unwrap_or(written.path.as_os_str());
    OutputAccount {
        file: Path::new(name).to_string_lossy().into_owned(),
        stream: written.stream,
        records: written.records,
        bytes: written.bytes,
        sha256: written.sha256.as_ref().map(|sum| hex(sum)),
    }
}

fn unix_s(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Bytes as hexadecimal digits, as checksums are shown.
pub fn hex(bytes: &[u8]) -> String {
    let mut digits = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        for nibble in [byte >> 4, byte & 15] {
            digits.push(char::from_digit(nibble.into(), 16).expect("a nibble is below 16"));
        }
    }
    digits
}
