//! The files of a run: outputs, manifest, checkpoint and lock.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::run_name::{CHECKPOINT_SUFFIX, LOCK_SUFFIX, RunName};
use super::staging::Staging;
use crate::error::{Error, Remedy};
use crate::records::account::MANIFEST_SUFFIX;
use crate::records::claims::{FileClaim, FileClaims, check_absence, check_twice};
use crate::records::opening::check_folder;
use crate::records::shard::Shard;
use crate::records::shard_choice::ShardChoice;
use crate::records::sink::OutputPlan;
use crate::records::source::Input;
#[cfg(feature = "cli")]
use crate::storage::location::location;
use crate::storage::path_text::path_of;
#[cfg(feature = "cli")]
use crate::storage::value_error::seconds;

/// Default time between two checkpoints.
pub const CHECKPOINT_EVERY: Duration = Duration::from_secs(10);

/// Where a run writes, which part of the work it does, and whether it resumes.
///
/// The one definition of these options: a field here is the option of the command line and the entry of configuration
/// files.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct RunRequest {
    /// Folder of the outputs, made if it is not there, or its URL
    #[cfg_attr(feature = "cli", arg(short, long, required = true, value_name = "DIR", value_parser = location(), help_heading = OUTPUTS))]
    pub output: PathBuf,
    /// Folder in which outputs are made that go to a URL; for --resume it must be the same again
    /// [default: that of the system]
    #[cfg_attr(feature = "cli", arg(long, value_name = "DIR", help_heading = OUTPUTS, hide_short_help = true))]
    pub tmp_dir: Option<PathBuf>,
    /// Start of the outputs' names [default: the first input's]
    #[cfg_attr(feature = "cli", arg(long, help_heading = OUTPUTS, hide_short_help = true))]
    pub name: Option<String>,
    /// Take only the I-th of N equal parts of the work, as in 3/10; auto takes that of the job in Slurm,
    /// Kubernetes, Grid Engine and PBS, or in the variable `KYOKUMEN_SHARD`; auto/N says what the job does
    /// not know
    #[cfg_attr(feature = "cli", arg(long, value_name = "I/N|auto[/N]", help_heading = RUNNING))]
    pub shard: Option<ShardChoice>,
    /// Replace outputs that exist
    #[cfg_attr(feature = "cli", arg(long, help_heading = RUNNING))]
    pub force: bool,
    /// Go on where an interrupted run stood; from the start if there was none, not at all if it was done
    #[cfg_attr(feature = "cli", arg(long, conflicts_with = "force", help_heading = RUNNING))]
    pub resume: bool,
    /// Write down after so many seconds how far the run has come [default: 10]
    #[cfg_attr(feature = "cli", arg(long, value_name = "SECONDS", value_parser = seconds, help_heading = RUNNING, hide_short_help = true))]
    pub checkpoint_every: Option<Duration>,
    /// Write how far the run has come to a file for Prometheus, as the textfile collector of the node
    /// exporter reads it
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE.prom", help_heading = RUNNING, hide_short_help = true))]
    pub metrics: Option<PathBuf>,
}

#[cfg(feature = "cli")]
const OUTPUTS: &str = "Outputs";
#[cfg(feature = "cli")]
const RUNNING: &str = "Running";

impl RunRequest {
    /// A new run that writes to this folder or URL.
    pub fn new(output: impl Into<PathBuf>) -> Self {
        Self { output: output.into(), ..Self::default() }
    }

    /// The shard, from the variables of a job system if need be.
    pub(crate) fn shard(&self) -> Result<Option<Shard>, Error> {
        self.shard.map(ShardChoice::resolve).transpose()
    }
}

/// The files of a run, and whether it resumes an earlier process.
#[derive(Clone, Debug)]
pub struct RunFiles {
    /// Start of the names of the files of all shards.
    pub stem: String,
    /// Which part of the run this is.
    pub shard: Option<Shard>,
    /// Folder of the outputs on this machine.
    pub folder: PathBuf,
    /// Where the outputs are sent when they are complete, if they go to a URL.
    pub(crate) staging: Option<Staging>,
    /// The outputs without the manifest.
    pub outputs: Vec<OutputPlan>,
    /// The manifest.
    pub manifest: PathBuf,
    /// The checkpoint. `None` if the run cannot be resumed.
    pub checkpoint: Option<PathBuf>,
    /// Time between two checkpoints.
    pub checkpoint_every: Duration,
    /// Whether to resume an interrupted run, if there is one.
    pub resume: bool,
    /// The lock on the outputs.
    pub lock: PathBuf,
    /// File for Prometheus.
    pub metrics: Option<PathBuf>,
    is_new: bool,
}

