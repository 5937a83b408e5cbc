//! A position as it is compared: board, hands and side to move, whole, in few bytes.
//!
//! The bytes are Apery's packed position (`docs/formats/packed.md`), in which everything has one form.

use crate::format::packed::{self, Family};
use crate::shogi::{Board, Color, Piece, PieceKind, Position, Setup, Square};

/// Equal for equal positions and for no others; the ply does not count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Question {
    packed: [u8; packed::LEN],
    /// The king that stands on the first empty square of the packed position, and not on the board:
    /// 256 bits need both.
    added_king: Option<Color>,
}

impl Question {
    pub(super) fn of(position: &Position) -> Self {
        let added_king = Color::ALL.into_iter().find(|&color| position.king(color).is_none());
        let setup = position.setup();
        let setup = added_king.map_or(setup.clone(), |color| with_king(&setup, color));
        let packed = packed::encode(Family::Apery, &setup).expect("both kings are on the board");
        Self { packed, added_king }
    }
}

fn with_king(setup: &Setup, color: Color) -> Setup {
    let mut board = Board::from(setup.board());
    let empty = Square::all()
        .find(|square| board[square.index()].is_none())
        .expect("a set has 40 pieces, the board 81 squares");
    board[empty.index()] = Some(Piece::new(color, PieceKind::King));
    Setup::new(board, setup.hands(), setup.side_to_move(), setup.ply())
        .expect("the king that was missing makes no second one and no piece too many")
}

/// Positions of random games, no two of them equal, for the tests of this room.
#[cfg(test)]
pub(super) fn positions(count: usize) -> Vec<Position> {
    let mut positions: Vec<Position> = Vec::new();
    for game in crate::shogi::random_play::RandomPlay::new(5, 120) {
        let mut position = Position::start();
        for m in game.moves {
            position.make(m);
            if positions.len() == count {
                return positions;
            }
            let is_equal =
                |other: &Position| other.setup().with_ply(1) == position.setup().with_ply(1);
            if !positions.iter().any(is_equal) {
                positions.push(position.clone());
            }
        }
    }
    unreachable!("games never end")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(sfen: &str) -> Question {
        Question::of(&sfen.parse().unwrap_or_else(|error| panic!("{sfen}: {error}")))
    }

    #[test]
    fn questions_are_equal_for_equal_positions_only() {
        let positions = positions(300);
        let questions: Vec<Question> = positions.iter().map(Question::of).collect();
        for (i, question) in questions.iter().enumerate() {
            assert!(!questions[..i].contains(question), "{}", positions[i]);
            let later = positions[i].setup().with_ply(999);
            assert_eq!(Question::of(&Position::try_from(later).unwrap()), *question);
        }
    }

    #[test]
    fn everything_but_the_ply_counts() {
        let base = "4k4/9/4P4/9/9/9/9/9/4K4 b G2r2b3g4s4n4l17p 1";
        assert_eq!(question(base), question("4k4/9/4P4/9/9/9/9/9/4K4 b G2r2b3g4s4n4l17p 8"));
        for other in [
            "4k4/9/4P4/9/9/9/9/9/4K4 w G2r2b3g4s4n4l17p 1",
            "4k4/9/4P4/9/9/9/9/9/4K4 b 2r2b4g4s4n4l17p 1",
            // One pawn less: it is in the box.
            "4k4/9/4P4/9/9/9/9/9/4K4 b G2r2b3g4s4n4l16p 1",
            "4k4/9/4+P4/9/9/9/9/9/4K4 b G2r2b3g4s4n4l17p 1",
            "4k4/9/4p4/9/9/9/9/9/4K4 b G2r2b3g4s4n4l17p 1",
            "4k4/9/3P5/9/9/9/9/9/4K4 b G2r2b3g4s4n4l17p 1",
            "4k4/9/4P4/9/9/9/9/9/3K5 b G2r2b3g4s4n4l17p 1",
        ] {
            assert_ne!(question(other), question(base), "{other}");
        }
    }

    /// Square numbers begin at 1a: there a missing king is put for the packed position.
    #[test]
    fn a_missing_king_is_not_one_on_the_first_empty_square() {
        let [none, black, white] = [
            "4k4/9/9/9/9/9/9/9/9 b G 1",
            "4k3K/9/9/9/9/9/9/9/9 b G 1",
            "4K4/9/9/9/9/9/9/9/9 w G 1",
        ]
        .map(question);
        assert_eq!(none.packed, black.packed, "the case that is to be told apart");
        assert_ne!(none, black);
        assert_ne!(none, white);
        assert_eq!(white.added_king, Some(Color::White));
    }
}
