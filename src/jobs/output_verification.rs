//! Outputs compared with their manifests, and the manifests of shards with each other.

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::manifest::ManifestHead;
use super::operation_totals::OperationManifest;
use super::shard_set::ShardSet;
use crate::error::{Error, ErrorKind};
use crate::records::account::{MANIFEST_SUFFIX, OutputEntry};
use crate::storage::checksum::Sha256Sum;
use crate::storage::path_text::path_of;
use crate::storage::quantity::quantity;
use crate::storage::{files, platform};

/// What there is to say about the manifests of one run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct OutputsReport {
    /// What the names of its files begin with.
    pub run: String,
    /// Manifests of the run.
    pub manifests: usize,
    /// What is missing or different.
    pub problems: Vec<String>,
}

/// Compares outputs with their manifests, and of several shards whether they are one run without gaps: a report for
/// each operation, then one for each run.
///
/// # Errors
/// [`Error`] if a file is no manifest, or cannot be read.
pub fn verify_outputs(files: &[PathBuf]) -> Result<Vec<OutputsReport>, Error> {
    let (mut reports, mut of_runs) = (Vec::new(), Vec::new());
    for file in files {
        let is_named_so = file.to_string_lossy().ends_with(MANIFEST_SUFFIX);
        if !is_named_so || ManifestHead::read(file)?.is_of_run() {
            of_runs.push(file.clone());
            continue;
        }
        let problems = wrong_outputs(file)?;
        let run = file.display().to_string();
        let run = run.strip_suffix(MANIFEST_SUFFIX).unwrap_or(&run).to_owned();
        reports.push(OutputsReport { run, manifests: 1, problems });
    }
    for set in ShardSet::of_files(&of_runs)? {
        let manifests = set.manifests().count();
        // One shard by itself is not expected to be the whole.
        let mut problems = if manifests > 1 { set.problems()? } else { set.contradictions() };
        problems.extend(set.wrong_outputs(None));
        let problems = problems.iter().map(ToString::to_string).collect();
        let run = set.folder.join(path_of(&set.stem)).display().to_string();
        reports.push(OutputsReport { run, manifests, problems });
    }
    Ok(reports)
}

/// What is wrong with the outputs of a command that has no shards.
fn wrong_outputs(file: &Path) -> Result<Vec<String>, Error> {
    let outputs = match OperationManifest::read(file) {
        Ok(manifest) => manifest.outputs,
        Err(error) if matches!(error.kind(), ErrorKind::Invalid) => {
            return Ok(vec![error.to_string()]);
        }
        Err(error) => return Err(error),
    };
    let folder = platform::folder_of(file);
    let wrong = outputs.iter().filter_map(|output| wrong_output(folder, output));
    Ok(wrong.map(|problem| problem.to_string()).collect())
}

/// What is wrong with an output in a folder: its bytes are read.
pub fn wrong_output(folder: &Path, output: &OutputEntry) -> Option<Error> {
    let path = folder.join(path_of(&output.file));
    let bytes = match files::state(&path) {
        Ok(state) => state.bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Some(Error::invalid(format!("{} is missing", path.display())));
        }
        Err(error) => return Some(Error::unreadable_output(&path, &error)),
    };
    if bytes != output.bytes {
        return Some(Error::invalid(format!(
            "{} has {}, its manifest says {}",
            path.display(),
            quantity(bytes, "byte"),
            output.bytes
        )));
    }
    match files::open(&path).and_then(Sha256Sum::of_reader) {
        Ok(sum) if output.sha256.is_none_or(|expected| expected == sum) => None,
        Ok(_) => Some(Error::invalid(format!(
            "{} has another SHA-256 than its manifest says",
            path.display()
        ))),
        Err(error) => Some(Error::unreadable_output(&path, &error)),
    }
}
