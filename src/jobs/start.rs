//! Where a run begins: at the first record, at a checkpoint, or not at all because everything is done.
//!
//! Asked under the lock of the outputs, so that what is found stays as it is.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::checkpoint::{Checkpoint, CheckpointContent, sum_if_there};
use super::identity::Identity;
use super::manifest::Manifest;
use super::plan::JobPlan;
use crate::jobs::error::JobError;
use crate::records::account_file::ManifestError;
use crate::records::sink::{OutputPlan, partial_path};
use crate::storage::checksum::Sha256Sum;
use crate::storage::path_text::path_of;
use crate::storage::{files, platform};

/// What a run has written down that is to be resumed.
#[derive(Default)]
pub(crate) struct ResumeState {
    checkpoint: Option<Checkpoint>,
}

impl ResumeState {
    /// Nothing, if no run is to be resumed.
    pub(crate) fn read(plan: &JobPlan) -> Result<Self, JobError> {
        match plan.checkpoint.as_ref().filter(|_| plan.resume) {
            Some(path) => Ok(Self { checkpoint: Checkpoint::read(path)? }),
            None => Ok(Self::default()),
        }
    }

    /// The manifest in a file; none if there is no file, or one that the run was to replace.
    pub(crate) fn manifest(&self, path: &Path) -> Result<Option<Manifest>, ManifestError> {
        let failed = |source| ManifestError::Io { path: path.to_owned(), source };
        match &self.checkpoint {
            Some(checkpoint) if checkpoint.is_to_replace(path).map_err(failed)? => Ok(None),
            _ => read(path),
        }
    }
}

/// Where a run begins.
pub(crate) enum StartPoint {
    /// With the first record.
    Fresh,
    /// Where another process stood, or this one begins to replace what is there.
    Resumed(Box<Checkpoint>),
    /// Nowhere: all was done.
    Done(Box<Manifest>),
}

impl StartPoint {
    /// Examines existing outputs; removes what a new run makes obsolete.
    pub(crate) fn find(
        plan: &JobPlan,
        identity: &Identity,
        resume_state: ResumeState,
    ) -> Result<Self, JobError> {
        if !plan.resume {
            return begin(plan, identity);
        }
        let manifest = resume_state.manifest(&plan.manifest)?;
        if let Some(manifest) = manifest.as_ref().filter(|manifest| is_of(manifest, identity)) {
            check_ranges(plan, manifest)?;
            check_outputs(plan, manifest)?;
            return done(plan, manifest.clone());
        }
        let checkpoint = resume_state.checkpoint.map(Box::new);
        if let (Some(checkpoint), Some(path)) = (&checkpoint, &plan.checkpoint) {
            check_same(path, &checkpoint.identity, identity)?;
        }
        if let Some(manifest) = name_what_is_whole(plan, identity)? {
            return done(plan, manifest);
        }
        if let Some(checkpoint) = checkpoint {
            return Ok(Self::Resumed(checkpoint));
        }
        if let Some(manifest) = manifest {
            check_same(&plan.manifest, &manifest.identity(), identity)?;
        }
        let mut paths = plan.outputs.iter().map(|output| &output.path);
        match paths.find(|path| path.symlink_metadata().is_ok()) {
            Some(path) => Err(JobError::Unaccounted { path: path.clone() }),
            None => Ok(Self::Fresh),
        }
    }
}

/// Begins a new run. If it replaces anything, a checkpoint says so first: a process that resumes it must
/// not take the existing files for its own.
fn begin(plan: &JobPlan, identity: &Identity) -> Result<StartPoint, JobError> {
    let (Some(path), true) = (&plan.checkpoint, is_anything_there(plan)?) else {
        forget(plan)?;
        return Ok(StartPoint::Fresh);
    };
    let begun = Checkpoint::begun(identity.clone(), sums_of_manifests(plan)?);
    begun.write(path)?;
    // Another run's.
    remove([partial_path(&plan.manifest)])?;
    Ok(StartPoint::Resumed(Box::new(begun)))
}

fn is_anything_there(plan: &JobPlan) -> Result<bool, JobError> {
    let paths = plan.outputs.iter().map(|output| &output.path).chain([&plan.manifest]);
    for path in paths {
        for place in [path, &plan.destination(path)] {
            if files::exists(place).map_err(|source| failed("look at", place, source))? {
                return Ok(true);
            }
        }
    }
    Ok(plan.checkpoint.as_ref().is_some_and(|path| path.exists()))
}

/// Checksums of the manifests that are there: on this machine, and in the store that the outputs go to.
fn sums_of_manifests(plan: &JobPlan) -> Result<Vec<Sha256Sum>, JobError> {
    let mut sums = Vec::new();
    let destination = plan.destination(&plan.manifest);
    for path in [Some(&plan.manifest), plan.staging.as_ref().map(|_| &destination)] {
        let Some(path) = path else { continue };
        sums.extend(sum_if_there(path).map_err(|source| failed("read", path, source))?);
    }
    Ok(sums)
}

