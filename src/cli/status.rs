//! `kyokumen status`.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;

use super::message::name;
use super::option::location;
use super::report::json_line;
use crate::cli::exit::ExitStatus;
use crate::engine::messages::shortened;
use crate::jobs::status::{RunStatus, RunUnit, ShardState, ShardStatus, status};
use crate::storage::quantity::{duration, noun, rounded, separated};

/// Show the progress of all runs writing to a folder
///
/// Shards may run on other machines. Their progress is read from their checkpoints, which are written every ten seconds
/// unless the run sets --checkpoint-every. Before its first checkpoint, a run shows 0 records.
#[derive(Args)]
pub(super) struct StatusArgs {
    /// Folder or URL of the outputs
    #[arg(value_name = "DIR", value_parser = location())]
    folder: PathBuf,

    /// Print one JSON object per run
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &StatusArgs) -> anyhow::Result<ExitStatus> {
    let runs = status(&args.folder)?;
    if runs.is_empty() {
        anyhow::bail!("no runs found in {}", args.folder.display());
    }
    for run in &runs {
        if args.json {
            json_line(run)?;
        } else {
            write_run(run)?;
        }
    }
    match runs.iter().map(|run| run.problems.len()).sum() {
        0 => Ok(ExitStatus::Done),
        1 => anyhow::bail!("the manifests have the problem shown above"),
        problems => anyhow::bail!("the manifests have the {problems} problems shown above"),
    }
}

fn write_run(run: &RunStatus) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let speed = match run.unit {
        RunUnit::Records => "rec/s",
        RunUnit::Games => "games/s",
    };
    writeln!(out, "{}: {}", name(&run.name), summary(run))?;
    writeln!(
        out,
        "{:>13}  {:<11} {:>12} {:>12} {:>10} {:>9} {:>9} {:>11}",
        "shard", "state", "done", "of", "mated", "unknown", speed, "left"
    )?;
    run.shards.iter().try_for_each(|shard| write_shard(&mut out, shard))?;
    shortened(&run.problems).iter().try_for_each(|problem| writeln!(out, "  {problem}"))
}

/// `3 done, 1 running, 1 missing; 300 of 500 records, 12 records/s, 17 s left`
fn summary(run: &RunStatus) -> String {
    let number = |state| {
        let shards = run.shards.iter().filter(|shard| shard.state == state);
        shards.map(|shard| u64::from(shard.shards)).sum::<u64>()
    };
    let states = ShardState::ALL.map(|state| (number(state), state.name()));
    let states = states.iter().filter(|(number, _)| *number > 0);
    let states: Vec<_> = states.map(|(number, name)| format!("{number} {name}")).collect();
    let unit = run.unit.name();
    let units = noun(run.records.unwrap_or(run.done) == 1, unit);
    let about = if run.is_estimate { "about " } else { "" };
    let of = run.records.map(|records| format!(" of {about}{}", separated(records)));
    let of = of.unwrap_or_default();
    let speed = match run.records_per_s {
        speed if speed > 0.0 => format!(", {} {}/s", rounded(speed), noun(false, unit)),
        _ => String::new(),
    };
    let left = run.eta_s.map_or(String::new(), |eta_s| format!(", {} left", duration(eta_s)));
    format!("{}; {}{of} {units}{speed}{left}", states.join(", "), separated(run.done))
}

fn write_shard(out: &mut impl Write, shard: &ShardStatus) -> io::Result<()> {
    let text = |number: Option<u64>| number.map_or("?".to_owned(), separated);
    let speed = shard.records_per_s.map_or(String::new(), rounded);
    let left = shard.eta_s.map_or(String::new(), duration);
    let by = shard
        .owner
        .as_ref()
        .map_or(String::new(), |owner| format!("  process {} on {}", owner.pid, owner.host));
    let line = format!(
        "{:>13}  {:<11} {:>12} {:>12} {:>10} {:>9} {speed:>9} {left:>11}{by}",
        shard.shard.as_deref().unwrap_or("all"),
        shard.state.name(),
        separated(shard.done),
        text(shard.records),
        separated(shard.mated),
        separated(shard.unknown),
    );
    writeln!(out, "{}", name(line.trim_end()))
}
