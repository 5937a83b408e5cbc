//! The files of a run: outputs, manifest, checkpoint and lock.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::run_name::{CHECKPOINT_SUFFIX, LOCK_SUFFIX, RunName};
use super::staging::Staging;
use crate::engine::metrics::MetricsTargets;
use crate::error::{Error, Remedy};
use crate::records::account::MANIFEST_SUFFIX;
use crate::records::claims::{FileClaim, FileClaims, check_absence, check_rereadable};
use crate::records::opening::check_folder;
use crate::records::shard::Shard;
use crate::records::shard_choice::ShardChoice;
use crate::records::sink::{OutputPlan, partial_path};
use crate::records::source::Input;
use crate::storage::files;
#[cfg(feature = "cli")]
use crate::storage::location::location;
use crate::storage::path_text::path_of;
#[cfg(feature = "cli")]
use crate::storage::value_error::seconds;

/// Default time between two checkpoints.
pub const CHECKPOINT_EVERY: Duration = Duration::from_secs(10);

/// Destination, shard and resumption of a run.
///
/// Each field defines both an option of the command line and an entry of configuration files.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct RunRequest {
    /// Folder or URL for the outputs; a missing folder is created
    #[cfg_attr(feature = "cli", arg(short, long, required = true, value_name = "DIR", value_parser = location(), help_heading = OUTPUTS))]
    pub output: PathBuf,
    /// Local folder where outputs are built before they are sent, if --output is a URL [default: the system's temporary
    /// folder]
    #[cfg_attr(feature = "cli", arg(long, value_name = "DIR", help_heading = OUTPUTS, hide_short_help = true))]
    pub tmp_dir: Option<PathBuf>,
    /// Base name of the outputs [default: from the first input]
    #[cfg_attr(feature = "cli", arg(long, help_heading = OUTPUTS, hide_short_help = true))]
    pub name: Option<String>,
    /// Process only the I-th of N ranges with equal numbers of records (in selfplay: of games), as in 3/10. --limit L
    /// applies first: the first L records or games are divided. `auto` reads the shard from the Slurm, Kubernetes, Grid
    /// Engine or PBS job, or from the variable `KYOKUMEN_SHARD`. Use `auto/N` if the job does not export the number of
    /// shards
    #[cfg_attr(feature = "cli", arg(long, value_name = "I/N|auto[/N]", help_heading = RUNNING))]
    pub shard: Option<ShardChoice>,
    /// Replace existing outputs
    #[cfg_attr(feature = "cli", arg(long, help_heading = RUNNING))]
    pub force: bool,
    /// Resume an interrupted run. Starts a new run if there is none; does nothing if it has finished
    #[cfg_attr(feature = "cli", arg(long, conflicts_with = "force", help_heading = RUNNING))]
    pub resume: bool,
    /// Seconds between two checkpoints [default: 10]
    #[cfg_attr(feature = "cli", arg(long, value_name = "SECONDS", value_parser = seconds, help_heading = RUNNING, hide_short_help = true))]
    pub checkpoint_every: Option<Duration>,
    /// Write the progress to a file for the textfile collector of Prometheus's node exporter
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE.prom", help_heading = RUNNING, hide_short_help = true))]
    pub metrics: Option<PathBuf>,
    /// Serve the progress for Prometheus over HTTP at /metrics. A port alone is on 127.0.0.1; another address, as in
    /// 0.0.0.0:9464, lets other machines read it
    #[cfg_attr(feature = "cli", arg(long, value_name = "[ADDR:]PORT", value_parser = listen_address, help_heading = RUNNING, hide_short_help = true))]
    pub metrics_listen: Option<SocketAddr>,
}

/// Parses an address with a port, or a port on the loopback interface.
///
/// # Errors
/// What was expected.
pub fn listen_address(text: &str) -> Result<SocketAddr, &'static str> {
    let port = text.strip_prefix("localhost:").unwrap_or(text).parse();
    let address = port.map(|port: u16| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    address.or_else(|_| text.parse()).map_err(
        |_| "expected a port, as in 9464, or an IP address with a port, as in 0.0.0.0:9464",
    )
}

#[cfg(feature = "cli")]
const OUTPUTS: &str = "Outputs";
#[cfg(feature = "cli")]
const RUNNING: &str = "Running";

impl RunRequest {
    /// A request for a new run that writes to this folder or URL.
    pub fn new(output: impl Into<PathBuf>) -> Self {
        Self { output: output.into(), ..Self::default() }
    }

