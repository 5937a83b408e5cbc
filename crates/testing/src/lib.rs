//! Support for the tests of several crates: generated positions and games, records as literal bytes, an independent
//! rules engine, and properties of arbitrary bytes, which the fuzz targets check as well.
//!
//! The rules engine is `rsshogi`, which shares no code with this project. It receives positions as SFEN and returns
//! moves in USI notation.

pub mod game_properties;
pub mod games;
pub mod literals;
pub mod positions;
pub mod record_properties;

use kyokumen_shogi::Position;
use rsshogi::board::{self, Move32List, generate_legal_all_move32};

/// A position in `rsshogi`, converted by its SFEN.
///
/// # Panics
///
/// If `rsshogi` rejects the SFEN.
pub fn foreign(position: &Position) -> board::Position {
    let text = position.to_string();
    board::position_from_sfen(&text).unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

/// Legal moves in USI notation, sorted.
pub fn foreign_moves(position: &board::Position) -> Vec<String> {
    let mut list = Move32List::new();
    generate_legal_all_move32(position, &mut list);
    let mut moves: Vec<String> = list.iter().map(|m| m.to_usi()).collect();
    moves.sort_unstable();
    moves
}
