//! The manifest of a run: its inputs, settings, counts and outputs. The counts account for every record or game.
//!
//! Only manifests contain times. All other outputs depend only on the inputs and the settings.

use std::io;
use std::path::Path;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::any_totals::AnyTotals;
use super::identity::{DATASET, FILTER, Identity, MERGE, RELABEL, RunDescription, SELFPLAY, SOLVE};
use super::run_name::RunName;
use crate::error::Error;
use crate::records::account::{InputIdentity, OutputEntry, read, to_json};
use crate::storage::checksum::Sha256Sum;
use crate::storage::path_text::path_of;
use crate::storage::{files, platform};

/// The manifest of a run, as written to `STEM.manifest.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "T: Totals")]
#[non_exhaustive]
pub struct Manifest<T> {
    /// Program, command and settings.
    #[serde(flatten)]
    pub run: RunDescription,
    /// Inputs and counts.
    #[serde(flatten)]
    pub totals: T,
    /// The outputs.
    pub outputs: Vec<OutputEntry>,
    /// End of the run, in seconds since 1970.
    pub ended_unix_s: u64,
    /// Duration of all processes of the run, in seconds.
    pub elapsed_s: f64,
    /// Records or games after which another process resumed the run, one number for each interruption.
    pub resumed_from: Vec<u64>,
    /// The manifests of merged shards, or of the run whose unknown records were searched again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parents: Vec<ParentManifest>,
}

/// The manifest of a run of any kind.
pub type RunManifest = Manifest<AnyTotals>;

/// Inputs and counts of a run.
pub trait Totals: Clone + Serialize + DeserializeOwned {
    /// The identities of the inputs.
    fn input_identities(&self) -> Vec<InputIdentity>;

    /// Checks that inputs, counts and outputs are possible for this run, and that the counts add up.
    ///
    /// # Errors
    /// [`Error`] with the first contradiction.
    fn check(&self, run: &RunDescription, outputs: &[OutputEntry]) -> Result<(), Error>;

    /// Checks that the counts add up.
    ///
    /// # Errors
    /// [`Error`] with the first two numbers that should be equal but differ.
    fn check_balance(&self, run: &RunDescription, outputs: &[OutputEntry]) -> Result<(), Error>;

    /// Adds the totals of the next shard.
    fn add(&mut self, next: &Self);

    /// Completes the totals of merged shards: computes the rates again and removes checksums of single shards.
    fn finish_merge(&mut self, _elapsed_s: f64) {}

    /// Whether the outputs are named after the run and its shard.
    fn can_have_shards(&self) -> bool {
        true
    }

    /// Whether all inputs were read from their start, so that a run without a shard is possible.
    fn is_from_start(&self) -> bool {
        true
    }
}

/// A manifest that another manifest refers to.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ParentManifest {
    /// Its file name without the folder.
    pub file: String,
    /// Its SHA-256.
    pub sha256: Sha256Sum,
}

/// The entries that the manifests of all commands have.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct ManifestHead {
    /// The command.
    pub command: String,
    /// The outputs.
    #[serde(default)]
    pub outputs: Vec<OutputEntry>,
}

impl ManifestHead {
    /// Reads the entries from a file.
    ///
    /// # Errors
    /// [`Error`] if the file cannot be read or is not a manifest.
    pub fn read(path: &Path) -> Result<Self, Error> {
        read(path)
    }

    /// Whether the command can have shards.
    pub fn can_have_shards(&self) -> bool {
        matches!(&*self.command, FILTER | DATASET | RELABEL | SOLVE | SELFPLAY | MERGE)
    }
}

