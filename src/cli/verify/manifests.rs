//! `kyokumen verify --manifest`.

use std::io;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::super::message::name;
use super::super::report::json_line;
use crate::cli::exit::{ExitStatus, usage_if};
use crate::engine::messages::told;
use crate::jobs::manifest::ManifestHead;
use crate::jobs::output_check::wrong_output;
use crate::jobs::shard_set::ShardSet;
use crate::ops::rearrange::OperationManifest;
use crate::records::account_file::{MANIFEST_SUFFIX, ManifestError};
use crate::storage::path_text::path_of;
use crate::storage::platform;

/// What there is to say about the manifests of one run.
#[derive(Serialize)]
struct Report {
    /// What the names of its files begin with.
    run: String,
    manifests: usize,
    /// What is missing or different.
    problems: Vec<String>,
}

/// Compares outputs with their manifests, and the manifests of shards with each other.
pub(super) fn check(files: &[PathBuf], json: bool) -> anyhow::Result<ExitStatus> {
    let mut of_runs = Vec::new();
    let mut faults = 0;
    let mut write_summary = |report: &Report| {
        faults += report.problems.len();
        if json { json_line(report) } else { write(report) }
    };
    for file in files {
        let is_named_so = file.to_string_lossy().ends_with(MANIFEST_SUFFIX);
        if !is_named_so || ManifestHead::read(file)?.is_of_run() {
            of_runs.push(file.clone());
            continue;
        }
        let problems = wrong_outputs(file)?;
        let run = file.display().to_string();
        let run = run.strip_suffix(MANIFEST_SUFFIX).unwrap_or(&run).to_owned();
        write_summary(&Report { run, manifests: 1, problems })?;
    }
    let sets = ShardSet::of_files(&of_runs);
    for set in sets.map_err(|error| usage_if(error.is_usage(), error))? {
        let manifests = set.manifests().count();
        // One shard by itself is not expected to be the whole.
        let problems = if manifests > 1 { set.problems() } else { Ok(set.contradictions()) };
        let mut problems = problems?;
        problems.extend(set.wrong_outputs(None));
        let problems = problems.iter().map(ToString::to_string).collect();
        let run = set.folder.join(path_of(&set.stem)).display().to_string();
        write_summary(&Report { run, manifests, problems })?;
    }
    match faults {
        0 => Ok(ExitStatus::Done),
        1 => anyhow::bail!("the outputs are not as their manifests say"),
        _ => anyhow::bail!("the outputs are not as their manifests say, in {faults} points"),
    }
}

/// What is wrong with the outputs of a command that has no shards.
fn wrong_outputs(file: &Path) -> anyhow::Result<Vec<String>> {
    let outputs = match OperationManifest::read(file) {
        Ok(account) => account.outputs,
        Err(error @ ManifestError::Contradiction { .. }) => return Ok(vec![error.to_string()]),
        Err(error) => return Err(error.into()),
    };
    let folder = platform::folder_of(file);
    let wrong = outputs.iter().filter_map(|output| wrong_output(folder, output));
    Ok(wrong.map(|problem| problem.to_string()).collect())
}

fn write(Report { run, manifests, problems }: &Report) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let s = if *manifests == 1 { " says" } else { "s say" };
    let verdict = if problems.is_empty() { "as" } else { "not as" };
    writeln!(out, "{}: {verdict} {manifests} manifest{s}", name(run))?;
    told(problems).iter().try_for_each(|problem| writeln!(out, "  {}", name(problem)))
}
