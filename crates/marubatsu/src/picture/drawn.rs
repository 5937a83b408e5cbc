//! The content of a picture: boards as a tree, each with its status in the search.
//!
//! Text, SVG and HTML use the same form.

use serde::Serialize;

use super::super::board::Board;
use super::super::evaluation::Score;
use super::super::search::{SearchOutcome, Settings};
use super::super::square::Square;

/// The status of a node in a search.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NodeStatus {
    /// There was no search. The value is the value of the solved game.
    Solved,
    /// The search searched its moves.
    Searched,
    /// The search evaluated it and ended there.
    Evaluated,
    /// The value is from the table.
    Table,
    /// The search did not enter it, because other moves decided earlier.
    Cut,
}

impl NodeStatus {
    /// Its name for readers.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Solved => "solved",
            Self::Searched => "searched",
            Self::Evaluated => "evaluated",
            Self::Table => "from the table",
            Self::Cut => "cut",
        }
    }
}

/// How a value that a search found relates to the true value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// The true value is equal.
    Equal,
    /// The true value is equal or less.
    AtMost,
    /// The true value is equal or greater.
    AtLeast,
}

impl Bound {
    pub(super) const fn turned(self) -> Self {
        match self {
            Self::Equal => Self::Equal,
            Self::AtMost => Self::AtLeast,
            Self::AtLeast => Self::AtMost,
        }
    }

    /// Its sign before the value.
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::AtMost => "≤",
            Self::AtLeast => "≥",
        }
    }
}

/// A node of a picture.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct DrawnNode {
    /// The position.
    pub board: Board,
    /// The move that led here; `None` at the root.
    pub last: Option<Square>,
    /// Its status in the search.
    pub fate: NodeStatus,
    /// Value in the solved game, seen from ○: 1, 0 or −1.
    pub value: i8,
    /// How `found` relates to the true value.
    pub bound: Option<Bound>,
    /// Value found by the search, seen from ○; `None` if it found none.
    pub found: Option<Score>,
    /// Number of searches of the node.
    pub visits: u32,
    /// Positions after its moves: searched moves in the order of the search, then cut moves.
    pub children: Vec<Self>,
}

impl DrawnNode {
    /// Visits the node and its descendants, each before its own descendants, with their depths below the node.
    pub fn each<'a>(&'a self, visit: &mut impl FnMut(&'a Self, usize)) {
        self.each_from(0, visit);
    }

    fn each_from<'a>(&'a self, depth: usize, visit: &mut impl FnMut(&'a Self, usize)) {
        visit(self, depth);
        for child in &self.children {
            child.each_from(depth + 1, visit);
        }
    }

    /// Number of nodes with this status.
    pub fn count(&self, fate: NodeStatus) -> usize {
        let mut count = 0;
        self.each(&mut |drawn, _| count += usize::from(drawn.fate == fate));
        count
    }
}

/// The tree under a position, and the search that is shown in it.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Picture {
    /// The root.
    pub root: DrawnNode,
    /// Plies shown.
    pub plies: u8,
    /// Settings and result of the search; `None` without a search.
    pub search: Option<(Settings, SearchOutcome)>,
}

/// A value in points, with its sign. Empty if there is none.
pub(super) fn value_text(drawn: &DrawnNode) -> String {
    match drawn.bound.zip(drawn.found) {
        Some((bound, score)) => format!("{} {}", bound.sign(), score.as_points()),
        None if drawn.fate == NodeStatus::Solved => format!("= {}", drawn.value),
        None => String::new(),
    }
}

/// The result of a solved game, for readers.
pub(super) const fn winner(value: i8) -> &'static str {
    match value {
        1 => "○ wins",
        -1 => "× wins",
        _ => "draw",
    }
}
