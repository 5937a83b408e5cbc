//! What the tests of several crates need: positions and games of our own making, records as literal bytes, an
//! independent rules engine, and properties that must hold of any bytes, which the fuzz targets check as well.
//!
//! The rules engine is `rsshogi`, which shares no line with ours: positions are handed to it as SFEN, moves taken back
//! as USI.

pub mod game_properties;
pub mod games;
pub mod literals;
pub mod positions;
pub mod record_properties;

use kyokumen_shogi::Position;
use rsshogi::board::{self, Move32List, generate_legal_all_move32};

/// A position as `rsshogi` reads it from our SFEN.
///
/// # Panics
///
/// If it does not.
pub fn foreign(position: &Position) -> board::Position {
    let text = position.to_string();
    board::position_from_sfen(&text).unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

/// Legal moves in USI, sorted.
pub fn foreign_moves(position: &board::Position) -> Vec<String> {
    let mut list = Move32List::new();
    generate_legal_all_move32(position, &mut list);
    let mut moves: Vec<String> = list.iter().map(|m| m.to_usi()).collect();
    moves.sort_unstable();
    moves
}
