//! `kyokumen dataset`.

use std::path::PathBuf;

use clap::Args;

use super::call::Call;
use super::job_args::{JobArgs, run_job, show_plan, with_estimate};
use super::option::{heading, word};
use super::record_args::{InputArgs, RecordArgs};
use super::report::{self, counted, records, with_counts};
use super::search_args::SearchArgs;
use crate::cli::exit::{EXIT_STATUS_HELP, ExitStatus};
use crate::jobs::dataset::{dataset, judges};
use crate::jobs::plan::{JobPlan, JobRequest};
use crate::jobs::settings::{DatasetSettings, Settings};
use crate::jobs::shares::Shares;
use crate::records::counts::Counts;
use crate::storage::quantity::quantity;
use crate::storage::table::TableFormat;

/// Write a table of positions with their mate verdicts, for training and study
///
/// Each position gets one row: its verdict, the mating line, the search cost and the fields of its record. The verdict
/// is `win` if the side to move can force mate, `loss` if it is being mated by force, `no_mate` if neither is possible,
/// or `unknown` if a limit ended the search. docs/datasets.md describes the columns. Rows keep the input order for any
/// number of threads. The rows of the shards, concatenated in order, are the rows of an unsharded run.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = format!("\
Examples:
  kyokumen dataset positions.hcp -o solved --to parquet
  kyokumen dataset games.psv -o solved --to jsonl --tsume-plies --drop-in-check --shard 3/10
  kyokumen dataset problems.sfen -o solved --to npz --nodes 20000000 --depth 200

{EXIT_STATUS_HELP}"))]
pub(super) struct DatasetArgs {
    #[command(flatten)]
    inputs: InputArgs,

    #[command(flatten)]
    job: JobArgs,

    /// Format of the table: Parquet, one JSON object per line, or NumPy arrays
    #[arg(long, required = true, value_name = "parquet|jsonl|npz", value_parser = word::<TableFormat>, help_heading = heading::OUTPUTS)]
    to: TableFormat,

    /// Relative sizes of the training, validation and test sets; equal positions go to the same set [default: 90,5,5]
    #[arg(long, value_name = "TRAIN,VALID,TEST", help_heading = heading::OUTPUTS)]
    split: Option<Shares>,

    /// Also write the length of each mate as tsume problems count it, without futile interpositions
    #[arg(long, help_heading = heading::OUTPUTS)]
    tsume_plies: bool,

    #[command(flatten)]
    search: SearchArgs,

    #[command(flatten)]
    records: RecordArgs,

    /// Read options from a TOML file whose keys are the long option names; the command line takes precedence
    #[arg(long, value_name = "FILE.toml", help_heading = heading::RUNNING, hide_short_help = true)]
    config: Option<PathBuf>,
}

pub(super) fn call(args: DatasetArgs) -> anyhow::Result<Call> {
    let dry_run = args.job.dry_run;
    let plan = JobPlan::new(args.request()?)?;
    if dry_run {
        let make_judge = judges(&plan);
        return Ok(Call::planned(plan, with_estimate(make_judge)));
    }
    Ok(Call::job(plan, dataset))
}

pub(super) fn run(args: DatasetArgs) -> anyhow::Result<ExitStatus> {
    let (mode, dry_run) = (args.job.progress(), args.job.dry_run);
    let plan = JobPlan::new(args.request()?)?;
    if dry_run {
        return show_plan(&plan, judges(&plan));
    }
    run_job(plan, mode, dataset, summary)
}

impl DatasetArgs {
    fn request(self) -> anyhow::Result<JobRequest> {
        let inputs = self.inputs.into_paths();
        self.job.label_messages(&inputs);
        let shares = self.split.unwrap_or_default();
        let dataset = DatasetSettings { format: self.to, shares, tsume_plies: self.tsume_plies };
        let settings = Settings {
            search: self.search.settings()?,
            dataset: Some(dataset),
            ..Settings::default()
        };
        let config_files = self.config.into_iter().collect();
        let request = self.job.request(inputs, self.records, settings);
        Ok(JobRequest { config_files, ..request })
    }
}

/// The number of positions with each verdict.
pub(super) fn verdicts(counts: &Counts) -> String {
    let verdicts = &counts.verdicts;
    let unknown = verdicts.unknown.values().sum();
    counted(&[
        (verdicts.win, "win"),
        (verdicts.loss, "loss"),
        (verdicts.no_mate, "no mate"),
        (unknown, "unknown"),
    ])
}

/// A one-line summary whose counts add up to the number of records.
pub(super) fn summary(counts: &Counts) -> String {
    let verdicts = verdicts(counts);
    let verdicts = if verdicts.is_empty() { verdicts } else { format!(" ({verdicts})") };
    let line = format!("{}: {}{verdicts}", records(counts.input), quantity(counts.rows, "row"));
    let filtered = counts.filtered.values().sum::<u64>();
    let line = with_counts(line, &[(filtered, "filtered"), (counts.bad_records(), "bad")]);
    line + &report::filtered(&counts.filtered)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mate::judge::Stop;

    #[test]
    fn the_counts_of_the_summary_add_up() {
        let mut counts = Counts { input: 9, rows: 7, ..Counts::default() };
        (counts.verdicts.win, counts.verdicts.no_mate) = (2, 4);
        counts.verdicts.unknown.insert(Stop::Nodes, 1);
        (counts.bad.skipped, counts.bad.quarantined) = (1, 1);
        assert_eq!(summary(&counts), "9 records: 7 rows (2 win, 4 no mate, 1 unknown), 2 bad");
        assert_eq!(summary(&Counts::default()), "0 records: 0 rows");
    }
}
