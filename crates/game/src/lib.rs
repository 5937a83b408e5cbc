#![doc = include_str!("../README.md")]
//!
//! # Where to begin
//! [`Game`] is what a game implements, [`Hand`] what its hands can do where it has some; [`Candidate`] is a move
//! with what the search should know of it. OR and AND nodes are those of Nilsson (1971).

mod game;
mod permutation;
pub mod random;

pub use game::{Candidate, Expansion, Game, Hand, Moves, NodeKind, Outcome};
pub use permutation::Permutation;
