//! `kyokumen dataset`.

use std::path::PathBuf;

use clap::Args;

use super::job_args::{JobArgs, run_job, show_plan};
use super::option::{heading, word};
use super::record_args::{InputArgs, RecordArgs};
use super::report::{counted, records, with_counts};
use super::search_args::SearchArgs;
use crate::cli::exit::ExitStatus;
use crate::jobs::dataset::{dataset, judges};
use crate::jobs::plan::{JobPlan, JobRequest};
use crate::jobs::settings::{DatasetSettings, Settings};
use crate::jobs::shares::Shares;
use crate::records::counts::Counts;
use crate::storage::quantity::quantity;
use crate::storage::table::TableFormat;

/// Make a table of solved positions, for training and for study
///
/// A row for every position: its verdict (win, loss, no mate, unknown), the mate move by move, what it cost to
/// find out, and what the source says of the position. The columns are described in docs/datasets.md. Rows stand in
/// the order of the input, whatever the number of threads; those of shards in order are the rows of one run over
/// everything.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = "\
Examples:
  kyokumen dataset positions.hcp -o solved --to parquet
  kyokumen dataset games.psv -o solved --to jsonl --tsume-plies --drop-in-check --shard 3/10
  kyokumen dataset problems.sfen -o solved --to npz --nodes 20000000 --depth 200

Exit status: 0 done, 1 failed, 2 usage, 3 done but nothing was read, or bad records were skipped or quarantined, \
129, 130 or 143 interrupted.")]
pub(super) struct DatasetArgs {
    #[command(flatten)]
    inputs: InputArgs,

    #[command(flatten)]
    job: JobArgs,

    /// What is written: columns in Parquet, a JSON object a line, or arrays of numpy
    #[arg(long, required = true, value_name = "parquet|jsonl|npz", value_parser = word::<TableFormat>, help_heading = heading::OUTPUTS)]
    to: TableFormat,

    /// Which part of the positions is for training, for validation and for the test, in proportion; equal
    /// positions go the same way [default: 90,5,5]
    #[arg(long, value_name = "TRAIN,VALID,TEST", help_heading = heading::OUTPUTS)]
    split: Option<Shares>,

    /// Measure mates also as problems count them, without futile interpositions
    #[arg(long, help_heading = heading::OUTPUTS)]
    tsume_plies: bool,

    #[command(flatten)]
    search: SearchArgs,

    #[command(flatten)]
    records: RecordArgs,

    /// Take settings from a file whose keys are the long names of these options
    #[arg(long, value_name = "FILE.toml", help_heading = heading::RUNNING, hide_short_help = true)]
    config: Option<PathBuf>,
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
        let shares = self.split.unwrap_or_default();
        let dataset = DatasetSettings { format: self.to, shares, tsume_plies: self.tsume_plies };
        let settings = Settings {
            search: self.search.settings()?,
            dataset: Some(dataset),
            ..Settings::default()
        };
        let read_from = self.config.into_iter().collect();
        let request = self.job.request(self.inputs.into_paths(), self.records, settings);
        Ok(JobRequest { read_from, ..request })
    }
}

/// A one-line summary whose counts add up to the number of records.
fn summary(counts: &Counts) -> String {
    let verdicts = &counts.verdicts;
    let unknown = verdicts.unknown.values().sum();
    let of_them = counted(&[
        (verdicts.win, "win"),
        (verdicts.loss, "loss"),
        (verdicts.no_mate, "no mate"),
        (unknown, "unknown"),
    ]);
    let of_them = if of_them.is_empty() { of_them } else { format!(" ({of_them})") };
    let line = format!("{}: {}{of_them}", records(counts.input), quantity(counts.rows, "row"));
    let filtered = counts.filtered.values().sum::<u64>();
    with_counts(line, &[(filtered, "filtered"), (counts.bad_records(), "bad")])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mate::judge::Stop;

    #[test]
    fn the_summary_adds_up() {
        let mut counts = Counts { input: 9, rows: 7, ..Counts::default() };
        (counts.verdicts.win, counts.verdicts.no_mate) = (2, 4);
        counts.verdicts.unknown.insert(Stop::Nodes, 1);
        (counts.bad.skipped, counts.bad.quarantined) = (1, 1);
        assert_eq!(summary(&counts), "9 records: 7 rows (2 win, 4 no mate, 1 unknown), 2 bad");
        assert_eq!(summary(&Counts::default()), "0 records: 0 rows");
    }
}
