//! Options shared by the commands with shards and checkpoints: `filter`, `dataset`, `relabel`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use anyhow::Context;
use clap::Args;

use super::call::for_job;
use super::exit::run_error;
use super::message::{name, say};
use super::option::{heading, word};
use super::record_args::{RecordArgs, WorkArgs};
use super::report::{self, records};
use crate::cli::exit::ExitStatus;
use crate::cli::json_lines;
use crate::cli::progress::ProgressMode;
use crate::engine::progress::Progress;
use crate::error::Error;
use crate::jobs::estimate::{Estimate, estimate};
use crate::jobs::plan::{JobPlan, JobRequest};
use crate::jobs::record_run::Completed;
use crate::jobs::record_totals::RecordManifest;
use crate::jobs::run_files::{RunFiles, RunRequest};
use crate::jobs::settings::Settings;
use crate::mate::judge::PositionJudge;
use crate::records::bad_record::BadPolicy;
use crate::records::counts::Counts;
use crate::records::opening::Unreadable;
use crate::search::TableError;
use crate::storage::files;
use crate::storage::path_text::path_of;
use crate::storage::quantity::{duration, quantity};
use crate::storage::signals::Interrupt;

#[derive(Args, Clone, Debug)]
pub(super) struct JobArgs {
    #[command(flatten)]
    pub(super) run: RunRequest,

    /// What to do with bad records: `quarantine` moves them to a separate file, `skip` drops them, `stop` ends the run
    /// [default: quarantine]
    #[arg(long, value_name = "quarantine|skip|stop", value_parser = word::<BadPolicy>, help_heading = heading::OUTPUTS, hide_short_help = true)]
    on_error: Option<BadPolicy>,

    #[command(flatten)]
    work: WorkArgs,

    /// Show the inputs, the outputs and an estimate of the run time; write nothing
    #[arg(long, help_heading = heading::RUNNING)]
    pub(super) dry_run: bool,
}

impl JobArgs {
    pub(super) fn progress(&self) -> ProgressMode {
        self.work.progress
    }

    /// Labels the following JSON lines with the run and its shard. A shard that is not valid is reported later.
    pub(super) fn label_messages(&self, inputs: &[PathBuf]) {
        let shard = self.run.shard().ok().flatten().map(|shard| shard.to_string());
        json_lines::set_run_over(self.run.name.as_ref(), inputs, shard);
    }

    /// Builds the request. Overwrites the fields of `settings` that these options and `records` determine.
    pub(super) fn request(
        self,
        inputs: Vec<PathBuf>,
        records: RecordArgs,
        settings: Settings,
    ) -> JobRequest {
        JobRequest {
            inputs,
            run: self.run,
            from: records.from,
            dialect: records.dialect,
            to: None,
            previous_run: None,
            config_files: Vec::new(),
            unreadable: Unreadable::from_policy(self.on_error),
            settings: Settings {
                on_error: self.on_error.unwrap_or_default(),
                filters: records.filters(),
                limit: records.limit,
                threads: self.work.threads(),
                ..settings
            },
        }
    }
}

/// Runs a plan and prints a report; `summary` formats the counts as one line.
pub(super) fn run_job(
    plan: JobPlan,
    mode: ProgressMode,
    work: impl FnOnce(JobPlan, &mut Progress, &AtomicBool) -> Result<Completed, Error>,
    summary: impl FnOnce(&Counts) -> String,
) -> anyhow::Result<ExitStatus> {
    let interrupt = Interrupt::watch().context("cannot watch for signals")?;
    run_watched_job(plan, mode, &interrupt, work, summary)
}

/// Like [`run_job`], for commands that already watch for signals. Ends immediately if a signal has arrived.
pub(super) fn run_watched_job(
    plan: JobPlan,
    mode: ProgressMode,
    interrupt: &Interrupt,
    work: impl FnOnce(JobPlan, &mut Progress, &AtomicBool) -> Result<Completed, Error>,
    summary: impl FnOnce(&Counts) -> String,
) -> anyhow::Result<ExitStatus> {
    let mut progress = for_job(mode.start(plan.records), &plan)?;
    let folder = plan.files.final_folder().to_owned();
    let done = work(plan, &mut progress, &interrupt.cancel());
    drop(progress);
    let Completed { manifest, was_done } = done.map_err(|error| run_error(error, interrupt))?;
    if was_done {
        let what = manifest
            .run
            .shard
            .as_ref()
            .map_or("the run".to_owned(), |shard| format!("shard {shard}"));
        say!("nothing to do: {what} has already finished");
    }
    say!("{}", summary(&manifest.totals.counts));
    list_outputs(&manifest, &folder);
    let (counts, is_shard) = (&manifest.totals.counts, manifest.run.shard.is_some());
    // A shard may be empty although the run has records.
    let read = if is_shard { counts.input.max(1) } else { counts.input };
    Ok(ExitStatus::of_records(read, counts.bad_records()))
}

