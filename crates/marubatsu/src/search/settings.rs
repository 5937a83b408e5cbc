//! Settings of a search: method, depth, table and order of moves.
//!
//! They correspond to the parameters of the articles' `ai_…` functions.

use serde::{Deserialize, Serialize};

use super::super::evaluation::Evaluation;
use super::table::{SymmetryMoves, TableKind, TableScope};

/// The search method.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Searches every move.
    Minimax,
    /// Skips moves that cannot matter (Knuth and Moore 1975).
    AlphaBeta,
    /// Principal variation search. After the first move of a node, the other moves are tested with a window of one
    /// point. Better moves are searched again (Marsland and Campbell 1982).
    Pvs,
    /// PVS to depth 0, 1, 2, …. Each search orders moves by the table of the one before (iterative deepening).
    Ids,
}

impl Method {
    /// Its name in running text.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Minimax => "minimax",
            Self::AlphaBeta => "alpha-beta",
            Self::Pvs => "PVS",
            Self::Ids => "iterative deepening",
        }
    }
}

/// The order of the moves of a node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ordering {
    /// Row by row.
    None,
    /// Row by row, with the first move and the best move of the search one ply shallower exchanged.
    Table,
}

/// When PVS takes back a move that it searches a second time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Undo {
    /// After each of the two searches, so the move is made twice: the articles' first variant.
    Twice,
    /// After the second search: the articles' second variant.
    #[default]
    Once,
}

/// The settings of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Settings {
    /// The search method.
    pub method: Method,
    /// Plies searched below each move of the position; 8 reaches the end of every game.
    pub depth: u8,
    /// The evaluation of positions where the search ends.
    pub evaluation: Evaluation,
    /// The positions stored in the table.
    pub table: TableKind,
    /// The moves of the position that share a table.
    pub table_scope: TableScope,
    /// The move stored for a position that is its own image.
    pub symmetry_moves: SymmetryMoves,
    /// The order of moves.
    pub ordering: Ordering,
    /// When PVS takes back a move that it searches again.
    pub undo: Undo,
}

impl Settings {
    /// Plies below the moves of the start position.
    pub const MAX_DEPTH: u8 = 8;

    /// The usual settings of a method: all plies, and evaluation by `ai14s`. All methods except minimax use one table
    /// with all images. PVS and iterative deepening order moves by the table.
    pub const fn new(method: Method) -> Self {
        Self {
            method,
            depth: Self::MAX_DEPTH,
            evaluation: Evaluation::Ai14s,
            table: match method {
                Method::Minimax => TableKind::None,
                _ => TableKind::Symmetric,
            },
            table_scope: TableScope::Shared,
            symmetry_moves: SymmetryMoves::Last,
            ordering: match method {
                Method::Minimax | Method::AlphaBeta => Ordering::None,
                Method::Pvs | Method::Ids => Ordering::Table,
            },
            undo: Undo::Once,
        }
    }
}
