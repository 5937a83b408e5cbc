//! What a search needs of a game: an AND/OR position, its key, its moves.
//!
//! An attacker tries to reach a goal ("mate", "○ wins", "○ at least draws") against every defence.
//! Nodes with the attacker to move are OR nodes, the others AND nodes (Nilsson 1971). The same trait
//! serves shogi, where one board occurs with many hands, and games that have no hands at all.

mod game;
pub mod random;

pub use game::{Candidate, Expansion, Game, Hand, Moves, NodeKind, Outcome};
