//! Minimax, alpha-beta, PVS and iterative deepening, with the same node counts as in the articles.
//!
//! These are `ai_abs_dls`, `ai_pvs_dls` and `ai_pvs_iddfs` of articles 112 and 186. Each move of the position is
//! searched with an open window, so that all best moves are found. `depth` counts plies below these moves. `nodes`
//! counts positions entered by a move, including positions whose value is in the table.

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

/// The result of a search.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct SearchOutcome {
    /// Value of the position, seen from ○.
    pub value: Score,
    /// All moves with that value. Empty if the game is over.
    pub best_moves: Squares,
    /// Each move with its value, seen from ○, row by row.
    pub moves: Vec<(Square, Score)>,
    /// Nodes of the search to the full depth.
    pub nodes: u64,
    /// Moves made by that search.
    pub moves_made: u64,
    /// Nodes that this search searched again with a wider window.
    pub searched_again: u64,
    /// With [`Ordering::Table`] or [`Method::Ids`], the nodes of the searches to depth 0, 1, 2, …; the search to the
    /// full depth is the last. Otherwise only the nodes of that one.
    pub iterations: Vec<u64>,
    /// The table of the last search.
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

/// Searches a position, and records the search to the full depth.
pub fn search_traced(
    board: Board,
    settings: Settings,
    solution: &Solution,
) -> (SearchOutcome, Trace) {
    let mut trace = Trace::default();
    let found = deepen(board, settings, solution, &mut trace);
    (found, trace)
}

/// Searches to one depth. Each node begins with its best move in the table `best_first`.
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

/// Searches depth after depth if required by the settings. Observes only the last search.
fn deepen(
    board: Board,
    settings: Settings,
    solution: &Solution,
    observer: &mut impl Observer,
) -> SearchOutcome {
    // The first move uses one ply, and no game is longer than nine plies.
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
    let value = best.unwrap_or_else(|| settings.evaluation.for_side_to_move(board, solution));
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

/// The bounds of a search, seen from the side to move.
#[derive(Clone, Copy)]
pub(super) struct Window {
    pub(super) alpha: Score,
    pub(super) beta: Score,
}

impl Window {
    pub(super) const OPEN: Self = Self { alpha: Score::MIN, beta: Score::MAX };

    /// The same window for the other side.
    pub(super) fn turned(self) -> Self {
        Self { alpha: -self.beta, beta: -self.alpha }
    }

    /// The window that tests whether a move is better: from the lower bound to one point more.
    pub(super) const fn test(self) -> Self {
        Self { alpha: self.alpha, beta: self.alpha.plus_one_point() }
    }
}
