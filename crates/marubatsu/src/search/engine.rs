//! Searches below one move of a position: minimax, alpha-beta and PVS in one recursion.
//!
//! Values are seen from the side to move (negamax). So one function replaces the separate code of the articles for
//! nodes of ○ and of ×. Windows, table and order of moves are as in the articles.

use std::ops::ControlFlow;

use super::super::board::{Board, Status};
use super::super::evaluation::Score;
use super::super::solution::Solution;
use super::super::square::Square;
use super::Window;
use super::settings::{Method, Settings, Undo};
use super::table::{Entry, Table, TableScope};
use super::trace::{Observer, ValueSource};

/// Counts of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Counts {
    pub(super) nodes: u64,
    pub(super) moves_made: u64,
    pub(super) searched_again: u64,
}

/// A search to one depth.
pub(super) struct Engine<'a, O> {
    settings: Settings,
    solution: &'a Solution,
    depth: u8,
    best_first: Option<&'a Table>,
    table: Table,
    board: Board,
    observer: &'a mut O,
    pub(super) counts: Counts,
}

impl<'a, O: Observer> Engine<'a, O> {
    pub(super) fn new(
        settings: Settings,
        solution: &'a Solution,
        depth: u8,
        best_first: Option<&'a Table>,
        observer: &'a mut O,
    ) -> Self {
        let table = Table::new(settings.table, settings.symmetry_moves);
        let (board, counts) = (Board::EMPTY, Counts::default());
        Self { settings, solution, depth, best_first, table, board, observer, counts }
    }

    pub(super) fn into_table(self) -> Table {
        self.table
    }

    /// Each move of a position with its value for the side to move, searched with an open window.
    pub(super) fn moves_of(&mut self, board: Board) -> Vec<(Square, Score)> {
        self.board = board;
        let mut moves = Vec::with_capacity(Square::COUNT);
        for square in board.moves() {
            if self.settings.table_scope == TableScope::PerMove {
                self.table.clear();
            }
            self.make(square);
            let value = -self.value(0, Window::OPEN);
            self.unmake(square);
            moves.push((square, value));
        }
        moves
    }

    fn make(&mut self, square: Square) {
        self.counts.moves_made += 1;
        self.board.play(square);
        self.observer.make(square);
    }

    fn unmake(&mut self, square: Square) {
        self.board.take_back(square);
        self.observer.unmake();
    }

    /// The value of the position for the side to move. Outside the window it is only a bound.
    fn value(&mut self, depth: u8, window: Window) -> Score {
        self.counts.nodes += 1;
        self.observer.enter(window);
        if self.board.status() != Status::Playing || depth == self.depth {
            let value = self.settings.evaluation.for_side_to_move(self.board, self.solution);
            self.observer.leave(value, ValueSource::Evaluated);
            return value;
        }
        let known = self.table.get(self.board);
        let window = match narrowed(window, known) {
            ControlFlow::Continue(window) => window,
            ControlFlow::Break(value) => {
                self.observer.leave(value, ValueSource::Table);
                return value;
            }
        };
        let (value, best) = match self.settings.method {
            Method::Minimax => self.best_of_all(depth),
            Method::AlphaBeta => self.best_within(depth, window, false),
            Method::Pvs | Method::Ids => self.best_within(depth, window, true),
        };
        self.observer.leave(value, ValueSource::Searched);
        self.remember(known.unwrap_or(Entry::UNKNOWN), window, value, best);
        value
    }

    fn best_of_all(&mut self, depth: u8) -> (Score, Option<Square>) {
        let mut best = (Score::MIN, None);
        for square in self.ordered_moves() {
            self.make(square);
            let value = -self.value(depth + 1, Window::OPEN);
            self.unmake(square);
            if value > best.0 {
                best = (value, Some(square));
            }
        }
        best
    }

    /// The best move. Ends as soon as a move is too good for the other side to allow this node. With `test`, all moves
    /// except the first are searched with a test window first.
    fn best_within(
        &mut self,
        depth: u8,
        mut window: Window,
        test: bool,
    ) -> (Score, Option<Square>) {
        let mut best = (Score::MIN, None);
        for square in self.ordered_moves() {
            let value = if test && best.1.is_some() {
                self.tested(depth, window, square)
            } else {
                self.make(square);
                let value = -self.value(depth + 1, window.turned());
                self.unmake(square);
                value
            };
            if value > best.0 {
                best = (value, Some(square));
            }
            if best.0 >= window.beta {
                break;
            }
            window.alpha = window.alpha.max(best.0);
        }
        best
    }

    /// The value of a move, if it is better than the moves before it; otherwise a bound.
    fn tested(&mut self, depth: u8, window: Window, square: Square) -> Score {
        self.make(square);
        let tested = -self.value(depth + 1, window.test().turned());
        if tested <= window.alpha || tested >= window.beta {
            self.unmake(square);
            return tested;
        }
        if self.settings.undo == Undo::Twice {
            self.unmake(square);
            self.make(square);
        }
        self.counts.searched_again += 1;
        let value = -self.value(depth + 1, window.turned());
        self.unmake(square);
        value.max(tested)
    }

    /// Free squares row by row, except that the best move of an earlier search is exchanged with the first.
    fn ordered_moves(&self) -> impl Iterator<Item = Square> + use<O> {
        let free = self.board.free();
        let first = free.first();
        let best = self.best_first.and_then(|table| table.best_move(self.board));
        free.iter().map(move |square| match best {
            Some(best) if Some(square) == first => best,
            Some(best) if square == best => first.unwrap_or(best),
            _ => square,
        })
    }

    fn remember(&mut self, known: Entry, window: Window, value: Score, best: Option<Square>) {
        let Window { alpha, beta } = window;
        let Entry { lower, upper, .. } = known;
        let (lower, upper) = if self.settings.method == Method::Minimax {
            (value, value)
        } else if value <= alpha {
            (lower, value)
        } else if value < beta {
            (value, value)
        } else {
            (value, upper)
        };
        self.table.put(self.board, Entry { lower, upper, best });
    }
}

/// The window narrowed to the known bounds. Breaks with the value if the bounds decide it.
fn narrowed(window: Window, known: Option<Entry>) -> ControlFlow<Score, Window> {
    let Window { alpha, beta } = window;
    let Some(Entry { lower, upper, .. }) = known else {
        return ControlFlow::Continue(window);
    };
    if lower == upper || lower >= beta {
        return ControlFlow::Break(lower);
    }
    if upper <= alpha {
        return ControlFlow::Break(upper);
    }
    ControlFlow::Continue(Window { alpha: alpha.max(lower), beta: beta.min(upper) })
}
