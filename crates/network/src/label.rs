//! Labels: the numbers of moves in the policy.
//!
//! The layout is dlshogi's (`cppshogi.cpp`, `make_move_label`), determined by experiments with `cshogi.dlshogi`.

use kyokumen_shogi::{Color, HandKind, Move, Square};

/// Outputs of the policy: 27 kinds of moves to each of the 81 squares.
pub const LABELS: usize = 27 * 81;

const PROMOTING: u16 = 10;
const DROP: u16 = 20;

/// The label of a move: its kind × 81 + its target square, as the side to move sees the board.
///
/// Kinds are ten directions (straight ahead, ahead to the left, ahead to the right, left, right, back, back to the
/// left, back to the right, a knight's jump to the left, to the right), the same directions with promotion, and drops
/// of P L N S B R G. The moves of a position have different labels.
pub fn move_label(m: Move, mover: Color) -> u16 {
    let seen = |square: Square| match mover {
        Color::Black => square,
        Color::White => square.rotated(),
    };
    let to = seen(m.to());
    let kind = match (m.from(), m.dropped()) {
        (Some(from), _) => direction(seen(from), to) + if m.is_promotion() { PROMOTING } else { 0 },
        (None, Some(kind)) => DROP + order_of_drop(kind),
        (None, None) => unreachable!("a move comes from the board or from the hand"),
    };
    kind * 81 + u16::from(to.number())
}

/// Files are numbered from the right and ranks from the far end, as Black sees the board.
fn direction(from: Square, to: Square) -> u16 {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let is_left = to.file() > from.file();
    if from.rank() == to.rank() + 2 && from.file().abs_diff(to.file()) == 1 {
        return if is_left { 8 } else { 9 };
    }
    match (to.rank().cmp(&from.rank()), to.file().cmp(&from.file())) {
        (Less, Equal) => 0,
        (Less, _) => 2 - u16::from(is_left),
        (Equal, _) => 4 - u16::from(is_left),
        (Greater, Equal) => 5,
        (Greater, _) => 7 - u16::from(is_left),
    }
}

const fn order_of_drop(kind: HandKind) -> u16 {
    match kind {
        HandKind::Pawn => 0,
        HandKind::Lance => 1,
        HandKind::Knight => 2,
        HandKind::Silver => 3,
        HandKind::Bishop => 4,
        HandKind::Rook => 5,
        HandKind::Gold => 6,
    }
}
