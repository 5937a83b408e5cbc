//! `kyokumen perft`.

use std::fmt;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::Args;
use serde::Serialize;

use super::option::{position, threads, whole_number};
use super::report::{json_line, milliseconds};
use crate::cli::exit::ExitStatus;
use crate::shogi::perft::{Perft, parallel};
use crate::shogi::{Position, sfen};
use crate::storage::quantity::quantity;

/// Count the positions that legal moves reach, to test move generators (perft)
///
/// Shows the number of positions after DEPTH plies, and how many of the last moves were captures, promotions, drops,
/// checks and mates. Every optional non-promotion is a separate move. Mate by a pawn drop and a second pawn on a file
/// are illegal.
#[derive(Args)]
pub(super) struct PerftArgs {
    /// Number of plies
    #[arg(value_parser = whole_number::<u32>(1..))]
    depth: u32,

    /// Starting position [default: the start position]
    #[arg(long, default_value = sfen::START, hide_default_value = true, value_name = "SFEN")]
    sfen: String,

    /// Show the counts for each first move
    #[arg(long)]
    divide: bool,

    /// Count only nodes, which is faster
    #[arg(long, conflicts_with = "divide")]
    nodes_only: bool,

    /// Print one JSON object for each depth from 1 to DEPTH, or with --divide for each first move
    #[arg(long)]
    json: bool,

    /// Number of threads; 0 uses all cores [default: 0]
    #[arg(long, default_value_t = 0, hide_default_value = true, value_parser = threads())]
    threads: usize,
}

pub(super) fn run(args: &PerftArgs) -> anyhow::Result<ExitStatus> {
    let position = position("--sfen", &args.sfen)?;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(args.threads)
        .build()
        .context("cannot start threads")?;
    pool.install(|| match (args.divide, args.json) {
        (false, false) => total(args, &position),
        (false, true) => total_json(args, &position),
        (true, _) => divide(args, &position),
    })?;
    Ok(ExitStatus::Done)
}

/// One line of `--json`.
#[derive(Serialize)]
struct Line {
    #[serde(rename = "move", skip_serializing_if = "Option::is_none")]
    root_move: Option<String>,
    depth: u32,
    #[serde(flatten)]
    counted: Counted,
    #[serde(skip_serializing_if = "Option::is_none")]
    elapsed_ms: Option<f64>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Counted {
    All { nodes: u64, captures: u64, promotions: u64, drops: u64, checks: u64, mates: u64 },
    Nodes { nodes: u64 },
}

impl From<Perft> for Counted {
    fn from(counted: Perft) -> Self {
        let Perft { nodes, captures, promotions, drops, checks, mates } = counted;
        Self::All { nodes, captures, promotions, drops, checks, mates }
    }
}

impl Counted {
    const fn nodes(&self) -> u64 {
        match self {
            Self::All { nodes, .. } | Self::Nodes { nodes } => *nodes,
        }
    }
}

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nodes { nodes } => write!(f, "nodes = {nodes}"),
            Self::All { nodes, captures, promotions, drops, checks, mates } => write!(
                f,
                "nodes = {nodes} , captures = {captures} , promotions = {promotions} , \
                 drops = {drops} , checks = {checks} , checkmates = {mates}"
            ),
        }
    }
}

fn total(args: &PerftArgs, position: &Position) -> io::Result<()> {
    let mut out = io::stdout();
    writeln!(out, "perft depth = {}", args.depth)?;
    let started = Instant::now();
    let counted = count(args, position, args.depth);
    writeln!(out, "{counted}")?;
    write_speed(&mut out, counted.nodes(), started.elapsed())
}

fn total_json(args: &PerftArgs, position: &Position) -> io::Result<()> {
    for depth in 1..=args.depth {
        let started = Instant::now();
        let counted = count(args, position, depth);
        let elapsed_ms = Some(milliseconds(started.elapsed()));
        json_line(&Line { root_move: None, depth, counted, elapsed_ms })?;
    }
    Ok(())
}

fn divide(args: &PerftArgs, position: &Position) -> io::Result<()> {
    let started = Instant::now();
    let divided = parallel::divide(position, args.depth);
    let elapsed = started.elapsed();
    let mut out = io::stdout();
    for &(m, counted) in &divided {
        if args.json {
            let (root_move, depth) = (Some(m.to_string()), args.depth);
            json_line(&Line { root_move, depth, counted: counted.into(), elapsed_ms: None })?;
        } else {
            writeln!(out, "{m}: {}", Counted::from(counted))?;
        }
    }
    if args.json {
        return Ok(());
    }
    let sum: Perft = divided.iter().map(|&(_, perft)| perft).sum();
    writeln!(out, "{}: {}", quantity(divided.len(), "move"), Counted::from(sum))?;
    write_speed(&mut out, sum.nodes, elapsed)
}

fn count(args: &PerftArgs, position: &Position, depth: u32) -> Counted {
    if args.nodes_only {
        Counted::Nodes { nodes: parallel::nodes(position, depth) }
    } else {
        parallel::count(position, depth).into()
    }
}

fn write_speed(out: &mut impl Write, nodes: u64, elapsed: Duration) -> io::Result<()> {
    let seconds = elapsed.as_secs_f64();
    writeln!(out, "elapsed = {seconds:.3} s , nodes/s = {:.0}", nodes as f64 / seconds)
}
