//! `kyokumen marubatsu solve`.

use std::io::{self, Write};
use std::time::Instant;

use clap::Args;
use serde::Serialize;

use super::super::option::word;
use super::super::report::{json_line, milliseconds};
use super::search_args::SearchArgs;
use crate::marubatsu::search::{Method, SearchOutcome, Settings, search};
use crate::marubatsu::{Board, Solution, Squares};

/// Search a position: its value, its best moves, and how many nodes that took
///
/// Each move of the position is searched with an open window, so that all best moves are found. A node is a
/// position entered by a move; those that the table answers count.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  kyokumen marubatsu solve --method alphabeta
  kyokumen marubatsu solve --method ids --json
  kyokumen marubatsu solve o../.x./..o --method minimax --evaluation exact")]
pub(super) struct SolveArgs {
    /// Position to search, rows from the top [default: .../.../...]
    #[arg(default_value_t = Board::EMPTY, hide_default_value = true)]
    board: Board,

    /// Search: minimax, alphabeta, pvs or ids (pvs ever deeper) [default: alphabeta]
    #[arg(long, default_value = "alphabeta", hide_default_value = true,
          value_parser = word::<Method>)]
    method: Method,

    #[command(flatten)]
    search: SearchArgs,

    /// One JSON object
    #[arg(long)]
    json: bool,
}

/// Output of `--json`.
#[derive(Serialize)]
struct Report {
    board: String,
    #[serde(flatten)]
    settings: Settings,
    value: serde_json::Number,
    best_moves: Squares,
    nodes: u64,
    iterations: Vec<u64>,
    nodes_total: u64,
    moves_made: u64,
    searched_again: u64,
    elapsed_ms: f64,
}

pub(super) fn run(args: &SolveArgs) -> anyhow::Result<()> {
    let settings = args.search.settings(args.method);
    let solution = Solution::new();
    let started = Instant::now();
    let found = search(args.board, settings, &solution);
    let elapsed_ms = milliseconds(started.elapsed());
    if args.json {
        json_line(&report(args.board, settings, found, elapsed_ms))?;
    } else {
        write(args.board, &found, elapsed_ms)?;
    }
    Ok(())
}

fn report(board: Board, settings: Settings, found: SearchOutcome, elapsed_ms: f64) -> Report {
    Report {
        board: board.to_string(),
        settings,
        value: number(found.value.as_points()),
        best_moves: found.best_moves,
        nodes: found.nodes,
        nodes_total: found.iterations.iter().sum(),
        iterations: found.iterations,
        moves_made: found.moves_made,
        searched_again: found.searched_again,
        elapsed_ms,
    }
}

/// Converts to JSON; whole numbers get no decimals.
pub(super) fn number(points: f64) -> serde_json::Number {
    let whole = serde_json::Number::from(points as i64);
    if points.fract() == 0.0 {
        whole
    } else {
        serde_json::Number::from_f64(points).unwrap_or(whole)
    }
}

fn write(board: Board, found: &SearchOutcome, elapsed_ms: f64) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for row in board.to_string().split('/') {
        writeln!(out, "  {row}")?;
    }
    writeln!(out, "value        {}", found.value.as_points())?;
    writeln!(out, "best moves   {}", found.best_moves)?;
    for (square, value) in &found.moves {
        writeln!(out, "  {}          {}", square.number(), value.as_points())?;
    }
    writeln!(out, "nodes        {}", found.nodes)?;
    if found.iterations.len() > 1 {
        let nodes: Vec<String> = found.iterations.iter().map(u64::to_string).collect();
        writeln!(out, "iterations   {}", nodes.join(", "))?;
    }
    writeln!(out, "elapsed      {elapsed_ms} ms")
}
