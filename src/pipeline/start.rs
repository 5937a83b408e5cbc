//! Where a run begins: afresh, where an interrupted one stood, or not at all because everything is done.
//!
//! Asked under the lock of the outputs, so that what is found stays as it is.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::checkpoint::Checkpoint;
use super::checksum::Sum;
use super::identity::{Difference, Identity};
use super::manifest::{Manifest, ManifestError};
use super::plan::{Plan, check_absence};
use super::platform;
use super::run::RunError;
use super::sink::partial_path;

/// Why a run cannot go on where another stood.
#[derive(Debug, Error)]
pub enum StartError {
    /// That was another run.
    #[error(
        "{} is of a run in which {difference}; go on as it began, or start afresh with --force",
        path.display()
    )]
    Different {
        /// The checkpoint or the manifest.
        path: PathBuf,
        /// In what.
        difference: Box<Difference>,
    },
    /// Outputs stand there of which nobody knows how they were made.
    #[error("{} exists without a manifest; replace it with --force", path.display())]
    Unaccounted {
        /// The output.
        path: PathBuf,
    },
    /// The manifest speaks of an output that is not there or has another size.
    #[error(
        "{} is not as {} says; start afresh with --force", path.display(), manifest.display()
    )]
    NotAsSaid {
        /// The output.
        path: PathBuf,
        /// The manifest.
        manifest: PathBuf,
    },
}

/// Where a run begins.
pub(super) enum Start {
    /// With the first record.
    Afresh,
    /// Where another process stood.
    Behind(Box<Checkpoint>),
    /// Nowhere: all was done.
    Done(Box<Manifest>),
}

impl Start {
    /// Looks at what stands in the place of the outputs; takes away what a new beginning makes worthless.
    pub(super) fn find(plan: &Plan, identity: &Identity) -> Result<Self, RunError> {
        if !plan.resume {
            forget(plan)?;
            return Ok(Self::Afresh);
        }
        if let Some(manifest) = done(plan, identity)? {
            return Ok(Self::Done(Box::new(manifest)));
        }
        if let Some(path) = &plan.checkpoint
            && let Some(checkpoint) = Checkpoint::read(path)?
        {
            check_same(path, &checkpoint.identity, identity)?;
            if let Some(manifest) = name_what_is_whole(plan, identity)? {
                return Ok(Self::Done(Box::new(manifest)));
            }
            return Ok(Self::Behind(Box::new(checkpoint)));
        }
        if let Some(manifest) = name_what_is_whole(plan, identity)? {
            return Ok(Self::Done(Box::new(manifest)));
        }
        match check_absence(plan.outputs.iter().map(|output| &output.path)) {
            Ok(()) => Ok(Self::Afresh),
            Err(_) => Err(unaccounted(plan).into()),
        }
    }
}

fn unaccounted(plan: &Plan) -> StartError {
    let mut paths = plan.outputs.iter().map(|output| &output.path);
    let there = paths.find(|path| path.symlink_metadata().is_ok());
    StartError::Unaccounted { path: there.unwrap_or(&plan.manifest).clone() }
}

/// A checkpoint must not outlive the partial files of which it speaks.
fn forget(plan: &Plan) -> Result<(), RunError> {
    for path in plan.checkpoint.iter().chain([&partial_path(&plan.manifest)]) {
        match fs::remove_file(path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                return Err(failed("remove", path, source));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The manifest of this run, if it was brought to its end.
fn done(plan: &Plan, identity: &Identity) -> Result<Option<Manifest>, RunError> {
    let Some(manifest) = read(&plan.manifest)? else { return Ok(None) };
    check_same(&plan.manifest, &manifest.identity(), identity)?;
    for output in &manifest.outputs {
        let path = plan.folder.join(&output.file);
        if path.metadata().map(|metadata| metadata.len()).ok() != Some(output.bytes) {
            let manifest = plan.manifest.clone();
            return Err(StartError::NotAsSaid { path, manifest }.into());
        }
    }
    if let Some(path) = &plan.checkpoint
        && path.exists()
    {
        fs::remove_file(path).map_err(|source| failed("remove", path, source))?;
    }
    Ok(Some(manifest))
}

/// Goes on with giving names, if the process ended while it did that: all was written, the manifest last.
fn name_what_is_whole(plan: &Plan, identity: &Identity) -> Result<Option<Manifest>, RunError> {
    let partial = partial_path(&plan.manifest);
    let Ok(Some(manifest)) = read(&partial) else { return Ok(None) };
    if identity.difference(&manifest.identity()).is_some() {
        return Ok(None);
    }
    let mut unnamed = Vec::new();
    for output in &manifest.outputs {
        let named = plan.folder.join(&output.file);
        let unwritten = partial_path(&named);
        let found = if unwritten.exists() { &unwritten } else { &named };
        if sum(found).ok() != output.sha256 {
            return Ok(None);
        }
        if unwritten.exists() {
            unnamed.push((unwritten, named));
        }
    }
    unnamed.push((partial, plan.manifest.clone()));
    for (from, to) in &unnamed {
        platform::rename(from, to).map_err(|source| failed("rename", from, source))?;
    }
    platform::sync_folder(&plan.folder)
        .map_err(|source| failed("synchronise", &plan.folder, source))?;
    done(plan, identity)
}

fn sum(path: &Path) -> io::Result<Sum> {
    Sum::of_reader(File::open(path)?)
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

fn failed(verb: &'static str, path: &Path, source: io::Error) -> RunError {
    super::sink::SinkError::Io { verb, path: path.to_owned(), source }.into()
}
