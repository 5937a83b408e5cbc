#![doc = include_str!("../README.md")]
//!
//! # Where to begin
//! [`Board`] has the rules, [`Solution`] the solution of every position, [`tree`] the complete tree node by node.
//! [`search`] searches, and [`picture`] draws a search. [`Player`] chooses moves, [`mod@matches`] plays two players
//! against each other, and [`check`] tests whether a player can be beaten. [`representation`] compares board
//! representations.

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