impl RunFiles {
    /// Names the files. `outputs` gets the path of a file of this run by its suffix.
    pub(crate) fn new(
        request: RunRequest,
        stem: String,
        shard: Option<Shard>,
        outputs: impl FnOnce(&dyn Fn(&str) -> PathBuf) -> Vec<OutputPlan>,
    ) -> Self {
        let RunRequest { output, tmp_dir, force, resume, .. } = request;
        let staging = Staging::to(&output, tmp_dir);
        let folder = staging.as_ref().map_or(output, |staging| staging.folder.clone());
        let name = RunName::new(&stem, shard);
        let path = |suffix: &str| folder.join(path_of(&name.file(suffix)));
        Self {
            outputs: outputs(&path),
            manifest: path(MANIFEST_SUFFIX),
            checkpoint: Some(path(CHECKPOINT_SUFFIX)),
            checkpoint_every: request.checkpoint_every.unwrap_or(CHECKPOINT_EVERY),
            resume,
            lock: path(LOCK_SUFFIX),
            metrics: request.metrics,
            is_new: !force && !resume,
            stem,
            shard,
            staging,
            folder,
        }
    }

    /// Gives up checkpoints if an input cannot be read twice or an output cannot be continued.
    ///
    /// # Errors
    /// [`Error`] with that file if the run is to be resumed.
    pub(crate) fn check_resumable(&mut self, inputs: &[Input]) -> Result<(), Error> {
        let continued = match self.outputs.iter().find(|output| !output.can_be_resumed()) {
            Some(output) => Err(Error::usage(format!(
                "{} cannot be resumed: write jsonl.zst, and convert it",
                output.path.display()
            ))),
            None => Ok(()),
        };
        let checked = check_twice(inputs, "--resume needs files").and(continued);
        if checked.is_err() && !self.resume {
            self.checkpoint = None;
            return Ok(());
        }
        checked
    }

    /// Checks that no file is written that is read or written by something else, and that a new run replaces nothing.
    /// `others` are further files that the run writes.
    ///
    /// # Errors
    /// [`Error`] with the first conflict.
    pub(crate) fn claim<'a>(
        &'a self,
        claims: &mut FileClaims,
        others: impl IntoIterator<Item = &'a PathBuf>,
    ) -> Result<(), Error> {
        check_folder(&self.folder)?;
        let files = [&self.manifest].into_iter().chain(&self.checkpoint).chain(others);
        let outputs = self.outputs.iter().map(FileClaim::output);
        claims.write(outputs.chain(files.map(FileClaim::file)))?;
        claims.write([FileClaim::in_place(&self.lock)])?;
        claims.write(self.metrics.iter().map(FileClaim::file_or_pipe))?;
        if let Some(staging) = &self.staging {
            let objects: Vec<_> = self.paths().map(|path| staging.destination(path)).collect();
            claims.write(objects.iter().map(FileClaim::in_place))?;
            if self.is_new {
                check_absence(objects.iter())?;
                // It was made on this machine and has not been sent.
                check_not_interrupted(Some(&self.manifest))?;
            }
        }
        if self.is_new {
            check_absence(self.paths())?;
            check_not_interrupted(self.checkpoint.as_ref())?;
        }
        Ok(())
    }

    /// The outputs and the manifest.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.outputs.iter().map(|output| &output.path).chain([&self.manifest])
    }

    /// The final place of an output or the manifest.
    pub fn destination(&self, path: &Path) -> PathBuf {
        self.staging.as_ref().map_or_else(|| path.to_owned(), |staging| staging.destination(path))
    }

    /// The final folder of the outputs, or its URL.
    pub fn final_folder(&self) -> &Path {
        self.staging.as_ref().map_or(&self.folder, |staging| &staging.url)
    }

    /// The shard as in `3/10`.
    pub(crate) fn shard_name(&self) -> Option<String> {
        self.shard.map(|shard| shard.to_string())
    }
}

/// No interrupted run may be waiting to be resumed.
fn check_not_interrupted(checkpoint: Option<&PathBuf>) -> Result<(), Error> {
    match checkpoint {
        Some(path) if path.exists() => {
            let message = format!("{} is of a run that was interrupted", path.display());
            Err(Error::usage(message).with_remedy(Remedy::ResumeOrStartAfresh))
        }
        _ => Ok(()),
    }
}
