//! What is said of a plan and of a run.

use crate::cli::exit::ExitStatus;
use crate::cli::job_args::show_files;
use crate::cli::report::{records, with_counts};
use crate::jobs::plan::JobPlan;
use crate::records::counts::Counts;

/// Says what would be read and written.
pub(super) fn show(plan: &JobPlan) -> anyhow::Result<ExitStatus> {
    show_files(plan)?;
    Ok(ExitStatus::Done)
}

/// One line whose figures add up to the first.
pub(super) fn summary(counts: &Counts) -> String {
    let filtered: u64 = counts.filtered.values().sum();
    let evaluations = &counts.evaluations;
    let line = format!("{}: {} evaluated", records(counts.input), evaluations.new);
    let bad = counts.bad_records();
    with_counts(line, &[(evaluations.stayed, "as they were"), (filtered, "filtered"), (bad, "bad")])
}
