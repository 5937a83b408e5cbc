//! Kyokumen (局面, "position"): shogi training positions.
pub mod cli;
pub mod format;
pub mod pipeline;
pub mod shogi;
