//! What a search can be told: the method, its depth, table and order of moves.
//!
//! The parameters of the articles' `ai_…` functions.

use serde::{Deserialize, Serialize};

use super::super::evaluation::Evaluation;
use super::table::{SymmetryMoves, TableKind, TableScope};

/// What the search does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Looks at every move.
    Minimax,
    /// Leaves out moves that cannot matter (Knuth and Moore 1975).
    AlphaBeta,
    /// Principal variation search: after the first move of a node the others are tested with a window of one
    /// point, and searched again if they are better (Marsland and Campbell 1982).
    Pvs,
    /// PVS to depth 0, 1, 2, …, each ordering moves by the table of the one before (iterative deepening).
    Ids,
}

impl Method {
    /// Its name in a sentence.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Minimax => "minimax",
            Self::AlphaBeta => "alpha-beta",
            Self::Pvs => "PVS",
            Self::Ids => "iterative deepening",
        }
    }
}

/// Which move of a node comes first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ordering {
    /// Moves come row by row.
    None,
    /// The best move of the search that was one ply less deep changes places with the first.
    Table,
}

/// When PVS takes back a move after which it searches a second time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Undo {
    /// After each of the two searches, and so makes it twice: the articles' first way.
    Twice,
    /// After the last of them: their second way.
    #[default]
    Once,
}

/// What is searched, and how.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Settings {
    /// What the search does.
    pub method: Method,
    /// Plies searched below each move of the position; 8 reaches the end of every game.
    pub depth: u8,
    /// How positions are judged where the search ends.
    pub evaluation: Evaluation,
    /// Which positions a table answers.
    pub table: TableKind,
    /// Which moves of the position share a table.
    pub table_scope: TableScope,
    /// Which move is kept for a position that is its own image.
    pub symmetry_moves: SymmetryMoves,
    /// Which move comes first.
    pub ordering: Ordering,
    /// When PVS takes back a move that it searches again.
    pub undo: Undo,
}

impl Settings {
    /// Plies below the moves of the start.
    pub const MAX_DEPTH: u8 = 8;

    /// What is usual for a method: all plies, `ai14s`, one table with all images, but none for minimax, and
    /// moves ordered by the table for PVS.
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
