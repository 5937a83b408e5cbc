//! `kyokumen filter`, also known as `gen-filter`.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;

use super::call::Call;
use super::job_args::{JobArgs, run_job, show_plan, with_estimate};
use super::option::{heading, word};
use super::record_args::{InputArgs, RecordArgs};
use super::report::{self, records, with_counts};
use super::search_args::SearchArgs;
use crate::cli::exit::{EXIT_STATUS_HELP, ExitStatus};
use crate::format::Fill;
use crate::jobs::filter::filter;
use crate::jobs::plan::{JobPlan, JobRequest, Product};
use crate::jobs::previous_run::PreviousRun;
use crate::jobs::settings::{MatedPolicy, Settings, UnknownPolicy};
use crate::mate::judge::Judge;
use crate::records::counts::Counts;
use crate::records::format_name::FormatName;

/// Remove positions with a proven forced mate
#[derive(Args, Clone, Debug)]
#[command(mut_arg("inputs", |inputs| inputs.required_unless_present_any(["input", "retry_unknown"])))]
#[command(long_about = "\
Remove positions with a proven forced mate

Examples:
  kyokumen filter positions.hcp -o out
      writes the kept positions to out/positions.hcp and the mated ones to out/positions.hcp.mated
  kyokumen filter games.psv -o out --nodes 10000000 --mated drop --unknown split
  kyokumen filter archive/*.psv -o out --shard 3/10 --resume
  kyokumen filter --retry-unknown out/positions.manifest.json -o again --nodes 10000000

A position is mated if the side to move can force mate (a win), or if it is in check and cannot avoid mate (a loss).

Every record is counted once: the manifest states how many were kept, mated, filtered out, bad, or removed as \
unknown (--unknown drop or split), and how many of the kept are unknown. Records keep \
their order for any number of threads. If the format stays the same, they are copied byte for byte. The outputs of the \
shards, concatenated in order, are the output of an unsharded run. A position that occurs several times is usually searched once.")]
#[command(after_long_help = EXIT_STATUS_HELP)]
pub(super) struct FilterArgs {
    #[command(flatten)]
    inputs: InputArgs,

    #[command(flatten)]
    job: JobArgs,

    /// Format of the outputs; must be given if the inputs hold games [default: the format of the inputs]
    #[arg(long, value_name = "FORMAT", help_heading = heading::OUTPUTS)]
    to: Option<FormatName>,

    #[command(flatten)]
    search: SearchArgs,

    /// What to do with mated positions: `split` writes them to a separate file, `drop` removes them, `relabel` keeps
    /// them with the result, evaluation and move of the proof. A list of the mates is written in every case
    /// [default: split]
    #[arg(long, value_name = "split|drop|relabel", default_value = "split", hide_default_value = true, value_parser = word::<MatedPolicy>, help_heading = heading::OUTPUTS)]
    mated: MatedPolicy,

    /// What to do with positions the search could not decide: keep them, drop them, or split them off to a separate
    /// file [default: keep]
    #[arg(long, value_name = "keep|drop|split", default_value = "keep", hide_default_value = true, value_parser = word::<UnknownPolicy>, help_heading = heading::OUTPUTS)]
    unknown: UnknownPolicy,

    /// Values for fields that a record lacks (`move`, `eval`, `result`, `ply`, `end_ply`: number of the last move of
    /// the game), as in eval=0,result=draw. The move is `none` or a move in USI notation; records where it is illegal
    /// are bad. Do not train with filled-in evaluations or results
    #[arg(long, value_name = "FIELD=VALUE,…", help_heading = heading::OUTPUTS, hide_short_help = true)]
    fill: Option<Fill>,

    #[command(flatten)]
    records: RecordArgs,

    /// Search again the positions that were unknown in the run with this manifest, usually with more --nodes. The
    /// inputs, the shard and all other verdicts come from that run. The outputs contain all records and go to another
    /// --output. Options that are not given have the values of that run
    #[arg(long, value_name = "MANIFEST", conflicts_with_all = ["inputs", "input", "shard", "config"], help_heading = heading::RUNNING, hide_short_help = true)]
    retry_unknown: Option<PathBuf>,

    /// Read options from a TOML file whose keys are the long option names; the command line takes precedence
    #[arg(long, value_name = "FILE.toml", help_heading = heading::RUNNING, hide_short_help = true)]
    config: Option<PathBuf>,
}

pub(super) fn call(args: FilterArgs) -> anyhow::Result<Call> {
    let dry_run = args.job.dry_run;
    let plan = JobPlan::new(args.request()?)?;
    if dry_run {
        let search = plan.settings.search.clone();
        return Ok(Call::planned(plan, with_estimate(move || Judge::try_new(&search))));
    }
    Ok(Call::job(plan, filter))
}

pub(super) fn run(args: FilterArgs) -> anyhow::Result<ExitStatus> {
    let (mode, dry_run) = (args.job.progress(), args.job.dry_run);
    let plan = JobPlan::new(args.request()?)?;
    if let Product::Records(to) = plan.product
        && plan.settings.mated == MatedPolicy::Relabel
        && to.format.fields().is_empty()
    {
        tracing::warn!("{to} records hold only positions, so --mated relabel changes nothing");
    }
    if dry_run {
        let search = plan.settings.search.clone();
        return show_plan(&plan, move || Judge::try_new(&search));
    }
    run_job(plan, mode, filter, summary)
}

impl FilterArgs {
    fn request(self) -> anyhow::Result<JobRequest> {
        let previous_run = self.retry_unknown.as_deref().map(PreviousRun::read).transpose()?;
        let mut inputs = self.inputs.into_paths();
        let mut job = self.job;
        if let Some(run) = &previous_run {
            tracing::info!("searching {} again", records(run.unknown()));
            inputs = run.inputs();
            job.run.shard = run.shard().map(str::parse).transpose().context("in the manifest")?;
        }
        job.label_messages(&inputs);
        let settings = Settings {
            search: self.search.settings()?,
            mated: self.mated,
            unknown: self.unknown,
            fill: self.fill.unwrap_or_default(),
            ..Settings::default()
        };
        Ok(JobRequest {
            to: self.to,
            previous_run: previous_run.map(Arc::new),
            config_files: self.config.into_iter().collect(),
            ..job.request(inputs, self.records, settings)
        })
    }
}

/// A one-line summary whose counts add up to the number of records.
pub(super) fn summary(counts: &Counts) -> String {
    let unknown = counts.unknown.split + counts.unknown.dropped;
    let unknown_kept = counts.verdicts.unknown.values().sum::<u64>() - unknown;
    let filtered: u64 = counts.filtered.values().sum();
    let kept = counts.kept;
    let mated = match (counts.mated.split + counts.mated.dropped, counts.mated.relabelled) {
        (mated, 0) => format!("{mated} mated"),
        // All mated records of a run are treated alike.
        (_, relabelled) => format!("{relabelled} mated and relabelled"),
    };
    let unknown_note = match unknown_kept {
        0 => String::new(),
        unknown => format!(" ({unknown} of them unknown)"),
    };
    let line = format!("{}: {kept} kept{unknown_note}, {mated}", records(counts.input));
    let bad = counts.bad_records();
    let line = with_counts(line, &[(unknown, "unknown"), (filtered, "filtered"), (bad, "bad")]);
    line + &report::filtered(&counts.filtered)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mate::judge::Stop;
    use crate::records::counts::MatedCounts;

    #[test]
    fn the_summary_counts_kept_unknown_records() {
        let mut counts = Counts { input: 9, kept: 6, ..Counts::default() };
        counts.mated.split = 2;
        assert_eq!(summary(&counts), "9 records: 6 kept, 2 mated");
        counts.mated = MatedCounts { relabelled: 2, ..MatedCounts::default() };
        assert_eq!(summary(&counts), "9 records: 6 kept, 2 mated and relabelled");
        counts.mated = MatedCounts { split: 2, ..MatedCounts::default() };
        counts.verdicts.unknown.extend([(Stop::Nodes, 3), (Stop::Depth, 1)]);
        counts.unknown.split = 1;
        assert_eq!(summary(&counts), "9 records: 6 kept (3 of them unknown), 2 mated, 1 unknown");
    }
}
