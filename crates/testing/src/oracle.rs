//! `rsshogi`, a rules engine that shares no line with ours: positions handed to it as SFEN, moves taken back as USI.

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
