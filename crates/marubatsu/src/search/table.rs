//! The table of a search: bounds of the value and the best move of each position and its images.
//!
//! The articles' `tt` is a dictionary from the text of a board to (lower bound, upper bound, best move). Here it is an
//! array over all arrangements of marks.

use serde::{Deserialize, Serialize};

use super::super::board::Board;
use super::super::evaluation::Score;
use super::super::square::Square;
use super::super::symmetry::Symmetry;

/// The positions stored in a table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TableKind {
    /// No table.
    None,
    /// Searched positions.
    Plain,
    /// Searched positions and their images.
    Symmetric,
}

impl TableKind {
    /// Its name in running text.
    pub const fn title(self) -> &'static str {
        match self {
            Self::None => "without a table",
            Self::Plain => "with a table",
            Self::Symmetric => "with a table of all images",
        }
    }
}

/// The moves of the searched position that share a table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TableScope {
    /// All moves.
    #[default]
    Shared,
    /// No moves: each one begins with an empty table.
    PerMove,
}

/// The best move stored for a position that is its own image, where the move has several images.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SymmetryMoves {
    /// The image under the last symmetry that yields the position. The articles do this: later ones overwrite.
    #[default]
    Last,
    /// The image under the first symmetry. For the position itself this is the move that was found.
    First,
}

/// Known bounds and best move of a position, seen from the side to move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Entry {
    pub(super) lower: Score,
    pub(super) upper: Score,
    /// `None` if nothing is known.
    pub(super) best: Option<Square>,
}

impl Entry {
    /// Nothing is known.
    pub(super) const UNKNOWN: Self = Self { lower: Score::MIN, upper: Score::MAX, best: None };
}

/// Bounds of values and best moves of positions.
#[derive(Clone, PartialEq, Debug)]
pub struct Table {
    entries: Vec<Entry>,
    kind: TableKind,
    symmetry_moves: SymmetryMoves,
}

impl Table {
    /// Creates an empty table.
    pub(super) fn new(kind: TableKind, symmetry_moves: SymmetryMoves) -> Self {
        let entries = match kind {
            TableKind::None => Vec::new(),
            TableKind::Plain | TableKind::Symmetric => vec![Entry::UNKNOWN; Board::ARRANGEMENTS],
        };
        Self { entries, kind, symmetry_moves }
    }

    /// Removes all entries.
    pub(super) fn clear(&mut self) {
        self.entries.fill(Entry::UNKNOWN);
    }

    /// The entry of a position.
    pub(super) fn get(&self, board: Board) -> Option<Entry> {
        self.entries.get(board.index()).copied().filter(|entry| entry.best.is_some())
    }

    /// The best move of a position, if one is known.
    pub fn best_move(&self, board: Board) -> Option<Square> {
        self.get(board)?.best
    }

    /// Stores the entry of a position, and of its images if required.
    pub(super) fn put(&mut self, board: Board, entry: Entry) {
        match self.kind {
            TableKind::None => {}
            TableKind::Plain => self.set(board, entry),
            TableKind::Symmetric => self.put_images(board, entry),
        }
    }

    fn put_images(&mut self, board: Board, entry: Entry) {
        let image = |symmetry: Symmetry| {
            let best = entry.best.map(|square| symmetry.square(square));
            (symmetry.board(board), Entry { best, ..entry })
        };
        let images = Symmetry::ALL.into_iter().map(image);
        // If two symmetries yield the same position, the later one in this order overwrites the entry.
        match self.symmetry_moves {
            SymmetryMoves::Last => images.for_each(|(board, entry)| self.set(board, entry)),
            SymmetryMoves::First => images.rev().for_each(|(board, entry)| self.set(board, entry)),
        }
    }

    fn set(&mut self, board: Board, entry: Entry) {
        if let Some(known) = self.entries.get_mut(board.index()) {
            *known = entry;
        }
    }
}
