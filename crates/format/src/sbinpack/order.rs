//! The order of moves that `sbinpack` numbers them in.
//!
//! From rsshogi's `records::formats::sbinpack` (`move_order_key`).

use kyokumen_shogi::{Color, HandKind, Move, Position, Square};

/// What comes first, by file from 1 to 9: the middle of the board, then its right and left in turn.
const FILE_PRIORITY: [u8; 9] = [7, 5, 3, 1, 0, 2, 4, 6, 8];

/// The legal move with this number, from 0.
pub(super) fn nth_move(position: &Position, number: u32) -> Option<Move> {
    let mut moves = position.legal_moves();
    let number = usize::try_from(number).ok().filter(|&number| number < moves.len())?;
    let (_, &mut best_move, _) = moves.select_nth_unstable_by_key(number, |&m| key(position, m));
    Some(best_move)
}

/// The number of a move, from 0; `None` if it is not legal.
pub(super) fn number_of(position: &Position, best_move: Move) -> Option<u32> {
    let moves = position.legal_moves();
    let own = key(position, best_move);
    let before = moves.iter().filter(|&&m| key(position, m) < own).count();
    moves.contains(&best_move).then_some(before as u32)
}

/// Quiet moves before captures, those that stay what they are before promotions, by the kind of piece,
/// then from the opponent's side of the board to one's own; drops behind all of them.
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

/// A square as the side to move sees it: the rank from the far side, then the file by priority.
fn place(position: &Position, square: Square) -> [u8; 2] {
    let seen = match position.side_to_move() {
        Color::Black => square,
        Color::White => square.rotated(),
    };
    [seen.rank(), FILE_PRIORITY[usize::from(seen.file())]]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From the definition: pawns first, of those the one on the middle file, then its right neighbour.
    #[test]
    fn the_start_of_an_even_game() {
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
    fn numbers_and_moves_are_each_other_s_inverse() {
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
