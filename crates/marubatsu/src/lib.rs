//! Marubatsu (○×, tic-tac-toe): three in a row on a board of three by three.
//!
//! A game small enough to be known completely: what the `search` room claims about games in general is
//! checked here against the whole truth. The figures are those of the article series
//! 「Pythonで〇×ゲームのAIを一から作成する」 (Qiita, 2023–2025); `docs/marubatsu.md` lists them.

mod board;
pub mod check;
mod contest;
pub mod evaluation;
mod lines;
pub mod matches;
pub mod picture;
mod players;
pub mod representation;
pub mod search;
mod solution;
mod square;
mod squares;
mod symmetry;
pub mod tree;

pub use board::{Board, Mark, ParseBoardError, Status};
pub use contest::{Contest, Goal};
pub use players::Player;
pub use solution::{Solution, Solved};
pub use square::Square;
pub use squares::{Iter, Squares};
pub use symmetry::{Symmetry, canonical};
