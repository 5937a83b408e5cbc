//! `kyokumen merge`.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;

use super::call::Call;
use super::exit::run_error;
use super::json_lines;
use super::message::say;
use super::option::{location, word};
use super::report::records;
use super::{dataset, filter, relabel, selfplay};
use crate::cli::exit::ExitStatus;
use crate::cli::progress::ProgressMode;
use crate::jobs::any_totals::AnyTotals;
use crate::jobs::join::{JoinPlan, JoinReport, join};
use crate::jobs::merge::{MergePlan, MergeRequest, merge};
use crate::records::format_name::FormatName;
use crate::records::output_kind::OutputKind;
use crate::storage::quantity::{quantity, separated_quantity};
use crate::storage::signals::Interrupt;

/// Join the shards of a run into one file
///
/// Before the command writes, it checks the shards. Their manifests must have the same inputs, settings and program
/// version. The shards must cover the work without gap or overlap. The outputs to join must match the checksums in the
/// manifests, the other outputs their sizes. Missing shards and differences are listed.
///
/// The joined file equals the output of an unsharded run. A manifest next to it names the manifests of the shards.
///
/// The shards of `kyokumen solve --split` are joined into the verdict on the position and a proof file for `kyokumen
/// verify --proof`. Without a mate, the file contains no proof. This file has no manifest.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  kyokumen merge clean -o positions.hcp
  kyokumen merge clean -o mated.hcp --stream mated
  kyokumen merge problem -o problem.proofs

Exit status:
  0  success
  1  failure, a missing or different shard, or an output that exists
  2  usage error
  129, 130 or 143  interrupted by a signal")]
pub(super) struct MergeArgs {
    /// Folder or URL of the shards
    #[arg(value_name = "DIR", value_parser = location())]
    folder: PathBuf,

    /// File to write
    #[arg(short, long, value_name = "FILE", value_parser = location())]
    output: PathBuf,

    /// Fail if the shards have another format [default: any]
    #[arg(long, value_name = "FORMAT")]
    to: Option<FormatName>,

    /// Which outputs of the shards to join; the table of `dataset` is `rows` [default: kept, or proofs after `kyokumen
    /// solve --split`]
    #[arg(long, value_name = "kept|mated|mated_lines|unknown|unknown_lines|rows|proofs|quarantine|quarantine_lines", value_parser = word::<OutputKind>)]
    stream: Option<OutputKind>,

    /// Base name of the shards, needed if the folder holds several runs
    #[arg(long)]
    name: Option<String>,

    /// Show progress on standard error: `bar`, `plain` (a line every ten seconds), `json` (a line every second, and all
    /// messages as JSON) or `none`; `auto` is `bar` on a terminal and otherwise `plain` [default: auto]
    #[arg(long, value_name = "auto|bar|plain|json|none", value_parser = word::<ProgressMode>)]
    progress: Option<ProgressMode>,

    /// Replace existing outputs
    #[arg(long)]
    force: bool,
}

pub(super) fn call(args: MergeArgs) -> anyhow::Result<Call> {
    let request = args.request();
    if let Some(plan) = JoinPlan::new(&request)? {
        return Ok(Call::returning(move |caller| Ok(join(&plan, caller.cancel)?)));
    }
    let plan = MergePlan::new(request)?;
    Ok(Call::returning(move |caller| {
        let mut progress = caller.progress(Some(plan.records()));
        Ok(merge(&plan, &mut progress, caller.cancel)?)
    }))
}

pub(super) fn run(args: MergeArgs) -> anyhow::Result<ExitStatus> {
    let (output, progress) = (args.output.clone(), args.progress);
    json_lines::set_output(&output);
    let request = args.request();
    let split = JoinPlan::new(&request)?;
    let interrupt = Interrupt::watch().context("cannot watch for signals")?;
    if let Some(plan) = split {
        let report = join(&plan, &interrupt.cancel());
        let report = report.map_err(|error| run_error(error, &interrupt))?;
        say!("{}", verdict(&report));
        let JoinReport { shards, leaves, nodes, .. } = report;
        let (leaves, nodes) = (quantity(leaves, "position"), separated_quantity(nodes, "node"));
        say!("{}, {leaves}, {nodes}", quantity(shards, "shard"));
        return Ok(ExitStatus::Done);
    }
    let plan = MergePlan::new(request)?;
    let mut progress = progress.unwrap_or_default().start(Some(plan.records()));
    let merged = merge(&plan, &mut progress, &interrupt.cancel());
    drop(progress);
    let manifest = merged.map_err(|error| run_error(error, &interrupt))?;
    for written in &manifest.outputs {
        let shards = manifest.parents.len();
        say!(
            "{} ({} of {})",
            output.display(),
            records(written.records),
            quantity(shards, "shard")
        );
    }
    if let Some(all) = all_shards(plan.command(), &manifest.totals) {
        say!("all shards: {all}");
    }
    Ok(ExitStatus::Done)
}

impl MergeArgs {
    fn request(self) -> MergeRequest {
        let Self { folder, output, to, stream, name, force, progress: _ } = self;
        MergeRequest { folder, name, kind: stream, output, to, force }
    }
}

/// The verdict on a split position.
fn verdict(report: &JoinReport) -> String {
    let JoinReport { verdict, plies, steps, unknown_leaves, .. } = report;
    match (plies, *verdict) {
        (Some(plies), _) => {
            let (plies, steps) = (quantity(*plies, "ply"), quantity(*steps, "step"));
            format!("win within {plies}; the proof has {steps} and was checked")
        }
        (None, "no_mate") => "no mate".to_owned(),
        _ => format!("unknown: {} undecided", quantity(*unknown_leaves, "position")),
    }
}

/// The summary that `command` would have printed without shards.
fn all_shards(command: &str, totals: &AnyTotals) -> Option<String> {
    Some(match (totals, command) {
        (AnyTotals::Records(totals), "filter") => filter::summary(&totals.counts),
        (AnyTotals::Records(totals), "dataset" | "solve") => dataset::summary(&totals.counts),
        (AnyTotals::Records(totals), "relabel") => relabel::outcome::summary(&totals.counts),
        (AnyTotals::Games(totals), _) => selfplay::summary(&totals.games),
        _ => return None,
    })
}
