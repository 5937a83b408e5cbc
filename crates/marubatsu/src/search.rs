//! Minimax, alpha-beta, PVS and iterative deepening on marubatsu, node for node as the articles have them.
//!
//! `ai_abs_dls`, `ai_pvs_dls` and `ai_pvs_iddfs` of articles 112 and 186. Each move of the position is searched
//! with an open window, so that all best moves are found; `depth` counts plies below these moves, and `nodes` are
//! the positions entered by a move, those that a table answers among them.

mod engine;
mod settings;
mod table;
mod trace;

use super::board::{Board, Mark};
use super::evaluation::Score;
use super::solution::Solution;
use super::square::Square;
use super::squares::Squares;
use engine::Engine;
use trace::Observer;

pub use settings::{Method, Ordering, Settings, Undo};
pub use table::{SymmetryMoves, Table, TableKind, TableScope};
pub use trace::{Trace, TraceNode, ValueSource};

/// What a search found.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct SearchOutcome {
    /// Value of the position, seen from ○.
    pub value: Score,
    /// All moves with that value; none when the game is over.
    pub best_moves: Squares,
    /// Each move with its value, seen from ○, row by row.
    pub moves: Vec<(Square, Score)>,
    /// Nodes of the search to the full depth.
    pub nodes: u64,
    /// Moves made by that search.
    pub moves_made: u64,
    /// Nodes that were searched again with a wider window, in that search.
    pub searched_again: u64,
    /// Nodes of the searches to depth 0, 1, 2, … whose tables ordered the moves, that of the full depth being
    /// the last; only that one without [`Ordering::Table`].
    pub iterations: Vec<u64>,
    /// What the last search knows of positions.
    pub table: Table,
}

/// Searches a position.
///
/// ```
/// use kyokumen_marubatsu::search::{Method, Settings, search};
/// use kyokumen_marubatsu::{Board, Solution};
/// let solution = Solution::new();
/// let found = search(Board::EMPTY, Settings::new(Method::AlphaBeta), &solution);
/// assert_eq!((found.value.as_points(), found.best_moves.len(), found.nodes), (0.0, 9, 1175));
/// let found = search(Board::EMPTY, Settings::new(Method::Ids), &solution);
/// assert_eq!(found.iterations, [9, 36, 68, 163, 272, 459, 567, 544, 545]);
/// ```
pub fn search(board: Board, settings: Settings, solution: &Solution) -> SearchOutcome {
    deepen(board, settings, solution, &mut ())
}

/// Searches a position and keeps what the search to the full depth did.
pub fn search_traced(
    board: Board,
    settings: Settings,
    solution: &Solution,
) -> (SearchOutcome, Trace) {
    let mut trace = Trace::default();
    let found = deepen(board, settings, solution, &mut trace);
    (found, trace)
}

/// Searches to one depth, each node beginning with the best move that a table names.
pub fn search_ordered(
    board: Board,
    settings: Settings,
    solution: &Solution,
    best_first: &Table,
) -> SearchOutcome {
    let depth = settings.depth;
    let mut found = search_to(board, settings, solution, depth, Some(best_first), &mut ());
    found.iterations = vec![found.nodes];
    found
}

/// Depth after depth if moves are to be ordered; only the last is observed.
fn deepen(
    board: Board,
    settings: Settings,
    solution: &Solution,
    observer: &mut impl Observer,
) -> SearchOutcome {
    // A move of the position leaves one ply less; there is nothing below the last.
    let plies_left = 8_u8.saturating_sub(board.ply() as u8);
    let depth = settings.depth.min(plies_left);
    let mut iterations = Vec::new();
    let mut before: Option<Table> = None;
    if settings.ordering == Ordering::Table || settings.method == Method::Ids {
        for shallow in 0..depth {
            let best_first = before.as_ref().filter(|_| settings.ordering == Ordering::Table);
            let found = search_to(board, settings, solution, shallow, best_first, &mut ());
            iterations.push(found.nodes);
            before = Some(found.table);
        }
    }
    let best_first = before.as_ref().filter(|_| settings.ordering == Ordering::Table);
    let mut found = search_to(board, settings, solution, depth, best_first, observer);
    iterations.push(found.nodes);
    found.iterations = iterations;
    found
}

fn search_to(
    board: Board,
    settings: Settings,
    solution: &Solution,
    depth: u8,
    best_first: Option<&Table>,
    observer: &mut impl Observer,
) -> SearchOutcome {
    let side = board.side_to_move();
    let seen_from_circle = |score: Score| if side == Mark::Circle { score } else { -score };
    let mut engine = Engine::new(settings, solution, depth, best_first, observer);
    let moves: Vec<(Square, Score)> = engine.moves_of(board);
    let best = moves.iter().map(|&(_, score)| score).max();
    let value = best.unwrap_or_else(|| settings.evaluation.of_side_to_move(board, solution));
    let is_best = |&&(_, score): &&(Square, Score)| Some(score) == best;
    SearchOutcome {
        value: seen_from_circle(value),
        best_moves: moves.iter().filter(is_best).map(|&(square, _)| square).collect(),
        moves: moves.iter().map(|&(square, score)| (square, seen_from_circle(score))).collect(),
        nodes: engine.counts.nodes,
        moves_made: engine.counts.moves_made,
        searched_again: engine.counts.searched_again,
        iterations: Vec::new(),
        table: engine.into_table(),
    }
}

/// Between which values a node is searched, seen from the side to move.
#[derive(Clone, Copy)]
pub(super) struct Window {
    pub(super) alpha: Score,
    pub(super) beta: Score,
}

impl Window {
    pub(super) const OPEN: Self = Self { alpha: Score::MIN, beta: Score::MAX };

    /// The same for the other side.
    pub(super) fn turned(self) -> Self {
        Self { alpha: -self.beta, beta: -self.alpha }
    }

    /// Tests whether a move is better: the lower bound plus one point.
    pub(super) const fn test(self) -> Self {
        Self { alpha: self.alpha, beta: self.alpha.point_more() }
    }
}
