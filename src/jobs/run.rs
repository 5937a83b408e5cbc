//! The protocol of a run: start, checkpoints, resume, commit.
//!
//! A commit first flushes all outputs to disk and checks the counts. Then it renames the files to their final names,
//! the manifest last. Outputs for a URL are written to a local folder and sent at the end.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::checkpoint::{Checkpoint, RunProgress};
use super::checkpoint_copies::CheckpointCopies;
use super::identity::Identity;
use super::manifest::{Manifest, ParentManifest, Totals};
use super::run_files::RunFiles;
use super::start::{ResumeState, StartPoint, finished};
use crate::error::{Error, ErrorKind, Remedy};
use crate::records::account::output_entry;
use crate::records::sink::{FinishedOutputs, Sinks, partial_path};
use crate::storage::lock::Lock;
use crate::storage::{files, own_files, platform};

/// A completed run.
#[derive(Clone, Debug)]
pub struct Completed<T> {
    /// Its manifest.
    pub manifest: Manifest<T>,
    /// Whether an earlier process had completed the run, so that this process had nothing to do.
    pub was_done: bool,
}

/// The start of a run.
pub(crate) enum Opened<T, P> {
    /// The run has work to do.
    Run(Box<Run<P>>),
    /// The run is complete.
    Done(Completed<T>),
}

/// A run in progress. Holds the lock on its outputs.
pub(crate) struct Run<P> {
    lock: Lock,
    /// Copies of the checkpoints at the URL of the outputs.
    copies: Option<CheckpointCopies>,
    /// Path of the checkpoint. `None` if the run cannot be resumed.
    path: Option<PathBuf>,
    every: Duration,
    checkpoint: Checkpoint<P>,
    started: Instant,
    last_checkpoint: Instant,
    elapsed_before_s: f64,
}

impl<P: RunProgress> Run<P> {
    /// Takes the lock on the outputs and decides where to start. `planned` is the number of records or games, if known.
    /// `check_done` checks the manifest of a run that an earlier process completed.
    ///
    /// # Errors
    /// [`Error`] if another process has the lock, or if existing files do not belong to this run.
    pub(crate) fn open<T: Totals>(
        files: &RunFiles,
        mut identity: Identity,
        planned: Option<u64>,
        check_done: impl Fn(&Manifest<T>) -> Result<(), Error>,
        cancel: &AtomicBool,
    ) -> Result<Opened<T, P>, Error> {
        create_folder(files)
            .map_err(|source| Error::io("create the folder", &files.folder, source))?;
        let mut lock = match Lock::take(&files.lock, files.shard_name(), cancel) {
            Ok(lock) => lock,
            // A finished run may be in a folder without write permission.
            Err(error) if files.resume && matches!(error.kind(), ErrorKind::Io) => {
                let state = ResumeState::<P>::read(files)?;
                let manifest = finished(files, &identity, &state, &check_done)?.ok_or(error)?;
                return Ok(Opened::Done(Completed { manifest, was_done: true }));
            }
            Err(error) => return Err(error),
        };
        let mut copies = CheckpointCopies::open::<P>(files, &identity, &mut lock, cancel)?;
        let resume_state = ResumeState::<P>::read(files)?;
        if let (Some(staging), true) = (&files.staging, files.resume)
            && let Some(manifest) = staging.find_sent(files, &identity, &resume_state)?
        {
            staging.clean_up(files, lock);
            return Ok(Opened::Done(Completed { manifest, was_done: true }));
        }
        let start = StartPoint::find(files, &identity, planned, resume_state, &check_done)?;
        let (mut checkpoint, is_fresh) = match start {
            StartPoint::Fresh(checkpoint) => (*checkpoint, true),
            StartPoint::Resumed(checkpoint) => (*checkpoint, false),
            StartPoint::Done(manifest) => {
                send_outputs::<T, P>(files, &manifest, lock, copies, cancel)?;
                let was_done = files.staging.is_none();
                return Ok(Opened::Done(Completed { manifest: *manifest, was_done }));
            }
        };
        identity.run.join_reproducible(checkpoint.identity.run.clone());
        // The lists and the manifest name the inputs as the first process did.
        checkpoint.identity.run = identity.run;
        if let Some(staging) = &files.staging {
            if files.resume && is_fresh {
                staging.check_unsent::<T>(files, &checkpoint.identity)?;
            }
            staging.check_writable(files)?;
        }
        if !checkpoint.is_beginning() {
            checkpoint.resumed_from.push(checkpoint.progress.done());
        }
        if let Some(copies) = &mut copies {
            // `status` of the URL then shows the run.
            checkpoint.is_last = false;
            copies.send(&checkpoint, &mut lock);
        }
        let (path, every, now) = (files.checkpoint.clone(), files.checkpoint_every, Instant::now());
        let elapsed_before_s = checkpoint.elapsed_s;
        let (started, last_checkpoint) = (now, now);
        let run = Self {
            lock,
            copies,
            path,
            every,
            checkpoint,
            started,
            last_checkpoint,
            elapsed_before_s,
        };
        Ok(Opened::Run(Box::new(run)))
    }

    /// Creates the outputs, or opens the partial outputs of an earlier process. Abandons the run if that fails.
    pub(crate) fn with_sinks(self, files: &RunFiles) -> Result<(Self, Sinks), Error> {
        let sinks = if self.checkpoint.is_beginning() {
            Sinks::create_with(&files.outputs, true)
        } else {
            Sinks::resume(&files.outputs, self.checkpoint.outputs.clone())
        };
        match sinks {
            Ok(sinks) => Ok((self, sinks)),
            Err(error) => {
                self.abandon();
                Err(error)
            }
        }
    }

