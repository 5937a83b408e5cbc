//! `kyokumen stats`.

mod text;

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;

use super::exit::run_error;
use super::message::say;
use super::option::location;
use super::record_args::{RecordArgs, RunArgs};
use super::report::json_line;
use crate::cli::exit::ExitStatus;
use crate::ops::stats::{StatsPlan, StatsRequest, stats};
use crate::ops::stats_page::write_stats_page;
use crate::storage::memory::Memory;
use crate::storage::signals::Interrupt;

/// Show figures about files of positions: evaluations, plies, results, moves, pieces, repetitions
///
/// All files are read as one sequence. Different positions (board, hands, side to move) are counted as long
/// as --memory lasts, which takes some 40 bytes for each, and estimated beyond.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  kyokumen stats games.psv
  kyokumen stats *.hcpe --html report.html

Exit status: 0 done, 1 failed, 2 usage, 3 done but nothing, or records that cannot be read, were met, \
129, 130 or 143 interrupted.")]
pub(super) struct StatsArgs {
    /// Files of positions, read as one sequence; `-` is standard input
    #[arg(value_name = "FILE", required = true, value_parser = location())]
    files: Vec<PathBuf>,

    #[command(flatten)]
    records: RecordArgs,

    /// Memory in which positions are told apart [default: 1G]
    #[arg(long, value_name = "SIZE")]
    memory: Option<Memory>,

    /// Write a page with plots that needs nothing but a browser
    #[arg(long, value_name = "REPORT.html", value_parser = location())]
    html: Option<PathBuf>,

    #[command(flatten)]
    run: RunArgs,

    /// One JSON object with all figures
    #[arg(long)]
    json: bool,
}

/// Default of `--memory`.
const MEMORY: Memory = Memory::gib(1);

pub(super) fn run(args: StatsArgs) -> anyhow::Result<ExitStatus> {
    let StatsArgs { files, records, memory, html, run, json } = args;
    let request = StatsRequest {
        inputs: files,
        from: records.from,
        dialect: records.dialect,
        filters: records.filters(),
        limit: records.limit,
        memory: memory.unwrap_or(MEMORY),
        page: html,
        force: run.force,
        threads: run.work.threads(),
    };
    let mut plan = StatsPlan::new(request)?;
    let page = plan.page.take();
    let interrupt = Interrupt::watch().context("cannot watch for signals")?;
    let mut progress = run.work.progress.over(plan.records);
    let report = stats(plan, &mut progress, &interrupt.cancel());
    drop(progress);
    let report = report.map_err(|error| run_error(error, &interrupt))?;
    if let Some(plan) = page {
        let path = plan.path.clone();
        write_stats_page(plan, &report)?;
        say!("  {}", path.display());
    }
    if json {
        json_line(&report)?;
    } else {
        io::stdout().write_all(text::text(&report).as_bytes())?;
    }
    Ok(ExitStatus::of_records(report.records, report.bad))
}
