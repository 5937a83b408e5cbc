//! Options of searches.

use clap::Args;

use super::super::option::{whole_number, word};
use crate::marubatsu::evaluation::Evaluation;
use crate::marubatsu::search::{
    Method, Ordering, Settings, SymmetryMoves, TableKind, TableScope, Undo,
};

/// How a position is searched.
#[derive(Args, Clone, Debug)]
pub(super) struct SearchArgs {
    /// Plies searched below each move of the position; 8 reaches the end of every game [default: 8]
    #[arg(long, default_value_t = Settings::MAX_DEPTH, hide_default_value = true,
          value_name = "PLIES",
          value_parser = whole_number::<u8>(..10))]
    depth: u8,

    /// Judge of positions where the search ends: ai14s (a win is worth 300) or exact (1) [default: ai14s]
    #[arg(long, default_value = "ai14s", hide_default_value = true,
          value_parser = word::<Evaluation>)]
    evaluation: Evaluation,

    /// Positions that the table answers: none, plain (those searched) or symmetric (and their images)
    /// [default: symmetric, for minimax none]
    #[arg(long, value_name = "KIND", value_parser = word::<TableKind>)]
    table: Option<TableKind>,

    /// Whether all moves of the position use one table: shared or per-move [default: shared]
    #[arg(long, default_value = "shared", hide_default_value = true,
          value_name = "SCOPE", value_parser = word::<TableScope>)]
    table_scope: TableScope,

    /// Best move kept for a position that is its own image: that of the last symmetry or of the first
    /// [default: last]
    #[arg(long, default_value = "last", hide_default_value = true,
          value_name = "WHICH", value_parser = word::<SymmetryMoves>)]
    symmetry_moves: SymmetryMoves,

    /// First move of a node: none (row by row) or table (the best of the search one ply less deep) [default:
    /// table for pvs and ids, otherwise none]
    #[arg(long, value_parser = word::<Ordering>)]
    ordering: Option<Ordering>,

    /// Moves that pvs searches again are taken back once, after both searches, or twice [default: once]
    #[arg(long, default_value = "once", hide_default_value = true,
          value_name = "HOW", value_parser = word::<Undo>)]
    undo: Undo,
}

impl SearchArgs {
    /// The settings; options that are not given have the defaults of the method.
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
