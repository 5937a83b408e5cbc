//! `kyokumen filter`, also known as `gen-filter`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use clap::Args;

use super::config::Layered;
use super::job_args::{JobArgs, run_job, show_plan};
use super::option::{heading, word};
use super::record_args::{InputArgs, RecordArgs};
use super::report::{records, with_counts};
use super::search_args::SearchArgs;
use crate::cli::exit::ExitStatus;
use crate::format::Fill;
use crate::jobs::filter::filter;
use crate::jobs::identity::RETRY_UNKNOWN;
use crate::jobs::plan::{JobPlan, JobRequest, Product};
use crate::jobs::previous_run::PreviousRun;
use crate::jobs::run_name::RunName;
use crate::jobs::settings::{MatedPolicy, Settings, UnknownPolicy};
use crate::mate::judge::Judge;
use crate::records::account::MANIFEST_SUFFIX;
use crate::records::counts::Counts;
use crate::records::format_name::FormatName;
use crate::storage::path_text::text_of;

/// Remove positions with a proven forced mate
///
/// Every record goes to exactly one place: kept, mated, unknown, filtered, or quarantined if it cannot be
/// used. Records are written byte for byte as they were read, in their order, whatever the number of
/// threads; shards in order concatenate to the output of one run over everything. Equal positions are
/// searched once.
#[derive(Args, Clone, Debug)]
#[command(mut_arg("inputs", |inputs| inputs.required_unless_present_any(["input", "retry_unknown"])))]
#[command(after_long_help = "\
Exit status: 0 done, 1 failed, 2 usage, 3 done but nothing was read, or bad records were skipped or quarantined, \
129, 130 or 143 interrupted.")]
pub(super) struct FilterArgs {
    #[command(flatten)]
    inputs: InputArgs,

    #[command(flatten)]
    settings: Layered<SettingArgs>,

    /// Search only what was unknown in the run with this manifest, as a rule with more --nodes; everything
    /// else is as it was found then. Inputs and settings are those of that run unless others are named
    #[arg(long, value_name = "MANIFEST", conflicts_with_all = ["inputs", "input", "shard", "config"], help_heading = heading::RUNNING, hide_short_help = true)]
    retry_unknown: Option<PathBuf>,

    /// Take settings from a file whose keys are the long names of these options
    #[arg(long, value_name = "FILE.toml", help_heading = heading::RUNNING, hide_short_help = true)]
    config: Option<PathBuf>,
}

/// What a configuration file can say, too.
#[derive(Args, Clone, Debug, Default)]
struct SettingArgs {
    #[command(flatten)]
    job: JobArgs,

    /// Format of the outputs [default: that of the inputs]
    #[arg(long, value_name = "FORMAT", help_heading = heading::OUTPUTS)]
    to: Option<FormatName>,

    #[command(flatten)]
    search: SearchArgs,

    /// What becomes of mates: a file of their own; they are left out; or they are kept, and result, evaluation and move
    /// of the proof take the place of what they had. The proofs are listed in any case [default: split]
    #[arg(long, value_name = "split|drop|relabel", value_parser = word::<MatedPolicy>, help_heading = heading::OUTPUTS)]
    mated: Option<MatedPolicy>,

    /// What becomes of positions on which the search gave up [default: keep]
    #[arg(long, value_name = "keep|drop|split", value_parser = word::<UnknownPolicy>, help_heading = heading::OUTPUTS)]
    unknown: Option<UnknownPolicy>,

    /// Values for fields that a record lacks, as in eval=0,result=draw,ply=0,move=none. move also takes a move in USI
    /// notation; records in which it is illegal are bad
    #[arg(long, value_name = "FIELD=VALUE,…", help_heading = heading::OUTPUTS, hide_short_help = true)]
    fill: Option<Fill>,

    #[command(flatten)]
    records: RecordArgs,
}

pub(super) fn run(args: FilterArgs) -> anyhow::Result<ExitStatus> {
    let FilterArgs { inputs, settings, retry_unknown, config } = args;
    let (settings, previous_run, inputs) = match retry_unknown {
        Some(manifest) => {
            let (settings, first) = retry(settings, &manifest)?;
            let inputs = first.inputs();
            (settings, Some(Arc::new(first)), inputs)
        }
        None => (settings.over_file(config.as_deref())?, None, inputs.into_paths()),
    };
    let (mode, dry_run) = (settings.job.progress(), settings.job.dry_run);
    let read_from = config.into_iter().collect();
    let request = JobRequest { previous_run, read_from, ..settings.request(inputs)? };
    let plan = JobPlan::new(request)?;
    if let Product::Records(to) = plan.product
        && plan.settings.mated == MatedPolicy::Relabel
        && to.format.fields().is_empty()
    {
        tracing::warn!("{to} records hold positions only: relabelled mates stay as they are");
    }
    if dry_run {
        let search = plan.settings.search.clone();
        return show_plan(&plan, move || Judge::try_new(&search));
    }
    run_job(plan, mode, filter, summary)
}

/// The settings of a second pass over the unknown positions of an earlier run, and that run.
fn retry(
    settings: Layered<SettingArgs>,
    manifest: &Path,
) -> anyhow::Result<(SettingArgs, PreviousRun)> {
    let first = PreviousRun::read(manifest);
    let first = first?;
    let mut earlier = first.settings().clone();
    earlier.remove(RETRY_UNKNOWN);
    earlier.remove("threads");
    let mut settings = settings.over_manifest(&earlier)?;
    let file = text_of(manifest.file_name().unwrap_or_default());
    let name = RunName::of_file(&file, MANIFEST_SUFFIX);
    let name = name.map(|name| name.stated(first.shard()).stem);
    settings.job.name = settings.job.name.or(name);
    let shard = first.shard().map(str::parse).transpose();
    settings.job.shard = shard.context("the manifest names no shard")?;
    settings.records.from = settings.records.from.or(first.format());
    settings.records.dialect = settings.records.dialect.or(first.dialect());
    tracing::info!("{} to be searched again", records(first.unknown()));
    Ok((settings, first))
}

impl SettingArgs {
    fn request(self, inputs: Vec<PathBuf>) -> anyhow::Result<JobRequest> {
        let settings = Settings {
            search: self.search.settings()?,
            mated: self.mated.unwrap_or_default(),
            unknown: self.unknown.unwrap_or_default(),
            fill: self.fill.unwrap_or_default(),
            ..Settings::default()
        };
        let request = self.job.request(inputs, self.records, settings)?;
        Ok(JobRequest { to: self.to, ..request })
    }
}

/// A one-line summary whose counts add up to the number of records.
fn summary(counts: &Counts) -> String {
    let unknown = counts.unknown.split + counts.unknown.dropped;
    let unknown_kept = counts.verdicts.unknown.values().sum::<u64>() - unknown;
    let filtered: u64 = counts.filtered.values().sum();
    let kept = counts.kept;
    let mated = match (counts.mated.split + counts.mated.dropped, counts.mated.relabelled) {
        (mated, 0) => format!("{mated} mated"),
        // One setting decides for all of a run.
        (_, relabelled) => format!("{relabelled} mated and relabelled"),
    };
    let of_them = match unknown_kept {
        0 => String::new(),
        unknown => format!(" ({unknown} of them unknown)"),
    };
    let line = format!("{}: {kept} kept{of_them}, {mated}", records(counts.input));
    let bad = counts.bad_records();
    with_counts(line, &[(unknown, "unknown"), (filtered, "filtered"), (bad, "bad")])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mate::judge::Stop;
    use crate::records::counts::MatedCounts;

    #[test]
    fn the_summary_tells_the_unknown_that_were_kept() {
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
