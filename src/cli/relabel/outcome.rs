//! Adds the evaluator's manifest entry to a plan, and prints plans and reports.

use serde_json::{Map, Value};

use crate::cli::call::Call;
use crate::cli::exit::{ExitStatus, Interrupted};
use crate::cli::job_args::{show_existing, show_files};
use crate::cli::report::{self, records, with_counts};
use crate::error::Error;
use crate::jobs::plan::JobPlan;
use crate::records::counts::Counts;
use crate::storage::signals::Interrupt;

/// Adds the evaluator's manifest entry to a plan. `started` is the result of starting the evaluator to get it.
pub(super) fn with_evaluator(
    plan: &mut JobPlan,
    started: Result<Map<String, Value>, Error>,
    interrupt: &Interrupt,
) -> anyhow::Result<()> {
    match (started, interrupt.signal()) {
        (Err(_), Some(signal)) => {
            let what = "interrupted while starting the evaluator";
            Err(Interrupted { signal, what: what.to_owned() }.into())
        }
        (Err(error), None) => Err(error.into()),
        (Ok(entry), _) => {
            set_evaluator(plan, entry);
            Ok(())
        }
    }
}

pub(super) fn set_evaluator(plan: &mut JobPlan, entry: Map<String, Value>) {
    plan.settings.relabel.as_mut().expect("a relabel plan").evaluator = entry;
}

/// Describes a plan, whose time is not estimated.
pub(super) fn described(plan: JobPlan) -> Call {
    Call::planned(plan, |_, _| Ok(Value::Null))
}

pub(super) fn show(plan: &JobPlan) -> anyhow::Result<ExitStatus> {
    show_files(plan)?;
    show_existing(&plan.files)?;
    Ok(ExitStatus::Done)
}

/// A one-line summary whose counts add up to the number of records.
pub(in crate::cli) fn summary(counts: &Counts) -> String {
    let filtered: u64 = counts.filtered.values().sum();
    let evaluations = &counts.evaluations;
    let line = format!("{}: {} with a new evaluation", records(counts.input), evaluations.new);
    let bad = counts.bad_records();
    let stayed = (evaluations.stayed, "unchanged (mate evaluations and moves not for training)");
    let line = with_counts(line, &[stayed, (filtered, "filtered"), (bad, "bad")]);
    line + &report::filtered(&counts.filtered)
}
