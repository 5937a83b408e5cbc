//! Where a run of self-play begins: at the first game, where an interrupted one stood, or nowhere, as it was done
//! before.

use std::path::{Path, PathBuf};

use super::error::SelfPlayError;
use super::plan::SelfPlayPlan;
use crate::jobs::checkpoint::{CheckpointContent, sum_if_there};
use crate::jobs::error::JobError;
use crate::jobs::identity::Identity;
use crate::jobs::selfplay_checkpoint::SelfPlayCheckpoint;
use crate::jobs::selfplay_manifest::SelfPlayManifest;
use crate::records::account_file::{ManifestError, read};
use crate::records::sink::{SinkError, partial_path};
use crate::storage::path_text::path_of;
use crate::storage::platform;

/// Where a run begins.
pub(super) enum Start {
    Done(Box<SelfPlayManifest>),
    /// At a checkpoint, or at the first game.
    At(Option<Box<SelfPlayCheckpoint>>),
}

pub(super) fn find_start(plan: &SelfPlayPlan) -> Result<Start, SelfPlayError> {
    if !plan.resume {
        return Ok(Start::At(None));
    }
    let partial = partial_path(&plan.output.path);
    let checkpoint = match &plan.checkpoint {
        Some(path) => SelfPlayCheckpoint::read(path)?.map(|checkpoint| (path, checkpoint)),
        None => None,
    };
    if let Some((path, checkpoint)) = checkpoint {
        check_same(path, &checkpoint.identity, &plan.identity)?;
        // The last process ended while it renamed its files, the manifest last. A renamed output gets its partial name
        // back. At the beginning of a run, though, that file is the one to be replaced.
        if !checkpoint.is_beginning() && !partial.exists() && plan.output.path.exists() {
            let path = &plan.output.path;
            platform::rename(path, &partial).map_err(|source| io_error("rename", path, source))?;
        }
        return Ok(Start::At(Some(Box::new(checkpoint))));
    }
    let manifest: SelfPlayManifest = match read(&plan.manifest) {
        Ok(manifest) => manifest,
        Err(ManifestError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
            let path = plan.output.path.clone();
            let is_there = path.symlink_metadata().is_ok();
            return if is_there {
                Err(JobError::Unaccounted { path }.into())
            } else {
                Ok(Start::At(None))
            };
        }
        Err(error) => return Err(error.into()),
    };
    check_same(&plan.manifest, &manifest.identity(), &plan.identity)?;
    for output in &manifest.outputs {
        let path = plan.folder.join(path_of(&output.file));
        if path.metadata().map(|metadata| metadata.len()).ok() != Some(output.bytes) {
            return Err(JobError::NotAsSaid { path, manifest: plan.manifest.clone() }.into());
        }
    }
    Ok(Start::Done(Box::new(manifest)))
}

/// Begins a new run. If it replaces files, writes a checkpoint first, so that a process that resumes the run does not
/// take the existing files for its own.
pub(super) fn begin(plan: &SelfPlayPlan) -> Result<SelfPlayCheckpoint, SelfPlayError> {
    let manifest = &plan.manifest;
    let replaced = sum_if_there(manifest).map_err(|source| io_error("read", manifest, source))?;
    let begun = SelfPlayCheckpoint::begun(plan.identity.clone(), replaced.into_iter().collect());
    let is_there = |path: &PathBuf| path.symlink_metadata().is_ok();
    let there = [manifest, &plan.output.path].into_iter().chain(&plan.checkpoint).any(is_there);
    if let Some(path) = plan.checkpoint.as_ref().filter(|_| there) {
        begun.write(path)?;
    }
    // Partial files of another run.
    for path in [&plan.output.path, manifest].map(|path| partial_path(path)) {
        platform::remove_if_there(&path).map_err(|source| io_error("remove", &path, source))?;
    }
    Ok(begun)
}

fn check_same(path: &Path, found: &Identity, identity: &Identity) -> Result<(), JobError> {
    match found.difference(identity) {
        None => Ok(()),
        Some(difference) => {
            Err(JobError::Different { path: path.to_owned(), difference: Box::new(difference) })
        }
    }
}

pub(super) fn io_error(verb: &'static str, path: &Path, source: std::io::Error) -> SinkError {
    SinkError::Io { verb, path: path.to_owned(), source }
}
