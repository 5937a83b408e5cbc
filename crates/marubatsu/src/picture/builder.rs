//! Builds pictures of the complete tree and of a search.
//!
//! A picture is built from the positions and the trace of the search.

use super::super::board::{Board, Mark};
use super::super::evaluation::Score;
use super::super::search::{Settings, Trace, TraceNode, ValueSource, search_traced};
use super::super::solution::Solution;
use super::super::square::Square;
use super::drawn::{Bound, DrawnNode, NodeStatus, Picture};

/// Maximum number of boards of a picture. A larger one would be unreadable.
pub const MAX_BOARDS: usize = 20_000;

impl Picture {
    /// The first `plies` plies of the complete tree, with the values of the solved game.
    ///
    /// `None` if it has more than [`MAX_BOARDS`] boards. Choose fewer plies then.
    pub fn of_tree(board: Board, plies: u8, solution: &Solution) -> Option<Self> {
        let mut builder = Builder { solution, trace: None, boards: 0 };
        let root = builder.draw(board, None, Some(0), plies)?;
        Some(Self { root, plies, search: None })
    }

    /// The nodes that a search to the full depth visits and cuts, up to `plies` plies below the root.
    ///
    /// `None` if it has more than [`MAX_BOARDS`] boards. Choose fewer plies then.
    pub fn of_search(
        board: Board,
        plies: u8,
        settings: Settings,
        solution: &Solution,
    ) -> Option<Self> {
        let (found, trace) = search_traced(board, settings, solution);
        let mut builder = Builder { solution, trace: Some(&trace), boards: 0 };
        let mut root = builder.draw(board, None, Some(0), plies)?;
        (root.bound, root.found) = (Some(Bound::Equal), Some(found.value));
        Some(Self { root, plies, search: Some((settings, found)) })
    }
}

struct Builder<'a> {
    solution: &'a Solution,
    trace: Option<&'a Trace>,
    boards: usize,
}

impl Builder<'_> {
    /// Draws a position. `number` is the number of its node in the trace, if the search entered it.
    fn draw(
        &mut self,
        board: Board,
        last: Option<Square>,
        number: Option<usize>,
        plies: u8,
    ) -> Option<DrawnNode> {
        self.boards += 1;
        if self.boards > MAX_BOARDS {
            return None;
        }
        let node = self.trace.zip(number).and_then(|(trace, number)| trace.nodes().get(number));
        let fate = match node.map(|node| node.source) {
            Some(ValueSource::Searched) => NodeStatus::Searched,
            Some(ValueSource::Evaluated) => NodeStatus::Evaluated,
            Some(ValueSource::Table) => NodeStatus::Table,
            None if self.trace.is_some() => NodeStatus::Cut,
            None => NodeStatus::Solved,
        };
        let mut children = Vec::new();
        if plies > 0 && matches!(fate, NodeStatus::Searched | NodeStatus::Solved) {
            for (square, child) in self.moves(board, number) {
                children.push(self.draw(board.after(square), Some(square), child, plies - 1)?);
            }
        }
        let visited = node.filter(|node| node.visits > 0);
        let (bound, found) = visited.map(|node| seen_from_circle(board, node)).unzip();
        let (value, visits) = (self.solution.value(board), node.map_or(0, |node| node.visits));
        Some(DrawnNode { board, last, fate, value, bound, found, visits, children })
    }

    /// The moves, with the numbers of their nodes in the trace. Searched moves come first, in the order of the search.
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

#[cfg(test)]
mod tests {
    use super::super::super::search::{Method, Ordering, TableKind};
    use super::*;

    /// Without a table every visited node is drawn, and every other move of its parent is drawn as cut.
    #[test]
    fn all_visited_nodes_are_drawn() {
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
        let visited = root.count(NodeStatus::Searched) + root.count(NodeStatus::Evaluated) - 1;
        assert_eq!(visited as u64, found.nodes);
        assert!(root.count(NodeStatus::Cut) > 0);
        root.each(&mut |drawn, _| {
            let is_expanded = drawn.fate == NodeStatus::Searched;
            let moves = if is_expanded { drawn.board.moves().len() } else { 0 };
            assert_eq!(drawn.children.len(), moves, "{}", drawn.board);
            // Bounds and values must be correct. A won game is worth 300 points.
            if let Some((bound, score)) = drawn.bound.zip(drawn.found) {
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
    fn the_complete_tree_is_drawn_up_to_the_limit() {
        let solution = Solution::new();
        let picture = Picture::of_tree(Board::EMPTY, 3, &solution).unwrap();
        assert_eq!(picture.root.count(NodeStatus::Solved), 1 + 9 + 72 + 504);
        let whole = Picture::of_tree(Board::EMPTY, 9, &solution);
        assert_eq!(whole, None);
    }
}
