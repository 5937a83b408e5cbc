//! `kyokumen verify --manifest`.

use std::io;
use std::io::Write;
use std::path::PathBuf;

use super::super::message::name;
use super::super::report::json_line;
use crate::cli::exit::{ExitStatus, usage_if};
use crate::engine::messages::told;
use crate::jobs::output_verification::{OutputsReport, verify_outputs};

/// Compares outputs with their manifests, and the manifests of shards with each other.
pub(super) fn check(files: &[PathBuf], json: bool) -> anyhow::Result<ExitStatus> {
    let reports = verify_outputs(files).map_err(|error| usage_if(error.is_usage(), error))?;
    for report in &reports {
        if json { json_line(report) } else { write(report) }?;
    }
    match reports.iter().map(|report| report.problems.len()).sum() {
        0 => Ok(ExitStatus::Done),
        1 => anyhow::bail!("the outputs are not as their manifests say"),
        faults => {
            anyhow::bail!("the outputs are not as their manifests say, in {faults} points")
        }
    }
}

fn write(report: &OutputsReport) -> io::Result<()> {
    let OutputsReport { run, manifests, problems, .. } = report;
    let mut out = io::stdout().lock();
    let s = if *manifests == 1 { " says" } else { "s say" };
    let verdict = if problems.is_empty() { "as" } else { "not as" };
    writeln!(out, "{}: {verdict} {manifests} manifest{s}", name(run))?;
    told(problems).iter().try_for_each(|problem| writeln!(out, "  {}", name(problem)))
}
