//! Decides where a run starts: at the beginning, at a checkpoint, or nowhere because it is complete.
//!
//! The caller holds the lock of the outputs, so that no other process changes them.

use std::io;
use std::path::{Path, PathBuf};

use super::checkpoint::{Checkpoint, RunProgress, checksum_if_exists};
use super::identity::Identity;
use super::manifest::{Manifest, Totals};
use super::run_files::RunFiles;
use crate::error::{Error, ErrorKind};
use crate::records::sink::{OutputPlan, partial_path};
use crate::storage::checksum::Sha256Sum;
use crate::storage::path_text::path_of;
use crate::storage::{files, platform};

/// The checkpoint of the run to be resumed.
pub(crate) struct ResumeState<P> {
    checkpoint: Option<Checkpoint<P>>,
}

impl<P: RunProgress> ResumeState<P> {
    /// Reads the checkpoint if the run is to be resumed.
    pub(crate) fn read(files: &RunFiles) -> Result<Self, Error> {
        let path = files.checkpoint.as_ref().filter(|_| files.resume);
        let checkpoint = path.map(|path| Checkpoint::read(path)).transpose()?.flatten();
        Ok(Self { checkpoint })
    }

    /// Reads a manifest. `None` if the file does not exist or if the run will replace it.
    pub(crate) fn manifest<T: Totals>(&self, path: &Path) -> Result<Option<Manifest<T>>, Error> {
        let failed = |source| Error::io("read", path, source);
        match &self.checkpoint {
            Some(checkpoint) if checkpoint.will_replace(path).map_err(failed)? => Ok(None),
            _ => Manifest::read_if_there(path),
        }
    }
}

/// Where a run starts.
pub(crate) enum StartPoint<T, P> {
    /// At the beginning. The run has no files yet.
    Fresh(Box<Checkpoint<P>>),
    /// At a checkpoint. The run may have written only this checkpoint and no outputs.
    Resumed(Box<Checkpoint<P>>),
    /// Nowhere: the run is complete.
    Done(Box<Manifest<T>>),
}

impl<T: Totals, P: RunProgress> StartPoint<T, P> {
    /// Examines the existing files. Removes the files that a new run makes obsolete.
    pub(crate) fn find(
        files: &RunFiles,
        identity: &Identity,
        planned: Option<u64>,
        resume_state: ResumeState<P>,
        check_done: &impl Fn(&Manifest<T>) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        let begun = |replaces| Checkpoint::begun(identity.clone(), planned, replaces);
        if !files.resume {
            return begin(files, begun);
        }
        if let Some(manifest) = finished(files, identity, &resume_state, check_done)? {
            return done(files, manifest);
        }
        let manifest = resume_state.manifest::<T>(&files.manifest)?;
        let checkpoint = resume_state.checkpoint.map(Box::new);
        if let (Some(checkpoint), Some(path)) = (&checkpoint, &files.checkpoint) {
            checkpoint.identity.check_same(path, identity)?;
        }
        if let Some(manifest) = finish_naming(files, identity)? {
            return done(files, manifest);
        }
        if let Some(checkpoint) = checkpoint {
            return Ok(Self::Resumed(checkpoint));
        }
        if let Some(manifest) = manifest {
            manifest.identity().check_same(&files.manifest, identity)?;
        }
        let mut paths = files.outputs.iter().map(|output| &output.path);
        match paths.find(|path| path.symlink_metadata().is_ok()) {
            Some(path) => Err(Error::output_without_manifest(path)),
            None => Ok(Self::Fresh(Box::new(begun(Vec::new())))),
        }
    }
}

/// The manifest of the run if it is complete. Changes no file.
pub(crate) fn finished<T: Totals, P: RunProgress>(
    files: &RunFiles,
    identity: &Identity,
    resume_state: &ResumeState<P>,
    check_done: &impl Fn(&Manifest<T>) -> Result<(), Error>,
) -> Result<Option<Manifest<T>>, Error> {
    let manifest = resume_state.manifest::<T>(&files.manifest)?;
    let manifest = manifest.filter(|manifest| has_identity(manifest, identity));
    if let Some(manifest) = &manifest {
        check_done(manifest)?;
        manifest.check_files(&files.manifest)?;
    }
    Ok(manifest)
}

