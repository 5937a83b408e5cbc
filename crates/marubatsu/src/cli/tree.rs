//! The command `tree`.

use std::fmt;
use std::time::Instant;

use clap::Args;
use serde::Serialize;

use super::{json_line, milliseconds, report_text};
use crate::picture::push;
use crate::representation::Planes;
use crate::tree::{DEPTH, GameTree};
use crate::{Solution, Solved};

#[derive(Args)]
pub struct TreeArgs {
    /// Also list each position: board, side to move, value, plies to the end, best moves, symmetry class
    #[arg(long)]
    positions: bool,

    /// Print one JSON object, and with --positions one more per position
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

pub(super) fn run(args: &TreeArgs) -> anyhow::Result<String> {
    let started = Instant::now();
    let tree = GameTree::by_make_unmake::<Planes>();
    let make_unmake = started.elapsed();
    let copying_started = Instant::now();
    let copied = GameTree::by_copying::<Planes>();
    let copying = copying_started.elapsed();
    anyhow::ensure!(tree == copied, "make/unmake and copying build different trees");
    let solution = Solution::new();
    let is_playing = |solved: &&Solved| !solved.board.moves().is_empty();
    let report = Report {
        nodes: tree.nodes().len(),
        reachable: solution.positions().len(),
        non_terminal: solution.positions().iter().filter(is_playing).count(),
        reachable_symmetric: solution.up_to_symmetry().count(),
        non_terminal_symmetric: solution.up_to_symmetry().filter(is_playing).count(),
        by_depth: tree.by_depth(),
        make_unmake_elapsed_ms: milliseconds(make_unmake),
        copying_elapsed_ms: milliseconds(copying),
        elapsed_ms: milliseconds(started.elapsed()),
    };
    let mut text = report_text(&report, args.json)?;
    if args.positions {
        text += &positions(&solution, args.json)?;
    }
    Ok(text)
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { nodes, reachable, non_terminal, .. } = self;
        let Self { reachable_symmetric, non_terminal_symmetric, .. } = self;
        writeln!(f, "nodes of the tree   {nodes}")?;
        writeln!(f, "positions           {reachable}, up to symmetry {reachable_symmetric}")?;
        writeln!(f, "  not yet ended     {non_terminal}, up to symmetry {non_terminal_symmetric}")?;
        writeln!(f, "built               {} ms by make/unmake", self.make_unmake_elapsed_ms)?;
        writeln!(f, "                    {} ms by copying", self.copying_elapsed_ms)?;
        writeln!(f, "\nply    nodes")?;
        for (ply, nodes) in self.by_depth.iter().enumerate() {
            writeln!(f, "{ply:>3} {nodes:>8}")?;
        }
        Ok(())
    }
}

fn positions(solution: &Solution, json: bool) -> anyhow::Result<String> {
    if json {
        return solution.positions().iter().map(json_line).collect();
    }
    let mut text = String::from("\nboard        to move  value  distance  class  best moves\n");
    for Solved { board, to_move, value, distance, best_moves, symmetry_class } in
        solution.positions()
    {
        push(
            &mut text,
            format_args!(
                "{board}  {to_move:<7}  {value:>5}  {distance:>8}  {symmetry_class:>5}  {best_moves}\n"
            ),
        );
    }
    Ok(text)
}
