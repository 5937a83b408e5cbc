//! `kyokumen verify --manifest`.

use std::io::{self, Write};
use std::path::PathBuf;

use serde::Serialize;

use super::super::report::json_line;
use super::super::{Outcome, usage_if};
use crate::pipeline::shard_set::ShardSet;

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
pub(super) fn check(files: &[PathBuf], json: bool) -> anyhow::Result<Outcome> {
    let mut faults = 0;
    let sets = ShardSet::of_files(files);
    let sets = sets.map_err(|error| usage_if(error.is_usage(), error))?;
    for set in sets {
        let manifests = set.manifests().count();
        // One shard by itself is not expected to be the whole.
        let mut problems = if manifests > 1 { set.problems() } else { Vec::new() };
        problems.extend(set.wrong_outputs(None));
        let problems: Vec<_> = problems.iter().map(ToString::to_string).collect();
        faults += problems.len();
        let run = set.folder.join(&set.stem).display().to_string();
        let report = Report { run, manifests, problems };
        if json {
            json_line(&report)?;
        } else {
            write(&report)?;
        }
    }
    match faults {
        0 => Ok(Outcome::Done),
        1 => anyhow::bail!("the outputs are not as their manifests say"),
        _ => anyhow::bail!("the outputs are not as their manifests say, in {faults} points"),
    }
}

fn write(Report { run, manifests, problems }: &Report) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let s = if *manifests == 1 { " says" } else { "s say" };
    let verdict = if problems.is_empty() { "as" } else { "not as" };
    writeln!(out, "{run}: {verdict} {manifests} manifest{s}")?;
    problems.iter().try_for_each(|problem| writeln!(out, "  {problem}"))
}
