//! `kyokumen marubatsu tree`.

use std::io::{self, BufWriter, Write};
use std::time::Instant;

use clap::Args;
use serde::Serialize;

use super::super::report::{json_line, milliseconds};
use crate::marubatsu::representation::Planes;
use crate::marubatsu::tree::{DEPTH, GameTree};
use crate::marubatsu::{Solution, Solved};

/// Build the complete tree, by make/unmake and by copying
#[derive(Args)]
pub(super) struct TreeArgs {
    /// Also each position: board, side to move, value, plies to the end, best moves, class of images
    #[arg(long)]
    positions: bool,

    /// One JSON object, with --positions followed by one a line for each position
    #[arg(long)]
    json: bool,
}

/// Output of `--json`.
#[derive(Serialize)]
struct Report {
    nodes: usize,
    reachable: usize,
    non_terminal: usize,
    reachable_symmetric: usize,
    non_terminal_symmetric: usize,
    by_depth: [u64; DEPTH + 1],
    make_unmake_elapsed_ms: f64,
    copying_elapsed_ms: f64,
    elapsed_ms: f64,
}

pub(super) fn run(args: &TreeArgs) -> anyhow::Result<()> {
    let started = Instant::now();
    let tree = GameTree::by_make_unmake::<Planes>();
    let make_unmake = started.elapsed();
    let copying_started = Instant::now();
    let copied = GameTree::by_copying::<Planes>();
    let copying = copying_started.elapsed();
    anyhow::ensure!(tree == copied, "make/unmake and copying build different trees");
    let solution = Solution::new();
    let goes_on = |solved: &&Solved| !solved.board.moves().is_empty();
    let report = Report {
        nodes: tree.nodes().len(),
        reachable: solution.positions().len(),
        non_terminal: solution.positions().iter().filter(goes_on).count(),
        reachable_symmetric: solution.up_to_symmetry().count(),
        non_terminal_symmetric: solution.up_to_symmetry().filter(goes_on).count(),
        by_depth: tree.by_depth(),
        make_unmake_elapsed_ms: milliseconds(make_unmake),
        copying_elapsed_ms: milliseconds(copying),
        elapsed_ms: milliseconds(started.elapsed()),
    };
    if args.json {
        json_line(&report)?;
    } else {
        write(&report)?;
    }
    if args.positions {
        write_positions(&solution, args.json)?;
    }
    Ok(())
}

fn write(report: &Report) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout());
    let Report { nodes, reachable, non_terminal, .. } = report;
    let Report { reachable_symmetric, non_terminal_symmetric, .. } = report;
    writeln!(out, "nodes of the tree   {nodes}")?;
    writeln!(out, "positions           {reachable}, up to symmetry {reachable_symmetric}")?;
    writeln!(out, "  not yet ended     {non_terminal}, up to symmetry {non_terminal_symmetric}")?;
    writeln!(out, "built               {} ms by make/unmake", report.make_unmake_elapsed_ms)?;
    writeln!(out, "                    {} ms by copying", report.copying_elapsed_ms)?;
    writeln!(out, "\nply    nodes")?;
    for (ply, nodes) in report.by_depth.iter().enumerate() {
        writeln!(out, "{ply:>3} {nodes:>8}")?;
    }
    out.flush()
}

fn write_positions(solution: &Solution, json: bool) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout());
    if !json {
        writeln!(out, "\nboard        to move  value  distance  class  best moves")?;
    }
    for solved in solution.positions() {
        if json {
            serde_json::to_writer(&mut out, solved)?;
            writeln!(out)?;
            continue;
        }
        let Solved { board, to_move, value, distance, best_moves, symmetry_class } = solved;
        writeln!(
            out,
            "{board}  {to_move:<7}  {value:>5}  {distance:>8}  {symmetry_class:>5}  {best_moves}"
        )?;
    }
    out.flush()
}
