//! Moves with the position after them, in USI, Japanese and western notation.

use kyokumen_format::notation;
use kyokumen_shogi::{Move, Position, Square};
use serde::Serialize;

/// A move and the position after it.
#[derive(Serialize)]
pub(crate) struct Step {
    #[serde(flatten)]
    pub(crate) name: Name,
    pub(crate) sfen: String,
}

/// A move in three notations.
#[derive(Serialize)]
pub(crate) struct Name {
    usi: String,
    ja: String,
    en: String,
}

/// The moves from a position, all of them legal. `last` is the target of the move before them.
pub(crate) fn steps(position: &Position, moves: &[Move], last: Option<Square>) -> Vec<Step> {
    let (mut position, mut last) = (position.clone(), last);
    let step = |&m: &Move| {
        let name = Name::new(&position, m, last);
        position.make(m);
        last = Some(m.to());
        Step { name, sfen: position.to_string() }
    };
    moves.iter().map(step).collect()
}

impl Name {
    /// Fonts of phones lack ☗ and ☖, so Japanese names begin with ▲ or △.
    pub(crate) fn new(position: &Position, m: Move, last: Option<Square>) -> Self {
        let ja = notation(position, m, last).replace('☗', "▲").replace('☖', "△");
        Self { usi: m.to_string(), ja, en: western(position, m) }
    }
}

/// The western notation of Hosking's "The Art of Shogi", with ranks as letters: `G*5b`, `R3dx3b+`. `=` declines a promotion.
fn western(position: &Position, m: Move) -> String {
    let to = m.to();
    let piece = m.from().and_then(|from| Some((from, position.piece_on(from)?)));
    let Some((from, piece)) = piece else { return m.to_string() };
    let is_rival = |other: &Move| {
        let square = other.from().filter(|&square| square != from && other.to() == to);
        square.and_then(|square| position.piece_on(square)) == Some(piece)
    };
    let promoted = if piece.kind.is_promoted() { "+" } else { "" };
    let letter = char::from(piece.kind.letter());
    let is_ambiguous = position.legal_moves().iter().any(is_rival);
    let origin = if is_ambiguous { from.to_string() } else { String::new() };
    let action = if position.piece_on(to).is_some() { 'x' } else { '-' };
    let in_zone = |square: Square| square.relative_rank(piece.color) < 3;
    let promotion = match piece.kind.promoted() {
        Some(_) if m.is_promotion() => "+",
        Some(_) if in_zone(from) || in_zone(to) => "=",
        _ => "",
    };
    format!("{promoted}{letter}{origin}{action}{to}{promotion}")
}
