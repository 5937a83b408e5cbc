//! What a search keeps of positions: bounds of the value and the best move, for all images at once.
//!
//! The articles' `tt`: a dictionary from the text of a board to (lower bound, upper bound, best move). Here an array
//! over all arrangements of marks.

use serde::{Deserialize, Serialize};

use super::super::board::Board;
use super::super::evaluation::Score;
use super::super::square::Square;
use super::super::symmetry::Symmetry;

/// Which positions a table answers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TableKind {
    /// There is no table.
    None,
    /// Those that were searched.
    Plain,
    /// Those that were searched, and their images.
    Symmetric,
}

impl TableKind {
    /// Its name in a sentence.
    pub const fn title(self) -> &'static str {
        match self {
            Self::None => "without a table",
            Self::Plain => "with a table",
            Self::Symmetric => "with a table of all images",
        }
    }
}

/// Which moves of the position that is searched share a table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TableScope {
    /// All of them.
    #[default]
    Shared,
    /// None: each begins with an empty table.
    PerMove,
}

/// Which of several images of the best move is kept for a position that is its own image.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SymmetryMoves {
    /// That of the last symmetry which makes the position, as in the articles: later ones overwrite.
    #[default]
    Last,
    /// That of the first: for the position itself the move that was found.
    First,
}

/// What is known of a position, seen from the side to move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Entry {
    pub(super) lower: Score,
    pub(super) upper: Score,
    /// `None` if nothing is known at all.
    pub(super) best: Option<Square>,
}

impl Entry {
    /// Anything is possible.
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
    /// Knows nothing.
    pub(super) fn new(kind: TableKind, symmetry_moves: SymmetryMoves) -> Self {
        let entries = match kind {
            TableKind::None => Vec::new(),
            TableKind::Plain | TableKind::Symmetric => vec![Entry::UNKNOWN; Board::ARRANGEMENTS],
        };
        Self { entries, kind, symmetry_moves }
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.entries.fill(Entry::UNKNOWN);
    }

    /// What is known of a position.
    pub(super) fn get(&self, board: Board) -> Option<Entry> {
        self.entries.get(board.index()).copied().filter(|entry| entry.best.is_some())
    }

    /// The best move of a position, if one is known.
    pub fn best_move(&self, board: Board) -> Option<Square> {
        self.get(board)?.best
    }

    /// Keeps what is known of a position, and with it of its images.
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
        // Where two symmetries make the same position, the one that comes later here has the last word.
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
