//! `kyokumen merge`.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;

use super::exit::run_error;
use super::message::say;
use super::option::{location, word};
use super::report::records;
use crate::cli::exit::ExitStatus;
use crate::cli::progress::ProgressMode;
use crate::jobs::merge::{MergePlan, MergeRequest, merge};
use crate::records::output_kind::OutputKind;
use crate::storage::quantity::quantity;
use crate::storage::signals::Interrupt;

/// Join the outputs of all shards of a run
///
/// Before a byte is written, the manifests are compared: the same inputs, settings and versions, no gap, no
/// overlap; and the outputs with their manifests, byte for byte. What is missing or different is listed. The
/// file is the one that a run without shards writes, beside it stands a manifest that names those of the
/// shards.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  kyokumen merge clean -o positions.hcp
  kyokumen merge clean -o mated.hcp --stream mated

Exit status: 0 joined, 1 failed, or something is missing or different, 2 usage, 129, 130 or 143 interrupted.")]
pub(super) struct MergeArgs {
    /// Folder of the shards, or its URL
    #[arg(value_name = "DIR", value_parser = location())]
    folder: PathBuf,

    /// The file to be written
    #[arg(short, long, value_name = "FILE", value_parser = location())]
    output: PathBuf,

    /// Which of the outputs [default: kept]
    #[arg(long, value_name = "kept|mated|mated_lines|unknown|rows|quarantine|quarantine_lines", value_parser = word::<OutputKind>)]
    stream: Option<OutputKind>,

    /// Start of the shards' names, if there are several runs
    #[arg(long)]
    name: Option<String>,

    /// Show progress on standard error [default: auto]
    #[arg(long, value_name = "auto|bar|plain|json|none", value_parser = word::<ProgressMode>)]
    progress: Option<ProgressMode>,

    /// Replace outputs that exist
    #[arg(long)]
    force: bool,
}

pub(super) fn run(args: MergeArgs) -> anyhow::Result<ExitStatus> {
    let MergeArgs { folder, output, stream, name, progress, force } = args;
    let stream = stream.unwrap_or(OutputKind::Kept);
    let request = MergeRequest { folder, name, kind: stream, output: output.clone(), force };
    let plan = MergePlan::new(request)?;
    let interrupt = Interrupt::watch().context("cannot watch for signals")?;
    let mut progress = progress.unwrap_or_default().over(Some(plan.records()));
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
    Ok(ExitStatus::Done)
}
