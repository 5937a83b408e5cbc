#![doc = include_str!("../README.md")]
//!
//! # Where to begin
//! [`Board`] has the rules, [`Solution`] the truth about every position, [`tree`] the tree node by node. [`search`]
//! searches, [`picture`] shows what it did. [`Player`] chooses moves, [`mod@matches`] lets two of them play, [`check`]
//! says whether one can be beaten. [`representation`] compares ways to keep a board.

mod board;
pub mod check;
#[cfg(feature = "cli")]
pub mod cli;
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
