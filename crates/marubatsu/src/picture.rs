//! Pictures of the tree under a position: what a search visited, what it knew, what it cut.
//!
//! The articles draw such subtrees, boards with their values in columns, what was cut in darker colours.

mod html;
mod layout;
mod svg;
mod text;

pub use html::html;
pub use svg::svg;
pub use text::text;

use serde::Serialize;
use thiserror::Error;

use super::board::{Board, Mark, Square};
use super::evaluation::Score;
use super::search::{Answer, Found, Settings, Trace, TraceNode, search_traced};
use super::solution::Solution;

/// Boards that a picture holds at most; more are of no use to anybody who looks at it.
pub const MOST_BOARDS: usize = 20_000;

/// Why a picture was not made.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum PictureError {
    /// Nobody could look at it.
    #[error("a picture of more than {MOST_BOARDS} boards: fewer plies make fewer")]
    TooLarge,
}

/// What became of a node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Fate {
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

impl Fate {
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
    const fn turned(self) -> Self {
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
#[derive(Clone, PartialEq, Debug)]
pub struct Drawn {
    /// The position.
    pub board: Board,
    /// The move that led here; `None` for the first.
    pub last: Option<Square>,
    /// What became of it.
    pub fate: Fate,
    /// Value that the search found, seen from ○; `None` where it found none.
    pub found: Option<(Bound, Score)>,
    /// How often it was searched.
    pub visits: u32,
    /// Value in the solved game, seen from ○: 1, 0 or −1.
    pub value: i8,
    /// Positions after its moves, in the order of the search, then those that were cut.
    pub children: Vec<Self>,
}

impl Drawn {
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
    pub fn count(&self, fate: Fate) -> usize {
        let mut count = 0;
        self.each(&mut |drawn, _| count += usize::from(drawn.fate == fate));
        count
    }
}

/// The tree under a position, and the search that is shown in it.
#[derive(Clone, PartialEq, Debug)]
pub struct Picture {
    /// The position.
    pub root: Drawn,
    /// Plies that are shown.
    pub plies: u8,
    /// How it was searched and what was found; `None` if no search was asked.
    pub search: Option<(Settings, Found)>,
}

impl Picture {
    /// The complete tree with the values of the solved game, so many plies of it.
    ///
    /// # Errors
    /// [`PictureError::TooLarge`] if there are too many positions.
    pub fn of_tree(board: Board, plies: u8, solution: &Solution) -> Result<Self, PictureError> {
        let mut builder = Builder { solution, trace: None, boards: 0 };
        let root = builder.draw(board, None, Some(0), plies)?;
        Ok(Self { root, plies, search: None })
    }

    /// What a search to the full depth visits and cuts, so many plies of it.
    ///
    /// # Errors
    /// [`PictureError::TooLarge`] if there are too many positions.
    pub fn of_search(
        board: Board,
        plies: u8,
        settings: Settings,
        solution: &Solution,
    ) -> Result<Self, PictureError> {
        let (found, trace) = search_traced(board, settings, solution);
        let mut builder = Builder { solution, trace: Some(&trace), boards: 0 };
        let mut root = builder.draw(board, None, Some(0), plies)?;
        root.found = Some((Bound::Equal, found.value));
        Ok(Self { root, plies, search: Some((settings, found)) })
    }
}

struct Builder<'a> {
    solution: &'a Solution,
    trace: Option<&'a Trace>,
    boards: usize,
}

impl Builder<'_> {
    /// A position; `number` is that of the node in the trace, if the search entered it.
    fn draw(
        &mut self,
        board: Board,
        last: Option<Square>,
        number: Option<usize>,
        plies: u8,
    ) -> Result<Drawn, PictureError> {
        self.boards += 1;
        if self.boards > MOST_BOARDS {
            return Err(PictureError::TooLarge);
        }
        let node = self.trace.zip(number).and_then(|(trace, number)| trace.nodes().get(number));
        let fate = match node.map(|node| node.answer) {
            Some(Answer::Searched) => Fate::Searched,
            Some(Answer::Evaluated) => Fate::Evaluated,
            Some(Answer::Table) => Fate::Table,
            None if self.trace.is_some() => Fate::Cut,
            None => Fate::Solved,
        };
        let mut children = Vec::new();
        if plies > 0 && matches!(fate, Fate::Searched | Fate::Solved) {
            for (square, child) in self.moves(board, number) {
                children.push(self.draw(board.after(square), Some(square), child, plies - 1)?);
            }
        }
        Ok(Drawn {
            board,
            last,
            fate,
            found: node.filter(|node| node.visits > 0).map(|node| seen_from_circle(board, node)),
            visits: node.map_or(0, |node| node.visits),
            value: self.solution.value(board),
            children,
        })
    }