/// All has its name. On disk, too: the process that gave the names may not have come to that.
fn done(plan: &JobPlan, manifest: Manifest) -> Result<StartPoint, JobError> {
    sync_folder(&plan.folder)?;
    forget(plan)?;
    // Of a run that was to replace what is there by the same.
    remove(plan.outputs.iter().flat_map(OutputPlan::partial_paths))?;
    Ok(StartPoint::Done(Box::new(manifest)))
}

/// Takes away what speaks of partial files: it must not outlive them.
fn forget(plan: &JobPlan) -> Result<(), JobError> {
    let checkpoints = plan.checkpoint.iter().flat_map(|path| [path.clone(), partial_path(path)]);
    remove(checkpoints.chain([partial_path(&plan.manifest)]))
}

/// Removes the files that are there.
fn remove(paths: impl IntoIterator<Item = PathBuf>) -> Result<(), JobError> {
    for path in paths {
        platform::remove_if_there(&path).map_err(|source| failed("remove", &path, source))?;
    }
    Ok(())
}

fn is_of(manifest: &Manifest, identity: &Identity) -> bool {
    manifest.identity().difference(identity).is_none()
}

/// A run that was brought to its end has read what this one would.
fn check_ranges(plan: &JobPlan, manifest: &Manifest) -> Result<(), JobError> {
    for (part, input) in plan.parts.iter().zip(&manifest.inputs) {
        let has_end = part.to.is_none_or(|to| to == input.to);
        if part.from != input.from || !has_end {
            let (manifest, file) = (plan.manifest.clone(), input.identity.file.clone());
            return Err(JobError::OtherRange { manifest, file, from: input.from, to: input.to });
        }
    }
    match plan.records.filter(|&records| records != manifest.counts.input) {
        Some(records) => {
            let (manifest, found) = (plan.manifest.clone(), manifest.counts.input);
            Err(JobError::OtherRecords { manifest, records, found })
        }
        None => Ok(()),
    }
}

/// The outputs of a run that was brought to its end are there.
fn check_outputs(plan: &JobPlan, manifest: &Manifest) -> Result<(), JobError> {
    for output in &manifest.outputs {
        let path = plan.folder.join(path_of(&output.file));
        if path.metadata().map(|metadata| metadata.len()).ok() != Some(output.bytes) {
            return Err(JobError::NotAsSaid { path, manifest: plan.manifest.clone() });
        }
    }
    Ok(())
}

/// Goes on with giving names, if the process ended while it did that: all was written, the manifest last.
fn name_what_is_whole(plan: &JobPlan, identity: &Identity) -> Result<Option<Manifest>, JobError> {
    let partial = partial_path(&plan.manifest);
    let manifest = match read(&partial) {
        // The process ended while it was written.
        Err(ManifestError::Malformed { .. }) => None,
        manifest => manifest?,
    };
    let Some(manifest) = manifest.filter(|manifest| is_of(manifest, identity)) else {
        return Ok(None);
    };
    let mut unnamed = Vec::new();
    for output in &manifest.outputs {
        let named = plan.folder.join(path_of(&output.file));
        let unwritten = partial_path(&named);
        let found = if unwritten.exists() { &unwritten } else { &named };
        if sum(found)?.is_none_or(|sum| Some(sum) != output.sha256) {
            return Ok(None);
        }
        if unwritten.exists() {
            unnamed.push((unwritten, named));
        }
    }
    // It would speak of outputs that are replaced now.
    remove([plan.manifest.clone()])?;
    for (from, to) in &unnamed {
        rename(from, to)?;
    }
    sync_folder(&plan.folder)?;
    rename(&partial, &plan.manifest)?;
    Ok(Some(manifest))
}

fn rename(from: &Path, to: &Path) -> Result<(), JobError> {
    platform::rename(from, to).map_err(|source| failed("rename", from, source))
}

fn sync_folder(folder: &Path) -> Result<(), JobError> {
    platform::sync_folder(folder).map_err(|source| failed("synchronise", folder, source))
}

/// That of a file; none if there is none.
fn sum(path: &Path) -> Result<Option<Sha256Sum>, JobError> {
    match File::open(path).and_then(Sha256Sum::of_reader) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        sum => sum.map(Some).map_err(|source| failed("read", path, source)),
    }
}

/// The manifest in a file; none if there is no file.
fn read(path: &Path) -> Result<Option<Manifest>, ManifestError> {
    match Manifest::read(path) {
        Err(error) if error.is_not_found() => Ok(None),
        manifest => manifest.map(Some),
    }
}

fn check_same(path: &Path, found: &Identity, identity: &Identity) -> Result<(), JobError> {
    match found.difference(identity) {
        None => Ok(()),
        Some(difference) => {
            let difference = Box::new(difference);
            Err(JobError::Different { path: path.to_owned(), difference })
        }
    }
}

fn failed(verb: &'static str, path: &Path, source: io::Error) -> JobError {
    crate::records::sink::SinkError::Io { verb, path: path.to_owned(), source }.into()
}
