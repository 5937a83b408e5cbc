//! `kyokumen-bench files`: records per second of conversions from file to file.
//!
//! By default, one thread works, in addition to the threads that read and write. To use only one core, run it with
//! `taskset -c 0`. Compression is compared with the program `zstd` if it is installed.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::Context;
use clap::Args;

use crate::folder::Folder;
use crate::rounds::{Rounds, timed, write_summary};
use kyokumen::engine::progress::Progress;
use kyokumen::format::{Fill, Format};
use kyokumen::ops::convert::{ConvertPlan, ConvertRequest, ConvertSettings, convert};
use kyokumen::records::filters::RecordFilters;

/// Records per second of conversions from file to file
#[derive(Args)]
pub(crate) struct FilesArgs {
    /// Number of records of random games
    #[arg(long, default_value_t = 1_000_000)]
    count: u64,

    /// Threads; 0 is all cores
    #[arg(long, default_value_t = 1)]
    threads: usize,

    #[command(flatten)]
    rounds: Rounds,
}

/// The measured conversions: input, output, and whether records are filtered.
const CONVERSIONS: [(&str, &str, bool); 8] = [
    ("positions.psv", "out.hcp", false),
    ("out.hcp", "back.psv", false),
    ("positions.psv", "out.hcpe", false),
    ("positions.psv", "filtered.hcp", true),
    ("positions.psv", "out.sfen", false),
    ("out.hcp", "copy.hcp", false),
    ("out.hcp", "out.hcp.zst", false),
    ("out.hcp.zst", "copy.hcp", false),
];

/// The same compression by the program `zstd`, at the same level.
const BY_ZSTD: [(&str, &[&str]); 2] = [
    ("zstd -3 out.hcp", &["-3", "-q", "-f", "-k", "--single-thread", "out.hcp", "-o", "tool.zst"]),
    ("zstd -d out.hcp.zst", &["-d", "-q", "-f", "-k", "out.hcp.zst", "-o", "tool.hcp"]),
];

pub(crate) fn run(args: &FilesArgs) -> anyhow::Result<()> {
    let folder = Folder::create()?;
    folder.generated(Format::Psv, args.count)?;
    for (from, to, is_filtered) in CONVERSIONS {
        let (from_path, to_path) = (folder.path(from), folder.path(to));
        let ((), elapsed) =
            args.rounds.measure(|| round(&from_path, &to_path, is_filtered, args.threads))?;
        let filter = if is_filtered { ", --max-abs-eval 499 --result black,white" } else { "" };
        let name = |file: &str| file.split_once('.').map_or(file, |(_, format)| format).to_owned();
        let conversion = format!("{} to {}{filter}", name(from), name(to));
        write_summary(conversion, args.count, args.threads, elapsed, args.rounds)?;
    }
    for (name, arguments) in BY_ZSTD {
        let by_tool = || -> anyhow::Result<((), Duration)> {
            let mut command = Command::new("zstd");
            let (status, elapsed) =
                timed(|| command.current_dir(folder.path("")).args(arguments).status());
            anyhow::ensure!(status?.success(), "zstd failed");
            Ok(((), elapsed))
        };
        match args.rounds.measure(by_tool) {
            Ok(((), elapsed)) => {
                write_summary(name.to_owned(), args.count, args.threads, elapsed, args.rounds)?;
            }
            Err(error) => eprintln!("cannot measure the program zstd: {error}"),
        }
    }
    Ok(())
}

fn round(
    from: &Path,
    to: &Path,
    is_filtered: bool,
    threads: usize,
) -> anyhow::Result<((), Duration)> {
    let mut filters = RecordFilters::default();
    if is_filtered {
        filters.max_abs_eval_cp = Some(499);
        filters.results = Some("black,white".parse().context("results")?);
    }
    let fill: Fill = "move=none,eval=0,ply=0,result=draw".parse().context("a fill")?;
    let request = ConvertRequest {
        inputs: vec![from.to_owned()],
        output: to.to_owned(),
        force: true,
        settings: ConvertSettings { filters, fill, threads, ..ConvertSettings::default() },
        ..ConvertRequest::default()
    };
    let plan = ConvertPlan::new(request)?;
    let (report, elapsed) = timed(|| convert(plan, &mut Progress::none(), &AtomicBool::new(false)));
    report?;
    Ok(((), elapsed))
}