    /// Removes the checkpoint of a run that has not begun its work. The files that it was to replace remain.
    pub(crate) fn abandon(self) {
        if let Some(path) = self.path.filter(|_| self.checkpoint.is_beginning()) {
            remove_checkpoint(&path);
        }
    }

    /// The progress of this process and of earlier ones.
    pub(crate) const fn progress(&self) -> &P {
        &self.checkpoint.progress
    }

    pub(crate) const fn progress_mut(&mut self) -> &mut P {
        &mut self.checkpoint.progress
    }

    /// The names of the inputs, as the first process of the run was given them.
    pub(crate) fn input_names(&self) -> impl Iterator<Item = &String> {
        self.checkpoint.identity.inputs.iter().map(|input| &input.file)
    }

    /// Renews the lock. Returns whether a checkpoint is due.
    pub(crate) fn heartbeat(&mut self) -> bool {
        self.lock.heartbeat();
        self.last_checkpoint.elapsed() >= self.every
    }

    /// Flushes the outputs to disk, then writes a checkpoint. Returns `false` if the run cannot be resumed.
    pub(crate) fn save(&mut self, sinks: &mut Sinks) -> Result<bool, Error> {
        let Some(path) = &self.path else { return Ok(false) };
        self.checkpoint.outputs = sinks.sync()?;
        self.checkpoint.elapsed_s = self.elapsed_s();
        self.checkpoint.written_unix_s = platform::now_unix_s();
        let written = self.checkpoint.write(path);
        // If only the sync of the folder failed, the checkpoint exists and needs the partial outputs.
        if written.is_ok() || path.exists() {
            sinks.keep();
        }
        written?;
        let done = self.checkpoint.progress.done();
        tracing::debug!("checkpoint after {done} records or games: {}", path.display());
        self.last_checkpoint = Instant::now();
        if let Some(copies) = self.copies.as_mut().filter(|copies| copies.is_due()) {
            copies.send(&self.checkpoint, &mut self.lock);
            self.last_checkpoint = Instant::now();
        }
        Ok(true)
    }

    /// Copies the last checkpoint of this process to the URL of the outputs, if they have one. Another machine may
    /// resume the run.
    pub(crate) fn send_last_checkpoint(&mut self) {
        if let Some(copies) = &mut self.copies {
            self.checkpoint.is_last = true;
            copies.send(&self.checkpoint, &mut self.lock);
        }
    }

    /// Duration of all processes of the run, in seconds.
    pub(crate) fn elapsed_s(&self) -> f64 {
        self.elapsed_before_s + self.started.elapsed().as_secs_f64()
    }

    /// Checks the counts, renames the outputs to their final names, and sends them if their destination is a URL.
    /// `check` is called with the manifest before the renaming.
    pub(crate) fn commit<T: Totals>(
        self,
        files: &RunFiles,
        finished: FinishedOutputs,
        totals: T,
        parents: Vec<ParentManifest>,
        check: impl FnOnce(&Manifest<T>) -> Result<(), Error>,
        cancel: &AtomicBool,
    ) -> Result<Completed<T>, Error> {
        let elapsed_s = self.elapsed_s();
        let manifest = Manifest {
            run: self.checkpoint.identity.run,
            totals,
            outputs: finished.written().map(output_entry).collect(),
            ended_unix_s: platform::now_unix_s(),
            elapsed_s,
            resumed_from: self.checkpoint.resumed_from,
            parents,
        };
        manifest.check_balance().map_err(Error::fault)?;
        check(&manifest)?;
        if self.path.is_some() {
            let named = finished.resumable().commit_with(&files.manifest, &manifest.to_json());
            named.map_err(|error| {
                Error::new(ErrorKind::Io, "cannot rename the outputs to their final names")
                    .with_source(error)
                    .with_remedy(Remedy::Resume)
            })?;
        } else {
            finished.commit_with(&files.manifest, &manifest.to_json())?;
        }
        self.path.iter().for_each(|path| remove_checkpoint(path));
        send_outputs::<T, P>(files, &manifest, self.lock, self.copies, cancel)?;
        Ok(Completed { manifest, was_done: false })
    }
}

/// Sends complete outputs if their destination is a URL. If that fails, the copy of the checkpoint states that the
/// process has ended.
fn send_outputs<T: Totals, P: RunProgress>(
    files: &RunFiles,
    manifest: &Manifest<T>,
    mut lock: Lock,
    copies: Option<CheckpointCopies>,
    cancel: &AtomicBool,
) -> Result<(), Error> {
    let Some(staging) = &files.staging else { return Ok(()) };
    if let Err(error) = staging.send(files, manifest, &mut lock, cancel) {
        if let Some(copies) = copies {
            copies.end::<P>();
        }
        return Err(error);
    }
    staging.clean_up(files, lock);
    Ok(())
}

/// Removes a checkpoint, and the partial checkpoint that a killed process may have left.
fn remove_checkpoint(path: &Path) {
    for path in [path, &partial_path(path)] {
        if let Err(error) = platform::remove_if_there(path) {
            tracing::warn!("cannot remove {}: {error}", path.display());
        }
    }
}

/// Creates the folder of the outputs. A staging folder is private, because other users can write to its parent folder.
fn create_folder(files: &RunFiles) -> io::Result<()> {
    match files.staging {
        Some(_) => own_files::create_private_folder(&files.folder),
        None => files::create_folder(&files.folder),
    }
}
