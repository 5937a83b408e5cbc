//! Kyokumen (局面, "position"): shogi training positions.
pub mod format;
pub mod shogi;