/// Prints the outputs and the fields that records lost or gained in the conversion.
fn list_outputs(manifest: &RecordManifest, folder: &Path) {
    let counts = &manifest.totals.counts;
    report::fields(&counts.lost, &counts.filled_in);
    report::lost_info(&counts.lost_info, "the format of the output");
    for output in &manifest.outputs {
        say!("  {} ({})", folder.join(path_of(&output.file)).display(), records(output.records));
    }
}

/// With `--resume`, prints whether the run is interrupted or finished. Whether its inputs and settings are the same is
/// not checked. Returns whether it is finished.
pub(super) fn show_existing(run: &RunFiles) -> std::io::Result<bool> {
    let continues =
        "the interrupted run will continue; the numbers here are those of the whole run";
    // A checkpoint next to a manifest belongs to a run that will replace it.
    let checkpoint = run.checkpoint.as_ref().map(|path| (path, false, continues));
    let manifest = (&run.manifest, true, "the run has finished, so nothing will be written");
    for (path, is_finished, meaning) in checkpoint.into_iter().chain([manifest]) {
        let path = run.destination(path);
        if run.resume && files::exists(&path)? {
            writeln!(std::io::stdout(), "found {}: {meaning}", name(&path.to_string_lossy()))?;
            return Ok(is_finished);
        }
    }
    Ok(false)
}

/// Prints the inputs and outputs of a plan.
pub(super) fn show_files(plan: &JobPlan) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    // The ranges of a shard already end at the limit.
    let mut limit = plan.settings.limit.filter(|_| plan.files.shard.is_none());
    for range in &plan.ranges {
        let number = match (range.end().map(|to| to - range.from), &mut limit) {
            (None, None) => "all records".to_owned(),
            (None, Some(limit)) => format!("at most {}", records(*limit)),
            (Some(number), None) => records(number),
            (Some(number), Some(limit)) => {
                let number = number.min(*limit);
                *limit -= number;
                records(number)
            }
        };
        let (input, format) = (name(&range.input.name), range.input.format.name());
        writeln!(out, "read {input} as {format}, {number} from record {}", range.from)?;
    }
    for path in plan.files.paths() {
        writeln!(out, "write {}", name(&plan.files.destination(path).to_string_lossy()))?;
    }
    Ok(())
}

/// Prints the inputs and outputs of a plan and an estimate of its duration, measured with judges from `make_judge`.
pub(super) fn show_plan<J: PositionJudge + 'static>(
    plan: &JobPlan,
    make_judge: impl Fn() -> Result<J, TableError> + Send + Sync + 'static,
) -> anyhow::Result<ExitStatus> {
    show_files(plan)?;
    if show_existing(&plan.files)? {
        return Ok(ExitStatus::Done);
    }
    let mut out = std::io::stdout().lock();
    let interrupt = Interrupt::watch().context("cannot watch for signals")?;
    match estimate(plan, make_judge, &interrupt.cancel())? {
        Some(estimate) => write_estimate(&mut out, &estimate)?,
        None => {
            writeln!(out, "no estimate: the inputs must be read to count their records")?;
        }
    }
    Ok(ExitStatus::Done)
}

/// Measures the estimate of a plan with judges from `make_judge`, as JSON.
pub(super) fn with_estimate<J: PositionJudge + 'static>(
    make_judge: impl Fn() -> Result<J, TableError> + Send + Sync + 'static,
) -> impl FnOnce(&JobPlan, &AtomicBool) -> anyhow::Result<serde_json::Value> {
    |plan, cancel| Ok(serde_json::to_value(estimate(plan, make_judge, cancel)?)?)
}

fn write_estimate(out: &mut impl Write, estimate: &Estimate) -> std::io::Result<()> {
    let &Estimate { records: number, sampled, threads, seconds, bytes } = estimate;
    let speed = number as f64 / seconds.expected;
    let text = |[about, low, high]: [String; 3]| {
        let interval =
            if low == high { String::new() } else { format!(", between {low} and {high}") };
        format!("about {about}{interval}")
    };
    let confidence = if sampled == number {
        String::new()
    } else {
        format!(" (95 % confidence, from {sampled} sampled records)")
    };
    writeln!(
        out,
        "{}: {} with {}{confidence}, {speed:.0} records/s",
        records(number),
        text([seconds.expected, seconds.low, seconds.high].map(duration)),
        quantity(threads, "thread"),
    )?;
    let (unit, shift) = if bytes.high < f64::from(1 << 20) { ("KiB", 10) } else { ("MiB", 20) };
    let sizes = [bytes.expected, bytes.low, bytes.high];
    let sizes = sizes.map(|bytes| format!("{:.1} {unit}", bytes / f64::from(1 << shift)));
    writeln!(out, "outputs: {}", text(sizes))
}
