//! The command `solve`, and the options of searches.

use std::fmt;
use std::time::Instant;

use clap::Args;
use serde::Serialize;

use super::{milliseconds, report_text, whole_number, word};
use crate::evaluation::{Evaluation, Score};
use crate::search::{
    Method, Ordering, Settings, SymmetryMoves, TableKind, TableScope, Undo, search,
};
use crate::{Board, Solution, Square, Squares};

#[derive(Args)]
#[command(after_long_help = "\
Examples:
  kyokumen marubatsu solve --method alphabeta
  kyokumen marubatsu solve --method ids --json
  kyokumen marubatsu solve o../.x./..o --method minimax --evaluation exact")]
pub struct SolveArgs {
    /// Position to search, rows from the top [default: .../.../...]
    #[arg(default_value_t = Board::EMPTY, hide_default_value = true)]
    board: Board,

    /// Search method: minimax, alphabeta, pvs or ids (iterative deepening of pvs) [default: alphabeta]
    #[arg(long, default_value = "alphabeta", hide_default_value = true,
          value_parser = word::<Method>)]
    method: Method,

    #[command(flatten)]
    search: SearchArgs,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Options of a search.
#[derive(Args, Clone, Debug)]
pub(super) struct SearchArgs {
    /// Plies searched below each move of the position; 8 reaches the end of every game [default: 8]
    #[arg(long, default_value_t = Settings::MAX_DEPTH, hide_default_value = true,
          value_name = "PLIES",
          value_parser = whole_number::<u8, 0, 9>)]
    depth: u8,

    /// Evaluation of positions where the search ends: ai14s (a win is worth 300) or exact (1) [default: ai14s]
    #[arg(long, default_value = "ai14s", hide_default_value = true,
          value_parser = word::<Evaluation>)]
    evaluation: Evaluation,

    /// Positions stored in the table: none, plain (searched positions) or symmetric (also their images) [default:
    /// symmetric, for minimax none]
    #[arg(long, value_name = "KIND", value_parser = word::<TableKind>)]
    table: Option<TableKind>,

    /// Whether all moves of the position share one table: shared or per-move [default: shared]
    #[arg(long, default_value = "shared", hide_default_value = true,
          value_name = "SCOPE", value_parser = word::<TableScope>)]
    table_scope: TableScope,

    /// Best move stored for a position that is its own image: the image under the last or the first symmetry [default:
    /// last]
    #[arg(long, default_value = "last", hide_default_value = true,
          value_name = "WHICH", value_parser = word::<SymmetryMoves>)]
    symmetry_moves: SymmetryMoves,

    /// First move of a node: none (row by row) or table (the best move of the search one ply shallower) [default: table
    /// for pvs and ids, otherwise none]
    #[arg(long, value_parser = word::<Ordering>)]
    ordering: Option<Ordering>,

    /// How often pvs takes back a move that it searches again: once (after both searches) or twice [default: once]
    #[arg(long, default_value = "once", hide_default_value = true,
          value_name = "HOW", value_parser = word::<Undo>)]
    undo: Undo,
}

impl SearchArgs {
    /// The settings. Options that are not given have the defaults of the method.
    pub(super) fn settings(&self, method: Method) -> Settings {
        let usual = Settings::new(method);
        Settings {
            method,
            depth: self.depth,
            evaluation: self.evaluation,
            table: self.table.unwrap_or(usual.table),
            table_scope: self.table_scope,
            symmetry_moves: self.symmetry_moves,
            ordering: self.ordering.unwrap_or(usual.ordering),
            undo: self.undo,
        }
    }
}

/// Output of `--json`.
#[derive(Serialize)]
struct Report {
    board: Board,
    #[serde(flatten)]
    settings: Settings,
    value: Score,
    best_moves: Squares,
    #[serde(skip)]
    moves: Vec<(Square, Score)>,
    nodes: u64,
    iterations: Vec<u64>,
    nodes_total: u64,
    moves_made: u64,
    searched_again: u64,
    elapsed_ms: f64,
}

pub(super) fn run(args: &SolveArgs) -> anyhow::Result<String> {
    let settings = args.search.settings(args.method);
    let solution = Solution::new();
    let started = Instant::now();
    let found = search(args.board, settings, &solution);
    let elapsed_ms = milliseconds(started.elapsed());
    let report = Report {
        board: args.board,
        settings,
        value: found.value,
        best_moves: found.best_moves,
        moves: found.moves,
        nodes: found.nodes,
        nodes_total: found.iterations.iter().sum(),
        iterations: found.iterations,
        moves_made: found.moves_made,
        searched_again: found.searched_again,
        elapsed_ms,
    };
    report_text(&report, args.json)
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in self.board.to_string().split('/') {
            writeln!(f, "  {row}")?;
        }
        writeln!(f, "value        {}", self.value.as_points())?;
        writeln!(f, "best moves   {}", self.best_moves)?;
        for (square, value) in &self.moves {
            writeln!(f, "  {}          {}", square.number(), value.as_points())?;
        }
        writeln!(f, "nodes        {}", self.nodes)?;
        if self.iterations.len() > 1 {
            let nodes: Vec<String> = self.iterations.iter().map(u64::to_string).collect();
            writeln!(f, "iterations   {}", nodes.join(", "))?;
        }
        writeln!(f, "elapsed      {} ms", self.elapsed_ms)
    }
}
