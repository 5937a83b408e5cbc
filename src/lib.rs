//! Kyokumen (局面, "position"): shogi training positions.

pub mod cli;
pub mod format;
pub mod game;
pub mod pipeline;
pub mod search;
pub mod shogi;