    /// The shard. Reads it from the variables of a job system if requested.
    pub(crate) fn shard(&self) -> Result<Option<Shard>, Error> {
        self.shard.map(ShardChoice::resolve).transpose()
    }
}

/// The files of a run, and whether it resumes an earlier process.
#[derive(Clone, Debug)]
pub struct RunFiles {
    /// Base name of the files of all shards.
    pub stem: String,
    /// The shard. `None` for the whole work.
    pub shard: Option<Shard>,
    /// Local folder of the outputs.
    pub folder: PathBuf,
    /// Local folder and destination, if the outputs are sent to a URL when they are complete.
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
    /// Where metrics for Prometheus are published.
    pub metrics: MetricsTargets,
    is_new: bool,
}

impl RunFiles {
    /// Determines the names of the files. `outputs` receives a function that returns the path of a file by its suffix.
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
            metrics: MetricsTargets { file: request.metrics, listen: request.metrics_listen },
            is_new: !force && !resume,
            stem,
            shard,
            staging,
            folder,
        }
    }

    /// Disables checkpoints if an input cannot be read twice or an output cannot be resumed.
    ///
    /// # Errors
    /// [`Error`] with the input or output, if the request is to resume a run.
    pub(crate) fn check_resumable(&mut self, inputs: &[Input]) -> Result<(), Error> {
        let checked_outputs = match self.outputs.iter().find(|output| !output.can_be_resumed()) {
            Some(output) => Err(Error::usage(format!(
                "{} cannot be resumed; write jsonl.zst instead and convert it afterwards",
                output.path.display()
            ))),
            None => Ok(()),
        };
        let checked = check_rereadable(inputs, "--resume reads inputs again").and(checked_outputs);
        if checked.is_err() && !self.resume {
            self.checkpoint = None;
            return Ok(());
        }
        checked
    }

    /// Checks that the run does not overwrite its inputs or write a file twice, and that a new run replaces no files.
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
        claims.write(self.metrics.file.iter().map(FileClaim::file_or_pipe))?;
        let objects = self.objects();
        claims.write(objects.iter().map(FileClaim::in_place))?;
        if self.is_new { self.check_new(&objects) } else { Ok(()) }
    }

    /// The URLs of the outputs and the manifest. None if they are written to a local folder.
    fn objects(&self) -> Vec<PathBuf> {
        let staging = self.staging.iter();
        staging.flat_map(|staging| self.paths().map(|path| staging.destination(path))).collect()
    }

    /// Checks that a new run replaces no files. If the files belong to an interrupted run, the error says so: that run
    /// can be resumed, even if it has already named or sent some of its outputs.
    fn check_new(&self, objects: &[PathBuf]) -> Result<(), Error> {
        if let Some(checkpoint) = &self.checkpoint {
            check_not_interrupted(checkpoint)?;
            if let Some(staging) = &self.staging {
                // A local manifest belongs to a run that was completed but not sent.
                check_not_interrupted(&self.manifest)?;
                check_not_interrupted(&staging.destination(checkpoint))?;
            }
        }
        let absent = check_absence(objects.iter().chain(self.paths()));
        if absent.is_err() && self.checkpoint.is_some() {
            // While a short run names its outputs, this file is the only trace of it: it has written no checkpoint.
            check_not_interrupted(&partial_path(&self.manifest))?;
        }
        absent
    }

    /// The outputs and the manifest.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.outputs.iter().map(|output| &output.path).chain([&self.manifest])
    }

    /// The final paths or URLs of all outputs and the manifest, as text.
    #[cfg(feature = "cli")]
    pub(crate) fn destinations(&self) -> Vec<String> {
        self.paths().map(|path| self.destination(path).display().to_string()).collect()
    }

    /// The final path or URL of an output or the manifest.
    pub fn destination(&self, path: &Path) -> PathBuf {
        self.staging.as_ref().map_or_else(|| path.to_owned(), |staging| staging.destination(path))
    }

    /// The final folder or URL of the outputs.
    pub fn final_folder(&self) -> &Path {
        self.staging.as_ref().map_or(&self.folder, |staging| &staging.url)
    }

    /// The shard as in `3/10`.
    pub(crate) fn shard_name(&self) -> Option<String> {
        self.shard.map(|shard| shard.to_string())
    }
}

/// Checks that a file of an interrupted run does not exist.
fn check_not_interrupted(path: &Path) -> Result<(), Error> {
    if files::exists(path).map_err(|source| Error::io("access", path, source))? {
        let message = format!("{} belongs to an interrupted run", path.display());
        return Err(Error::exists(message).with_remedy(Remedy::ResumeOrRestart));
    }
    Ok(())
}
