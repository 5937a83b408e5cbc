//! What is drawn: boards under each other, each with what became of it.
//!
//! One form for text, SVG and HTML.

use serde::Serialize;

use super::super::board::Board;
use super::super::evaluation::Score;
use super::super::search::{SearchOutcome, Settings};
use super::super::square::Square;

/// What became of a node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NodeStatus {
    /// No search was asked: the value is that of the solved game.
    Solved,
    /// The search looked at its moves.
    Searched,
    /// The search judged it and went no deeper.
    Evaluated,
    /// The table answered.
    Table,
    /// The search did not enter it: other moves had decided before.
    Cut,
}

impl NodeStatus {
    /// What it is called, for people.
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

/// What is known of a value that a search found.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// It is this.
    Equal,
    /// It is this or less.
    AtMost,
    /// It is this or more.
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

    /// As a sign before the value.
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::AtMost => "≤",
            Self::AtLeast => "≥",
        }
    }
}

/// A position in a picture.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct DrawnNode {
    /// The position.
    pub board: Board,
    /// The move that led here; `None` for the first.
    pub last: Option<Square>,
    /// What became of it.
    pub fate: NodeStatus,
    /// Value in the solved game, seen from ○: 1, 0 or −1.
    pub value: i8,
    /// What is known of `found`.
    pub bound: Option<Bound>,
    /// Value that the search found, seen from ○; `None` where it found none.
    pub found: Option<Score>,
    /// How often it was searched.
    pub visits: u32,
    /// Positions after its moves, in the order of the search, then those that were cut.
    pub children: Vec<Self>,
}

impl DrawnNode {
    /// Itself and all under it, each before those under it, with their plies below the first.
    pub fn each<'a>(&'a self, visit: &mut impl FnMut(&'a Self, usize)) {
        self.each_from(0, visit);
    }

    fn each_from<'a>(&'a self, depth: usize, visit: &mut impl FnMut(&'a Self, usize)) {
        visit(self, depth);
        for child in &self.children {
            child.each_from(depth + 1, visit);
        }
    }

    /// How many became this.
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
    /// The position.
    pub root: DrawnNode,
    /// Plies that are shown.
    pub plies: u8,
    /// How it was searched and what was found; `None` if no search was asked.
    pub search: Option<(Settings, SearchOutcome)>,
}

/// A value in points, or in words where the game decides.
pub(super) fn value_text(drawn: &DrawnNode) -> String {
    match drawn.bound.zip(drawn.found) {
        Some((bound, score)) => format!("{} {}", bound.sign(), score.as_points()),
        None if drawn.fate == NodeStatus::Solved => format!("= {}", drawn.value),
        None => String::new(),
    }
}

/// How a solved game ends.
pub(super) const fn winner(value: i8) -> &'static str {
    match value {
        1 => "○ wins",
        -1 => "× wins",
        _ => "draw",
    }
}
