//! Compares outputs with their manifests, and the manifests of shards with each other.

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

/// The result of the check of one run or operation.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct OutputsReport {
    /// Folder and base name of its files.
    pub run: String,
    /// Number of manifests checked.
    pub manifests: usize,
    /// Missing or different files, and contradictions in the manifests.
    pub problems: Vec<String>,
}

/// Compares outputs with their manifests. Also checks that the given shards of a run belong together and have no gaps.
/// Returns a report for each operation, then one for each run.
///
/// # Errors
/// [`Error`] if a file cannot be read or is not a manifest.
pub fn verify_outputs(files: &[PathBuf]) -> Result<Vec<OutputsReport>, Error> {
    let (mut reports, mut run_manifests) = (Vec::new(), Vec::new());
    for file in files {
        let has_suffix = file.to_string_lossy().ends_with(MANIFEST_SUFFIX);
        if !has_suffix || ManifestHead::read(file)?.can_have_shards() {
            run_manifests.push(file.clone());
            continue;
        }
        let problems = operation_problems(file)?;
        let run = file.display().to_string();
        let run = run.strip_suffix(MANIFEST_SUFFIX).unwrap_or(&run).to_owned();
        reports.push(OutputsReport { run, manifests: 1, problems });
    }
    for set in ShardSet::from_files(&run_manifests)? {
        let manifests = set.manifests().count();
        // A single shard is checked without the others.
        let mut problems = if manifests > 1 { set.problems()? } else { set.contradictions() };
        problems.extend(set.wrong_outputs(None));
        let problems = problems.iter().map(ToString::to_string).collect();
        let run = set.folder.join(path_of(&set.stem)).display().to_string();
        reports.push(OutputsReport { run, manifests, problems });
    }
    Ok(reports)
}

/// Problems of the manifest and the outputs of an operation.
fn operation_problems(file: &Path) -> Result<Vec<String>, Error> {
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

/// Compares the size of an output with its manifest.
pub(crate) fn wrong_size(folder: &Path, output: &OutputEntry) -> Option<Error> {
    let path = folder.join(path_of(&output.file));
    let bytes = match files::state(&path) {
        Ok(state) => state.bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Some(Error::invalid(format!("{} is missing", path.display())));
        }
        Err(error) => return Some(Error::unreadable_output(&path, &error)),
    };
    (bytes != output.bytes).then(|| {
        Error::invalid(format!(
            "{} has {}, but its manifest states {}",
            path.display(),
            quantity(bytes, "byte"),
            output.bytes
        ))
    })
}

/// Compares size and SHA-256 of an output with its manifest. Returns the first difference. Reads the whole file.
pub fn wrong_output(folder: &Path, output: &OutputEntry) -> Option<Error> {
    let path = folder.join(path_of(&output.file));
    if let Some(problem) = wrong_size(folder, output) {
        return Some(problem);
    }
    match files::open(&path).and_then(Sha256Sum::of_reader) {
        Ok(sum) if output.sha256.is_none_or(|expected| expected == sum) => None,
        Ok(_) => Some(Error::invalid(format!(
            "{} has changed: its SHA-256 differs from the manifest",
            path.display()
        ))),
        Err(error) => Some(Error::unreadable_output(&path, &error)),
    }
}