    /// The moves with their numbers in the trace: first those that were searched, as they came.
    fn moves(&self, board: Board, number: Option<usize>) -> Vec<(Square, Option<usize>)> {
        let child = |square| self.trace.zip(number).and_then(|(trace, n)| trace.child(n, square));
        let mut moves: Vec<_> =
            board.moves().iter().map(|square| (square, child(square))).collect();
        moves.sort_by_key(|&(_, child)| child.unwrap_or(usize::MAX));
        moves
    }
}

fn seen_from_circle(board: Board, node: &TraceNode) -> (Bound, Score) {
    let bound = match node.value {
        value if value <= node.alpha => Bound::AtMost,
        value if value >= node.beta => Bound::AtLeast,
        _ => Bound::Equal,
    };
    match board.side_to_move() {
        Mark::Circle => (bound, node.value),
        Mark::Cross => (bound.turned(), -node.value),
    }
}

/// A value in points, or in words where the game decides.
fn value_text(drawn: &Drawn) -> String {
    match drawn.found {
        Some((bound, score)) => format!("{} {}", bound.sign(), score.as_points()),
        None if drawn.fate == Fate::Solved => format!("= {}", drawn.value),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::search::{Method, Ordering, TableKind};
    use super::*;

    /// Without a table every node that was entered is drawn, and every other move of its parent as cut.
    #[test]
    fn all_that_was_visited_is_drawn() {
        let solution = Solution::new();
        let board: Board = "ox./.o./..x".parse().unwrap();
        let settings = Settings {
            table: TableKind::None,
            ordering: Ordering::None,
            ..Settings::new(Method::AlphaBeta)
        };
        let picture = Picture::of_search(board, 9, settings, &solution).unwrap();
        let (_, found) = picture.search.as_ref().unwrap();
        let root = &picture.root;
        let visited = root.count(Fate::Searched) + root.count(Fate::Evaluated) - 1;
        assert_eq!(visited as u64, found.nodes);
        assert!(root.count(Fate::Cut) > 0);
        root.each(&mut |drawn, _| {
            let is_expanded = drawn.fate == Fate::Searched;
            let moves = if is_expanded { drawn.board.moves().len() } else { 0 };
            assert_eq!(drawn.children.len(), moves, "{}", drawn.board);
            // Bounds and values must be true: 300 points are a won game.
            if let Some((bound, score)) = drawn.found {
                let value = Score::points(300 * i16::from(drawn.value));
                assert!(match bound {
                    Bound::Equal => value == score,
                    Bound::AtMost => value <= score,
                    Bound::AtLeast => value >= score,
                });
            }
        });
    }

    #[test]
    fn the_tree_itself() {
        let solution = Solution::new();
        let picture = Picture::of_tree(Board::EMPTY, 3, &solution).unwrap();
        assert_eq!(picture.root.count(Fate::Solved), 1 + 9 + 72 + 504);
        let whole = Picture::of_tree(Board::EMPTY, 9, &solution);
        assert_eq!(whole, Err(PictureError::TooLarge));
    }
}