/// Begins a new run. If it will replace files, writes a checkpoint first. Without the checkpoint, a process that
/// resumes the run would mistake the existing files for outputs of this run.
fn begin<T, P: RunProgress>(
    files: &RunFiles,
    begun: impl Fn(Vec<Sha256Sum>) -> Checkpoint<P>,
) -> Result<StartPoint<T, P>, Error> {
    let (Some(path), true) = (&files.checkpoint, replaces_files(files)?) else {
        remove_run_state(files)?;
        return Ok(StartPoint::Fresh(Box::new(begun(Vec::new()))));
    };
    let begun = begun(sums_of_manifests(files)?);
    begun.write(path)?;
    // A partial manifest belongs to another run.
    remove([partial_path(&files.manifest)])?;
    Ok(StartPoint::Resumed(Box::new(begun)))
}

fn replaces_files(files: &RunFiles) -> Result<bool, Error> {
    for path in files.paths() {
        for place in [path, &files.destination(path)] {
            if files::exists(place).map_err(|source| failed("access", place, source))? {
                return Ok(true);
            }
        }
    }
    Ok(files.checkpoint.as_ref().is_some_and(|path| path.exists()))
}

/// Checksums of the existing manifests, on this machine and at the URL of the outputs.
fn sums_of_manifests(files: &RunFiles) -> Result<Vec<Sha256Sum>, Error> {
    let mut sums = Vec::new();
    let destination = files.staging.as_ref().map(|_| files.destination(&files.manifest));
    for path in [&files.manifest].into_iter().chain(&destination) {
        sums.extend(checksum_if_exists(path).map_err(|source| failed("read", path, source))?);
    }
    Ok(sums)
}

/// Cleans up after a complete run. The process that renamed the files may have ended before the new names were on disk,
/// so this synchronises the folder.
fn done<T, P>(files: &RunFiles, manifest: Manifest<T>) -> Result<StartPoint<T, P>, Error> {
    sync_folder(&files.folder)?;
    remove_run_state(files)?;
    // A later run may have begun to replace the outputs with equal ones.
    remove(files.outputs.iter().flat_map(OutputPlan::partial_paths))?;
    Ok(StartPoint::Done(Box::new(manifest)))
}

/// Removes the checkpoint and the partial manifest. They must not remain without the partial outputs that they
/// describe.
fn remove_run_state(files: &RunFiles) -> Result<(), Error> {
    let checkpoints = files.checkpoint.iter().flat_map(|path| [path.clone(), partial_path(path)]);
    remove(checkpoints.chain([partial_path(&files.manifest)]))
}

fn remove(paths: impl IntoIterator<Item = PathBuf>) -> Result<(), Error> {
    for path in paths {
        platform::remove_if_there(&path).map_err(|source| failed("remove", &path, source))?;
    }
    Ok(())
}

fn has_identity<T: Totals>(manifest: &Manifest<T>, identity: &Identity) -> bool {
    manifest.identity().difference(identity).is_none()
}

/// Finishes the renaming if the last process ended during it. All files were complete by then. The manifest is renamed
/// last. Returns `None` if there was nothing to finish.
fn finish_naming<T: Totals>(
    files: &RunFiles,
    identity: &Identity,
) -> Result<Option<Manifest<T>>, Error> {
    let partial = partial_path(&files.manifest);
    let manifest = match Manifest::read_if_there(&partial) {
        // The process ended while it was writing the manifest.
        Err(error) if matches!(error.kind(), ErrorKind::Malformed) => None,
        manifest => manifest?,
    };
    let Some(manifest) = manifest.filter(|manifest| has_identity(manifest, identity)) else {
        return Ok(None);
    };
    let mut unnamed = Vec::new();
    for output in &manifest.outputs {
        let named = files.folder.join(path_of(&output.file));
        let partial = partial_path(&named);
        let found = if partial.exists() { &partial } else { &named };
        let sum = checksum_if_exists(found).map_err(|source| failed("read", found, source))?;
        if sum.is_none_or(|sum| Some(sum) != output.sha256) {
            return Ok(None);
        }
        if partial.exists() {
            unnamed.push((partial, named));
        }
    }
    // This manifest may describe outputs that are replaced now.
    remove([files.manifest.clone()])?;
    for (from, to) in &unnamed {
        rename(from, to)?;
    }
    sync_folder(&files.folder)?;
    rename(&partial, &files.manifest)?;
    Ok(Some(manifest))
}

fn rename(from: &Path, to: &Path) -> Result<(), Error> {
    platform::rename(from, to).map_err(|source| failed("rename", from, source))
}

fn sync_folder(folder: &Path) -> Result<(), Error> {
    platform::sync_folder(folder).map_err(|source| failed("synchronise", folder, source))
}

fn failed(verb: &'static str, path: &Path, source: io::Error) -> Error {
    Error::io(verb, path, source)
}
