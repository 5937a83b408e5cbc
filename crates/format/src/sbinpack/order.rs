//! The move order that `sbinpack` uses to number moves.
//!
//! From rsshogi's `records::formats::sbinpack` (`move_order_key`).

use kyokumen_shogi::{Color, HandKind, Move, Position, Square};

/// Priority by file, from 1 to 9: the middle file first, then the files right and left of it in turn.
const FILE_PRIORITY: [u8; 9] = [7, 5, 3, 1, 0, 2, 4, 6, 8];

/// The legal move with this number, from 0.
pub(super) fn nth_move(position: &Position, number: u32) -> Option<Move> {
    let mut moves = position.legal_moves();
    let number = usize::try_from(number).ok().filter(|&number| number < moves.len())?;
    let (_, &mut best_move, _) = moves.select_nth_unstable_by_key(number, |&m| key(position, m));
    Some(best_move)
}

/// The number of a move, from 0. `None` if it is illegal.
pub(super) fn number_of(position: &Position, best_move: Move) -> Option<u32> {
    let moves = position.legal_moves();
    let own = key(position, best_move);
    let before = moves.iter().filter(|&&m| key(position, m) < own).count();
    moves.contains(&best_move).then_some(before as u32)
}

/// Moves on the board come before drops, quiet moves before captures, and non-promotions before promotions. Then the
/// order is by piece kind, and from the opponent's side of the board to the own side.
fn key(position: &Position, m: Move) -> [u8; 8] {
    let from = m.from();
    let moved = from.and_then(|from| position.piece_on(from)).map(|piece| piece.kind);
    let kind = moved.or(m.dropped().map(HandKind::piece_kind)).map_or(0, |kind| kind.index() as u8);
    let [to_rank, to_file] = place(position, m.to());
    let [from_rank, from_file] = from.map_or([0; 2], |from| place(position, from));
    let is_capture = position.piece_on(m.to()).is_some();
    let [drop, capture, promotion] = [m.is_drop(), is_capture, m.is_promotion()].map(u8::from);
    [drop, capture, promotion, kind, to_rank, to_file, from_rank, from_file]
}

/// A square from the point of view of the side to move: the rank from the far side, then the file by priority.
fn place(position: &Position, square: Square) -> [u8; 2] {
    let own_view = match position.side_to_move() {
        Color::Black => square,
        Color::White => square.rotated(),
    };
    [own_view.rank(), FILE_PRIORITY[usize::from(own_view.file())]]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By definition pawns come first, the pawn on the middle file before its right neighbour.
    #[test]
    fn moves_of_the_start_position_have_the_defined_numbers() {
        let numbers = |position: &Position, moves: [&str; 5]| {
            moves.map(|m| number_of(position, Move::from_usi(m).unwrap()))
        };
        let mut position = Position::start();
        let moves = ["5g5f", "4g4f", "6g6f", "9g9f", "5g5e"];
        assert_eq!(numbers(&position, moves), [Some(0), Some(1), Some(2), Some(8), None]);
        position.make(Move::from_usi("2g2f").unwrap());
        let moves = ["5c5d", "6c6d", "4c4d", "1c1d", "2g2f"];
        assert_eq!(numbers(&position, moves), [Some(0), Some(1), Some(2), Some(8), None]);
        assert_eq!(nth_move(&position, 30), None);
    }

    #[test]
    fn numbers_and_moves_are_inverse() {
        let position = "R8/2K1S1SSk/4B4/9/9/9/9/9/1L1L1L3 b RBGSNLP3g3n17p 1";
        let position: Position =
            position.parse::<kyokumen_shogi::Setup>().unwrap().try_into().unwrap();
        for number in 0..593 {
            let best_move = nth_move(&position, number).unwrap();
            assert_eq!(number_of(&position, best_move), Some(number));
        }
        assert_eq!(nth_move(&position, 593), None);
    }
}
