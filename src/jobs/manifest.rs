//! The account of a run: what was read, what was written, what became of every record.
//!
//! The only output that holds times and what varies with them; everything else depends on input and settings alone.

mod check;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use super::identity::{DATASET, FILTER, Identity, MERGE, RELABEL, RunDescription, SELFPLAY};
use super::run_name::RunName;
use crate::mate::judge::MemoHits;
use crate::records::account::{InputEntry, OutputEntry};
use crate::records::account_file::{ManifestError, read, to_json};
use crate::records::counts::{Counts, ImbalanceError, equal};
use crate::records::stream::Stream;
use crate::storage::checksum::Sha256Sum;
use crate::storage::platform;

/// The account of a run, as it is written to `STEM.manifest.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Manifest {
    /// What was run.
    #[serde(flatten)]
    pub run: RunDescription,
    /// What was read, in order.
    pub inputs: Vec<InputEntry>,
    /// What was written.
    pub outputs: Vec<OutputEntry>,
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
    pub saved: MemoHits,
    /// Records behind which another process went on, one for each time the run was interrupted. Varies as
    /// the times do.
    pub resumed_from: Vec<u64>,
    /// The manifests of the shards whose outputs were joined.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parents: Vec<ParentManifest>,
}

/// A manifest of which another one tells the sum.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ParentManifest {
    /// Its name, without the folder.
    pub file: String,
    /// Its SHA-256.
    pub sha256: Sha256Sum,
}

/// What every manifest says, whatever was run.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct ManifestHead {
    /// What was run.
    pub command: String,
    /// What was written.
    #[serde(default)]
    pub outputs: Vec<OutputEntry>,
    /// There if it tells of games, whatever it says of them.
    games: Option<IgnoredAny>,
}

impl ManifestHead {
    /// Reads that of a file.
    ///
    /// # Errors
    /// [`ManifestError`] if there is none, or something else.
    pub fn read(path: &Path) -> Result<Self, ManifestError> {
        read(path)
    }

    /// Whether it is that of a run that has shards: one that searched, evaluated or played, or of shards that were
    /// joined.
    pub fn is_of_run(&self) -> bool {
        matches!(&*self.command, FILTER | DATASET | RELABEL | SELFPLAY | MERGE)
    }

    /// Whether it is that of games.
    pub(crate) const fn is_of_games(&self) -> bool {
        self.games.is_some()
    }
}

impl Manifest {
    /// Reads one from a file, and [checks](Self::check) it.
    ///
    /// # Errors
    /// [`ManifestError`] if there is none, or something else.
    pub fn read(path: &Path) -> Result<Self, ManifestError> {
        let manifest = Self::read_unchecked(path)?;
        let checked = manifest.check(RunName::of_manifest(path).as_ref());
        checked.map_err(|why| ManifestError::Contradiction { path: path.to_owned(), why })?;
        Ok(manifest)
    }

    /// Reads one from a file, whatever it says.
    ///
    /// # Errors
    /// [`ManifestError`] if there is none, or something else.
    pub fn read_unchecked(path: &Path) -> Result<Self, ManifestError> {
        read(path)
    }

    /// The run name in a file name, in view of this manifest. Without a shard, and with inputs read from record 0, the
    /// run has no shards.
    pub(crate) fn named(&self, name: &RunName) -> RunName {
        let is_whole = self.run.shard.is_none() && self.inputs.iter().all(|input| input.from == 0);
        if is_whole { name.whole() } else { name.clone() }
    }

    /// What the run was.
    pub fn identity(&self) -> Identity {
        let inputs = self.inputs.iter().map(|input| input.identity.clone());
        Identity { run: self.run.clone(), inputs: inputs.collect() }
    }

    /// Adds the account of the next shard.
    pub(crate) fn add(&mut self, next: &Self) {
        for (input, next) in self.inputs.iter_mut().zip(&next.inputs) {
            if input.from == input.to {
                input.offset = next.offset;
            }
            input.to = next.to;
            input.bytes = input.bytes.saturating_add(next.bytes);
        }
        self.run.join_reproducible(next.run.clone());
        self.counts.add(&next.counts);
        self.elapsed_s += next.elapsed_s;
        self.saved.add(next.saved);
    }

    /// The account of shards together, whose outputs were joined. The times are those that they took, one
    /// after the other, and joining.
    pub(crate) fn into_merged(
        self,
        outputs: Vec<OutputEntry>,
        parents: Vec<ParentManifest>,
        elapsed: Duration,
    ) -> Self {
        let elapsed_s = self.elapsed_s + elapsed.as_secs_f64();
        let nodes = self.counts.nodes.saturating_sub(self.saved.nodes);
        Self {
            run: self.run.into_merged(),
            outputs,
            ended_unix_s: platform::now_unix_s(),
            elapsed_s,
            records_per_s: per_s(self.counts.input, elapsed_s),
            nodes_per_s: per_s(nodes, elapsed_s),
            resumed_from: Vec::new(),
            parents,
            ..self
        }
    }

    /// Checks that every record read is accounted for, and that the files hold what the counts say.
    ///
    /// # Errors
    /// [`ImbalanceError`] with the two sides that differ.
    pub fn check_balance(&self) -> Result<(), ImbalanceError> {
        self.counts.check_balance()?;
        let read = self.inputs.iter().map(|input| input.to - input.from).sum();
        equal("records read", read, "input", self.counts.input)?;
        let in_file: BTreeMap<Stream, u64> =
            self.outputs.iter().map(|output| (output.stream, output.records)).collect();
        for stream in Stream::ALL {
            let (in_file, counted) = (in_file.get(&stream).copied(), self.records_of(stream));
            // Of shards that were joined one output was written.
            if in_file.is_some() || self.run.command != MERGE {
                equal(
                    "records in an output",
                    in_file.unwrap_or(0),
                    "records counted for it",
                    counted,
                )?;
            }
        }
        Ok(())
    }

    /// How many records or lines an output holds, going by the counts.
    pub(crate) fn records_of(&self, stream: Stream) -> u64 {
        let counts = &self.counts;
        match stream {
            Stream::Kept => counts.kept + counts.mated.relabelled + counts.evaluations.all(),
            Stream::Mated => counts.mated.split,
            Stream::MatedLines => counts.mated.all(),
            Stream::Unknown => counts.unknown.split,
            // In a table the unknown are rows like all others.
            Stream::UnknownLines if counts.rows > 0 || self.run.command == DATASET => 0,
            Stream::UnknownLines => counts.verdicts.unknown.values().sum(),
            Stream::Rows => counts.rows,
            Stream::Quarantine | Stream::QuarantineLines => counts.bad.quarantined,
        }
    }

    /// The bytes of the file.
    pub fn to_json(&self) -> Vec<u8> {
        to_json(self)
    }
}

pub(crate) fn per_s(count: u64, elapsed_s: f64) -> f64 {
    if elapsed_s > 0.0 { count as f64 / elapsed_s } else { 0.0 }
}
