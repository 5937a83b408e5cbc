//! Splits the search of one position into shards.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use clap::Args;

use super::args::SolveArgs;
use super::one::settings;
use crate::cli::dataset::verdicts;
use crate::cli::exit::{ExitStatus, Usage};
use crate::cli::job_args::run_job;
use crate::cli::option::{location, whole_number};
use crate::format::Format;
use crate::jobs::leaves::{solve_leaves, write_leaves};
use crate::jobs::plan::{JobPlan, JobRequest};
use crate::jobs::run_files::RunRequest;
use crate::jobs::settings::{Settings, SplitSettings};
use crate::mate::judge::{InCheck, MateSettings};
use crate::mate::split::{MAX_SPLIT_PLIES, SplitTree};
use crate::records::bad_record::BadPolicy;
use crate::records::counts::Counts;
use crate::records::format_name::FormatName;
use crate::records::shard_choice::ShardChoice;
use crate::shogi::Position;
use crate::storage::quantity::{quantity, separated_quantity};

#[derive(Args)]
pub(super) struct SplitArgs {
    /// Search one position on several machines. Each shard searches some of the positions after the first K plies;
    /// `kyokumen merge` joins them into a verdict and a proof. Needs an SFEN, --output and --shard
    #[arg(
        long,
        value_name = "K",
        value_parser = whole_number::<u16>(1..=u64::from(MAX_SPLIT_PLIES)),
        requires_all = ["output", "shard"],
        conflicts_with_all = [
            "from", "limit", "time", "in_check", "shortest", "tsume_plies", "all", "all_nodes", "solution", "proof",
            "to", "json",
        ],
    )]
    pub(super) split: Option<u16>,

    /// Folder for the outputs of --split; a missing folder is created
    #[arg(short, long, value_name = "DIR", requires = "split", value_parser = location())]
    output: Option<PathBuf>,

    /// Search only the I-th of N parts, as in 3/10. `auto` reads the shard from the Slurm, Kubernetes, Grid Engine or
    /// PBS job, or from the variable `KYOKUMEN_SHARD`. Use `auto/N` if the job does not export the number of shards
    #[arg(long, value_name = "I/N|auto[/N]", requires = "split")]
    shard: Option<ShardChoice>,

    /// Resume an interrupted shard. Starts a new run if there is none; does nothing if it has finished
    #[arg(long, requires = "split", conflicts_with = "force")]
    resume: bool,
}

/// Searches a shard of the positions after the first `plies` plies. The default limits are those of a single position.
pub(super) fn solve_split(
    args: &SolveArgs,
    root: &Position,
    plies: u16,
) -> anyhow::Result<ExitStatus> {
    // The attacker moves first.
    let in_check = if plies.is_multiple_of(2) { InCheck::Or } else { InCheck::And };
    InCheck::Or.searches(root).map_err(|error| Usage(format!("SFEN: {error}\n  {root}")))?;
    let search = MateSettings { in_check, ..settings(args)? };
    let output = args.split.output.clone().unwrap_or_default();
    // No signal is watched yet, so each ends the process.
    let tree = SplitTree::new(root, plies, &AtomicBool::new(false))?;
    let leaves = write_leaves(&tree, &output, args.force)?;
    let plan = JobPlan::new(JobRequest {
        inputs: vec![leaves],
        run: RunRequest {
            shard: args.split.shard,
            force: args.force,
            resume: args.split.resume,
            ..RunRequest::new(output)
        },
        from: Some(FormatName::plain(Format::Sfen)),
        settings: Settings {
            search,
            on_error: BadPolicy::Stop,
            split: Some(SplitSettings { sfen: root.to_string(), plies }),
            threads: args.threads,
            ..Settings::default()
        },
        ..JobRequest::default()
    })?;
    run_job(plan, args.progress.unwrap_or_default(), solve_leaves, summary)
}

fn summary(counts: &Counts) -> String {
    let verdicts = verdicts(counts);
    let colon = if verdicts.is_empty() { "" } else { ": " };
    let nodes = separated_quantity(counts.nodes, "node");
    format!("{}{colon}{verdicts}; {nodes}", quantity(counts.input, "position"))
}
