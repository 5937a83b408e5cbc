//! Kyokumen (局面, "position"): shogi training positions.
pub mod game;
pub mod search;
pub mod shogi;
