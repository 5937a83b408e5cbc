//! Players: for each position the moves that a player may make.
//!
//! Four players of the articles, with their names there.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::board::Board;
use super::evaluation::{Score, ai14s};
use super::solution::Solution;
use super::square::Square;
use super::squares::Squares;

/// A player. It chooses among its candidates at random, each with the same probability.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Player {
    /// Takes the first free square, row by row.
    Ai1,
    /// Takes any free square. `ai2s` of the articles plays the same.
    #[serde(alias = "ai2s")]
    Ai2,
    /// Takes a move with the best evaluation by [`ai14s`].
    Ai14s,
    /// Takes any move that keeps the value of the solved game.
    AiGt6,
}

impl Player {
    /// All players.
    pub const ALL: [Self; 4] = [Self::Ai1, Self::Ai2, Self::Ai14s, Self::AiGt6];

    /// The moves that it may make in a position that can occur. Empty if the game is over.
    pub fn candidates(self, board: Board, solution: &Solution) -> Squares {
        match self {
            Self::Ai1 => board.moves().first().into_iter().collect(),
            Self::Ai2 => board.moves(),
            Self::Ai14s => best_by(board, |square| ai14s(board.after(square))),
            Self::AiGt6 => solution.get(board).map_or(Squares::EMPTY, |solved| solved.best_moves),
        }
    }
}

impl fmt::Display for Player {
    /// Its name in the articles.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ai1 => "ai1",
            Self::Ai2 => "ai2",
            Self::Ai14s => "ai14s",
            Self::AiGt6 => "ai_gt6",
        })
    }
}

fn best_by(board: Board, score: impl Fn(Square) -> Score) -> Squares {
    let best = board.moves().iter().map(&score).max();
    board.moves().iter().filter(|&square| Some(score(square)) == best).collect()
}
