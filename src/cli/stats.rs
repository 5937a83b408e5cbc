//! `kyokumen stats`.

mod text;

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;

use super::call::Call;
use super::exit::run_error;
use super::message::say;
use super::option::{LanguageArgs, location};
use super::record_args::{RecordArgs, RunArgs};
use super::report::{json_line, terminal_width};
use crate::cli::exit::ExitStatus;
use crate::ops::stats::{StatsPlan, StatsRequest, stats};
use crate::ops::stats_page::write_stats_page;
use crate::storage::memory::Memory;
use crate::storage::signals::Interrupt;

/// Show statistics of records: evaluations, plies, results, moves and pieces
///
/// All files are read as one sequence. Distinct positions (board, hands, side to move) are counted exactly if they fit
/// into --memory, at about 40 bytes each. Otherwise their number is an estimate, marked as such in the report.
///
/// The phase of a position depends on the number of its pieces in hand or promoted: opening up to 3, middlegame 4 to
/// 11, endgame from 12.
#[derive(Args)]
#[command(mut_arg("lang", |arg| arg.requires("html")))]
#[command(mut_arg("force", |arg| arg.help("Replace an existing HTML page")))]
#[command(after_long_help = "\
Examples:
  kyokumen stats games.psv
  kyokumen stats *.hcpe --html report.html

Exit status:
  0  success
  1  failure, such as an output that exists
  2  usage error, or a file whose format is unknown or contradicts its name
  3  nothing was read, or some records were bad
  129, 130 or 143  interrupted by a signal")]
pub(super) struct StatsArgs {
    /// Input files, read as one sequence of records; `-` is standard input and needs --from
    #[arg(value_name = "FILE", required = true, value_parser = location())]
    files: Vec<PathBuf>,

    #[command(flatten)]
    records: RecordArgs,

    /// Memory for counting distinct positions [default: 1G]
    #[arg(long, value_name = "SIZE")]
    memory: Option<Memory>,

    /// Write the statistics with plots to a self-contained HTML page
    #[arg(long, value_name = "REPORT.html", value_parser = location())]
    html: Option<PathBuf>,

    #[command(flatten)]
    language: LanguageArgs,

    #[command(flatten)]
    run: RunArgs,

    /// Print all statistics as one JSON object
    #[arg(long)]
    json: bool,
}

/// Default of `--memory`.
const MEMORY: Memory = Memory::gib(1);

pub(super) fn call(args: StatsArgs) -> anyhow::Result<Call> {
    let language = args.language.language();
    let mut plan = StatsPlan::new(args.request())?;
    let page = plan.page.take();
    Ok(Call::returning(move |caller| {
        let mut progress = caller.progress(plan.records);
        let report = stats(plan, &mut progress, caller.cancel)?;
        if let Some(page) = page {
            write_stats_page(page, &report, language)?;
        }
        Ok(report)
    }))
}

pub(super) fn run(args: StatsArgs) -> anyhow::Result<ExitStatus> {
    let (run, language, json) = (args.run, args.language, args.json);
    let mut plan = StatsPlan::new(args.request())?;
    let page = plan.page.take();
    let interrupt = Interrupt::watch().context("cannot watch for signals")?;
    let mut progress = run.work.progress.start(plan.records);
    let report = stats(plan, &mut progress, &interrupt.cancel());
    drop(progress);
    let report = report.map_err(|error| run_error(error, &interrupt))?;
    if let Some(plan) = page {
        let path = plan.path.clone();
        write_stats_page(plan, &report, language.language())?;
        say!("  {}", path.display());
    }
    if json {
        json_line(&report)?;
    } else {
        io::stdout().write_all(text::text(&report, terminal_width()).as_bytes())?;
    }
    Ok(ExitStatus::of_records(report.records, report.bad))
}

impl StatsArgs {
    fn request(self) -> StatsRequest {
        StatsRequest {
            inputs: self.files,
            from: self.records.from,
            dialect: self.records.dialect,
            filters: self.records.filters(),
            limit: self.records.limit,
            memory: self.memory.unwrap_or(MEMORY),
            page: self.html,
            force: self.run.force,
            threads: self.run.work.threads(),
        }
    }
}