impl<T: Totals> Manifest<T> {
    /// Reads a manifest from a file and [checks](Self::check) it.
    ///
    /// # Errors
    /// [`Error`] if the file cannot be read, is not a manifest or contradicts itself.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let manifest = Self::read_unchecked(path)?;
        let checked = manifest.check(RunName::from_manifest_path(path).as_ref());
        checked.map_err(|why| {
            let path = path.display();
            Error::invalid(format!("{path} was changed and contradicts itself: {why}"))
                .in_file(&path)
        })?;
        Ok(manifest)
    }

    /// Reads a manifest from a file without checking it.
    ///
    /// # Errors
    /// [`Error`] if the file cannot be read or is not a manifest.
    pub fn read_unchecked(path: &Path) -> Result<Self, Error> {
        read(path)
    }

    /// Reads a manifest if the file exists, and [checks](Self::check) it.
    pub(crate) fn read_if_there(path: &Path) -> Result<Option<Self>, Error> {
        match Self::read(path) {
            Err(error) if error.is_not_found() => Ok(None),
            manifest => manifest.map(Some),
        }
    }

    /// Checks that the outputs are in the folder of the manifest at `path`, with the sizes that it states.
    pub(crate) fn check_files(&self, path: &Path) -> Result<(), Error> {
        for output in &self.outputs {
            let output_path = platform::folder_of(path).join(path_of(&output.file));
            let bytes = match files::state(&output_path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                Err(source) => return Err(Error::io("access", &output_path, source)),
                Ok(state) => Some(state.bytes),
            };
            if bytes != Some(output.bytes) {
                return Err(Error::output_differs_from_manifest(&output_path, path));
            }
        }
        Ok(())
    }

    /// Checks that the manifest does not contradict itself, and that shard and outputs match its name, if given.
    ///
    /// # Errors
    /// [`Error`] with the first contradiction.
    pub fn check(&self, name: Option<&RunName>) -> Result<(), Error> {
        self.totals.check(&self.run, &self.outputs)?;
        match name.filter(|_| self.totals.can_have_shards()) {
            Some(name) => self.named(name).check(&self.run, &self.outputs),
            None => Ok(()),
        }
    }

    /// Checks that every record or game is accounted for.
    ///
    /// # Errors
    /// [`Error`] with the first two numbers that should be equal but differ.
    pub fn check_balance(&self) -> Result<(), Error> {
        self.totals.check_balance(&self.run, &self.outputs)
    }

    /// Interprets the name of this manifest. A name that looks like the name of a shard belongs to a whole run if the
    /// manifest states no shard.
    pub(crate) fn named(&self, name: &RunName) -> RunName {
        let is_whole = self.run.shard.is_none() && self.totals.is_from_start();
        if is_whole { name.whole() } else { name.clone() }
    }

    /// The identity of the run, which determines the bytes of the outputs.
    pub fn identity(&self) -> Identity {
        Identity { run: self.run.clone(), inputs: self.totals.input_identities() }
    }

    /// Adds the totals of the next shard.
    pub(crate) fn add(&mut self, next: &Self) {
        self.run.join_reproducible(next.run.clone());
        self.totals.add(&next.totals);
        self.elapsed_s += next.elapsed_s;
    }

    /// The manifest of a merge, after all shards were [added](Self::add). `elapsed` is the duration of the merge.
    pub(crate) fn into_merged(
        mut self,
        outputs: Vec<OutputEntry>,
        parents: Vec<ParentManifest>,
        elapsed: Duration,
    ) -> Self {
        let elapsed_s = self.elapsed_s + elapsed.as_secs_f64();
        self.totals.finish_merge(elapsed_s);
        Self {
            run: self.run.into_merged(),
            outputs,
            ended_unix_s: platform::now_unix_s(),
            elapsed_s,
            resumed_from: Vec::new(),
            parents,
            ..self
        }
    }

    /// The content of the file.
    pub fn to_json(&self) -> Vec<u8> {
        to_json(self)
    }
}

/// Events per second; 0 if no time has elapsed.
pub(crate) fn per_s(count: u64, elapsed_s: f64) -> f64 {
    if elapsed_s > 0.0 { count as f64 / elapsed_s } else { 0.0 }
}
