//! `kyokumen bench filter`: records per second of a whole run, from file to files.
//!
//! The outputs go to a folder of their own among the system's temporary files, and away again.

use std::io;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use clap::Args;
use serde::Serialize;

use super::super::option::{threads, whole_number};
use super::super::report::{json_line, milliseconds};
use super::super::search_args::SearchArgs;
use super::folder::Folder;
use crate::cli::bench::rounds::{Rounds, per_second, timed};
use crate::cli::exit::{ExitStatus, Usage};
use crate::engine::progress::Progress;
use crate::format::Format;
use crate::jobs::filter::filter;
use crate::jobs::manifest::Manifest;
use crate::jobs::plan::{JobPlan, JobRequest};
use crate::jobs::settings::Settings;
use crate::storage::platform;
use crate::storage::quantity::quantity;

/// Records per second of the filter, from file to files
#[derive(Args)]
pub(super) struct FilterArgs {
    /// File of positions [default: positions of random games]
    input: Option<PathBuf>,

    /// Records of random games, where no file is given [default: 2000]
    #[arg(long, default_value_t = 2000, hide_default_value = true, conflicts_with = "input", value_parser = whole_number::<u64>(..))]
    count: u64,

    #[command(flatten)]
    search: SearchArgs,

    /// Threads; 0 is all cores [default: 0]
    #[arg(long, default_value_t = 0, hide_default_value = true, value_parser = threads())]
    threads: usize,

    #[command(flatten)]
    rounds: Rounds,
}

#[derive(Serialize)]
struct Figure {
    records: u64,
    mated: u64,
    threads: usize,
    elapsed_ms: f64,
    records_per_s: f64,
    nodes_per_s: f64,
}

pub(super) fn run(args: &FilterArgs) -> anyhow::Result<ExitStatus> {
    let folder = Folder::create()?;
    let input = match &args.input {
        Some(input) if platform::is_stream(input) => {
            let input = input.display();
            let message = format!(
                "{input} can be read only once; each round reads it: write it to a file first"
            );
            return Err(Usage(message).into());
        }
        Some(input) => input.clone(),
        None => folder.generated(Format::Hcp, args.count)?,
    };
    let (manifest, elapsed) = args.rounds.measure(|| round(&input, &folder.path("out"), args))?;
    let threads = platform::threads(args.threads);
    let (counts, saved) = (&manifest.counts, manifest.saved);
    let mated = counts.mated.split;
    let figure = Figure {
        records: counts.input,
        mated,
        threads,
        elapsed_ms: milliseconds(elapsed),
        records_per_s: (per_second(counts.input, elapsed) * 10.0).round() / 10.0,
        nodes_per_s: per_second(counts.nodes - saved.nodes, elapsed).round(),
    };
    let written = if args.rounds.json { json_line(&figure) } else { write(&figure) };
    Ok(written.map(|()| ExitStatus::Done)?)
}

fn round(input: &Path, output: &Path, args: &FilterArgs) -> anyhow::Result<(Manifest, Duration)> {
    let search = args.search.settings()?;
    let settings = Settings { search, threads: args.threads, ..Settings::default() };
    let request = JobRequest {
        inputs: vec![input.to_owned()],
        output: output.to_owned(),
        force: true,
        settings,
        ..JobRequest::default()
    };
    let plan = JobPlan::new(request)?;
    let (filtered, elapsed) =
        timed(|| filter(plan, &mut Progress::none(), &AtomicBool::new(false)));
    Ok((filtered?.manifest, elapsed))
}

fn write(figure: &Figure) -> io::Result<()> {
    let Figure { records, mated, threads, records_per_s, nodes_per_s, .. } = figure;
    writeln!(
        io::stdout(),
        "{}, {mated} mated: {records_per_s:.1} records/s, {nodes_per_s:.0} nodes/s with {}",
        quantity(*records, "record"),
        quantity(*threads, "thread")
    )
}
