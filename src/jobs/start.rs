//! Where a run begins: afresh, where an interrupted one stood, or not at all because everything is done.
//!
//! Asked under the lock of the outputs, so that what is found stays as it is.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::checkpoint::Checkpoint;
use super::identity::Identity;
use super::manifest::Manifest;
use super::plan::Plan;
use crate::jobs::error::{JobError, StartError};
use crate::records::account_file::ManifestError;
use crate::records::sink::{OutputPlan, partial_path};
use crate::storage::checksum::Sum;
use crate::storage::{files, platform};

/// What a run has written down that is to be resumed.
#[derive(Default)]
pub(crate) struct Earlier {
    checkpoint: Option<Checkpoint>,
}

impl Earlier {
    /// Nothing, if no run is to be resumed.
    pub(crate) fn read(plan: &Plan) -> Result<Self, JobError> {
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
pub(crate) enum Start {
    /// With the first record.
    Afresh,
    /// Where another process stood, or this one begins to replace what is there.
    Behind(Box<Checkpoint>),
    /// Nowhere: all was done.
    Done(Box<Manifest>),
}

impl Start {
    /// Looks at what stands in the place of the outputs; takes away what a new beginning makes worthless.
    pub(crate) fn find(
        plan: &Plan,
        identity: &Identity,
        earlier: Earlier,
    ) -> Result<Self, JobError> {
        if !plan.resume {
            return begin(plan, identity);
        }
        let manifest = earlier.manifest(&plan.manifest)?;
        if let Some(manifest) = manifest.as_ref().filter(|manifest| is_of(manifest, identity)) {
            check_ranges(plan, manifest)?;
            check_outputs(plan, manifest)?;
            return done(plan, manifest.clone());
        }
        let checkpoint = earlier.checkpoint.map(Box::new);
        if let (Some(checkpoint), Some(path)) = (&checkpoint, &plan.checkpoint) {
            check_same(path, &checkpoint.identity, identity)?;
        }
        if let Some(manifest) = name_what_is_whole(plan, identity)? {
            return done(plan, manifest);
        }
        if let Some(checkpoint) = checkpoint {
            return Ok(Self::Behind(checkpoint));
        }
        if let Some(manifest) = manifest {
            check_same(&plan.manifest, &manifest.identity(), identity)?;
        }
        let mut paths = plan.outputs.iter().map(|output| &output.path);
        match paths.find(|path| path.symlink_metadata().is_ok()) {
            Some(path) => Err(StartError::Unaccounted { path: path.clone() }.into()),
            None => Ok(Self::Afresh),
        }
    }
}

/// A new beginning. If it is to replace anything, that is written down before all else: who resumes it must
/// not take what is there for its own.
fn begin(plan: &Plan, identity: &Identity) -> Result<Start, JobError> {
    let (Some(path), true) = (&plan.checkpoint, is_anything_there(plan)?) else {
        forget(plan)?;
        return Ok(Start::Afresh);
    };
    let begun = Checkpoint::begun(identity.clone(), sums_of_manifests(plan)?);
    begun.write(path)?;
    // Another run's.
    remove([partial_path(&plan.manifest)])?;
    Ok(Start::Behind(Box::new(begun)))
}

fn is_anything_there(plan: &Plan) -> Result<bool, JobError> {
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
fn sums_of_manifests(plan: &Plan) -> Result<Vec<Sum>, JobError> {
    let mut sums = Vec::new();
    let destination = plan.destination(&plan.manifest);
    for path in [Some(&plan.manifest), plan.staging.as_ref().map(|_| &destination)] {
        let Some(path) = path else { continue };
        match files::read(path) {
            Ok(bytes) => sums.push(Sum::of(&bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => return Err(failed("read", path, source)),
        }
    }
    Ok(sums)
}

/// All has its name. On disk, too: the process that gave the names may not have come to that.
fn done(plan: &Plan, manifest: Manifest) -> Result<Start, JobError> {
    sync_folder(&plan.folder)?;
    forget(plan)?;
    // Of a run that was to replace what is there by the same.
    remove(plan.outputs.iter().flat_map(OutputPlan::partial_paths))?;
    Ok(Start::Done(Box::new(manifest)))
}

/// Takes away what speaks of partial files: it must not outlive them.
fn forget(plan: &Plan) -> Result<(), JobError> {
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
fn check_ranges(plan: &Plan, manifest: &Manifest) -> Result<(), StartError> {
    for (part, input) in plan.parts.iter().zip(&manifest.inputs) {
        let has_end = part.to.is_none_or(|to| to == input.to);
        if part.from != input.from || !has_end {
            let (manifest, file) = (plan.manifest.clone(), input.file.clone());
            return Err(StartError::OtherRange { manifest, file, from: input.from, to: input.to });
        }
    }
    match plan.records.filter(|&records| records != manifest.counts.input) {
        Some(records) => {
            let (manifest, found) = (plan.manifest.clone(), manifest.counts.input);
            Err(StartError::OtherRecords { manifest, records, found })
        }
        None => Ok(()),
    }
}

/// The outputs of a run that was brought to its end are there.
fn check_outputs(plan: &Plan, manifest: &Manifest) -> Result<(), StartError> {
    for output in &manifest.outputs {
        let path = plan.folder.join(&output.file);
        if path.metadata().map(|metadata| metadata.len()).ok() != Some(output.bytes) {
            return Err(StartError::NotAsSaid { path, manifest: plan.manifest.clone() });
        }
    }
    Ok(())
}

/// Goes on with giving names, if the process ended while it did that: all was written, the manifest last.
fn name_what_is_whole(plan: &Plan, identity: &Identity) -> Result<Option<Manifest>, JobError> {
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
        let named = plan.folder.join(&output.file);
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
fn sum(path: &Path) -> Result<Option<Sum>, JobError> {
    match File::open(path).and_then(Sum::of_reader) {
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

fn check_same(path: &Path, found: &Identity, identity: &Identity) -> Result<(), StartError> {
    match found.difference(identity) {
        None => Ok(()),
        Some(difference) => {
            let difference = Box::new(difference);
            Err(StartError::Different { path: path.to_owned(), difference })
        }
    }
}

fn failed(verb: &'static str, path: &Path, source: io::Error) -> JobError {
    crate::records::sink::SinkError::Io { verb, path: path.to_owned(), source }.into()
}
