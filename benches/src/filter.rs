//! `kyokumen-bench filter`: records per second of a whole run, from file to files.
//!
//! The outputs are written to a temporary folder, which is removed at the end.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::thread::available_parallelism;
use std::time::Duration;

use anyhow::bail;
use clap::Args;
use kyokumen::engine::progress::Progress;
use kyokumen::format::Format;
use kyokumen::jobs::filter::filter;
use kyokumen::jobs::plan::{JobPlan, JobRequest};
use kyokumen::jobs::record_totals::RecordManifest;
use kyokumen::jobs::run_files::RunRequest;
use kyokumen::jobs::settings::Settings;
use kyokumen::mate::judge::MateSettings;
use serde::Serialize;

use crate::folder::Folder;
use crate::rounds::{Rounds, json_line, milliseconds, per_second, timed};

/// Records per second of the filter, from file to files
#[derive(Args)]
pub(crate) struct FilterArgs {
    /// File of positions [default: positions of random games]
    input: Option<PathBuf>,

    /// Number of records of random games if no file is given [default: 2000]
    #[arg(long, default_value_t = 2000, hide_default_value = true, conflicts_with = "input")]
    count: u64,

    /// Maximum depth of a search in plies
    #[arg(long, value_name = "PLIES", default_value_t = MateSettings::default().depth_plies)]
    depth: u16,

    /// Maximum number of nodes of a search
    #[arg(long, default_value_t = MateSettings::default().nodes)]
    nodes: u64,

    /// Size of the hash table of each thread in MiB
    #[arg(long, value_name = "MIB", default_value_t = MateSettings::default().hash_mb)]
    hash_mb: usize,

    /// Threads; 0 is all cores
    #[arg(long, default_value_t = 0)]
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

pub(crate) fn run(args: &FilterArgs) -> anyhow::Result<()> {
    let folder = Folder::create()?;
    let input = match &args.input {
        Some(input) if input.is_file() => input.clone(),
        // Pipes are rejected, because each round reads the input.
        Some(input) => bail!("{} is not a file", input.display()),
        None => folder.generated(Format::Hcp, args.count)?,
    };
    let (manifest, elapsed) = args.rounds.measure(|| round(&input, &folder.path("out"), args))?;
    let threads = match args.threads {
        0 => available_parallelism()?.get(),
        threads => threads,
    };
    let (counts, saved) = (&manifest.totals.counts, manifest.totals.saved);
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
    Ok(written?)
}

fn round(
    input: &Path,
    output: &Path,
    args: &FilterArgs,
) -> anyhow::Result<(RecordManifest, Duration)> {
    let search = MateSettings {
        depth_plies: args.depth,
        nodes: args.nodes,
        hash_mb: args.hash_mb,
        ..MateSettings::default()
    };
    search.check()?;
    let settings = Settings { search, threads: args.threads, ..Settings::default() };
    let request = JobRequest {
        inputs: vec![input.to_owned()],
        run: RunRequest { force: true, ..RunRequest::new(output) },
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
        "{records} records, {mated} mated: {records_per_s:.1} records/s, {nodes_per_s:.0} nodes/s, {threads} threads"
    )
}
