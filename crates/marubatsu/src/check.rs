//! Checks whether a player is unbeatable, and whether it always plays a best move.
//!
//! Weakly solved: the player never loses from the start, against any reply. Strongly solved: in every position all its
//! candidates are best moves. Both checks follow article 112 of the series, with its three ways to visit the positions
//! and their numbers of calls.

use serde::{Deserialize, Serialize};

use super::board::{Board, Mark, Status};
use super::players::Player;
use super::solution::{Solution, Solved};
use super::squares::Squares;
use super::symmetry::canonical;

/// The positions that the check visits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// All positions.
    Plain,
    /// Positions until a lost game is found.
    Pruned,
    /// Like [`Self::Pruned`], but each position is visited once.
    Visited,
}

impl Method {
    /// All methods.
    pub const ALL: [Self; 3] = [Self::Plain, Self::Pruned, Self::Visited];
}

/// The result for one side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WeakCheck {
    /// Whether the player never loses on this side.
    pub never_loses: bool,
    /// Number of visited positions, including the start.
    pub calls: u64,
}

/// Plays all games of a player on one side, against every reply.
///
/// ```
/// use kyokumen_marubatsu::check::{Method, weakly_solved};
/// use kyokumen_marubatsu::{Mark, Player, Solution};
/// let checked = weakly_solved(Player::Ai14s, Mark::Cross, Method::Visited, &Solution::new());
/// assert_eq!((checked.never_loses, checked.calls), (true, 994));
/// ```
pub fn weakly_solved(player: Player, side: Mark, method: Method, solution: &Solution) -> WeakCheck {
    let visited = vec![false; Board::ARRANGEMENTS];
    let mut walk = Walk { player, side, method, solution, visited, calls: 0 };
    let never_loses = walk.never_loses_from(Board::EMPTY);
    WeakCheck { never_loses, calls: walk.calls }
}

struct Walk<'a> {
    player: Player,
    side: Mark,
    method: Method,
    solution: &'a Solution,
    /// By index of the board.
    visited: Vec<bool>,
    calls: u64,
}

impl Walk<'_> {
    fn never_loses_from(&mut self, board: Board) -> bool {
        if self.method == Method::Visited {
            let visited = &mut self.visited[board.index()];
            // The walk ends at the first lost game, so a visited position is not lost.
            if *visited {
                return true;
            }
            *visited = true;
        }
        self.calls += 1;
        match board.status() {
            Status::Won(winner) => return winner == self.side,
            Status::Draw => return true,
            Status::Playing => {}
        }
        let moves = if board.side_to_move() == self.side {
            self.player.candidates(board, self.solution)
        } else {
            board.moves()
        };
        let mut never_loses = true;
        for square in moves {
            never_loses &= self.never_loses_from(board.after(square));
            if !never_loses && self.method != Method::Plain {
                break;
            }
        }
        never_loses
    }
}

/// A position where a player may go wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct WrongPosition {
    /// The position.
    pub board: Board,
    /// The moves that the player may make.
    pub candidates: Squares,
    /// The best moves.
    pub best_moves: Squares,
}

/// The positions where moves differ in value, and in how many of them a player always plays a best move.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StrongCheck {
    /// Number of these positions.
    pub positions: usize,
    /// Number of positions where every candidate is a best move.
    pub right: usize,
    /// The other positions.
    pub wrong: Vec<WrongPosition>,
}

/// The positions to check.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PositionScope {
    /// All positions.
    All,
    /// One position of each symmetry class: the one whose text comes first.
    UpToSymmetry,
}

/// Compares the candidates of a player with the best moves of the solved game.
pub fn strongly_solved(
    player: Player,
    positions: PositionScope,
    solution: &Solution,
) -> StrongCheck {
    judge(positions, solution, |solved| player.candidates(solved.board, solution))
}

/// Like [`strongly_solved`], for any function that selects moves of a position.
pub fn judge(
    positions: PositionScope,
    solution: &Solution,
    mut candidates: impl FnMut(&Solved) -> Squares,
) -> StrongCheck {
    let mut strongly = StrongCheck { positions: 0, right: 0, wrong: Vec::new() };
    for solved in solution.with_choice() {
        let Solved { board, best_moves, .. } = *solved;
        if positions == PositionScope::UpToSymmetry && canonical(board) != board {
            continue;
        }
        strongly.positions += 1;
        let candidates = candidates(solved);
        if candidates.is_subset_of(best_moves) {
            strongly.right += 1;
        } else {
            strongly.wrong.push(WrongPosition { board, candidates, best_moves });
        }
    }
    strongly
}
