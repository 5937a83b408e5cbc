//! Win by declaration after a king has entered the opponent's camp: the 27-point rule of computer shogi (CSA).

use super::bitboard::Bitboard;
use super::hand::Hand;
use super::piece::{Color, HandKind, PieceKind};
use super::position::Position;

/// The state of a side with respect to a declaration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EnteringKing {
    /// Whether its king is in the opponent's camp, the three farthest ranks.
    pub king_in_camp: bool,
    /// Number of its other pieces in the camp. Ten are needed.
    pub pieces: u8,
    /// Points of these pieces and the pieces in hand: 5 for each bishop and rook, promoted or not, and 1 for each other
    /// piece.
    pub points: u8,
    /// Points needed: 28 for Black, 27 for White.
    pub points_needed: u8,
}

impl EnteringKing {
    /// Other pieces needed in the camp.
    pub const PIECES_NEEDED: u8 = 10;

    /// The state of one side.
    pub fn new(position: &Position, color: Color) -> Self {
        let camp = Bitboard::far_ranks(color, 3);
        let inside = (position.color(color) & camp).without(position.kind(PieceKind::King));
        let large = [PieceKind::Bishop, PieceKind::Rook, PieceKind::Horse, PieceKind::Dragon];
        let large: u32 = large.into_iter().map(|kind| (inside & position.kind(kind)).count()).sum();
        Self {
            king_in_camp: position.king(color).is_some_and(|king| camp.contains(king)),
            pieces: inside.count() as u8,
            points: (inside.count() + 4 * large + points(position.hand(color))) as u8,
            points_needed: match color {
                Color::Black => 28,
                Color::White => 27,
            },
        }
    }
}

/// Points of the pieces in a hand.
fn points(hand: Hand) -> u32 {
    let value = |kind| match kind {
        HandKind::Bishop | HandKind::Rook => 5,
        _ => 1,
    };
    hand.iter().map(|(kind, count)| value(kind) * u32::from(count)).sum()
}

impl Position {
    /// Whether the side to move wins by a declaration under the 27-point rule. Its king must be in the opponent's camp
    /// and not in check. It needs ten other pieces in the camp, and 28 points for Black or 27 for White.
    pub fn can_declare(&self) -> bool {
        let mover = self.side_to_move();
        let king_in_camp =
            self.king(mover).is_some_and(|king| Bitboard::far_ranks(mover, 3).contains(king));
        if !king_in_camp || self.in_check() {
            return false;
        }
        let EnteringKing { pieces, points, points_needed, .. } = EnteringKing::new(self, mover);
        pieces >= EnteringKing::PIECES_NEEDED && points >= points_needed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn can_declare(sfen: &str) -> bool {
        sfen.parse::<Position>().expect("a legal position").can_declare()
    }

    #[test]
    fn ten_pieces_and_28_points_are_needed() {
        // Ten pieces in the camp are 10 points. Two dragons and two horses add 4 points each.
        let camp = "K+R+R+B+BGGSS/NL7/9/9/9/9/9/9/8k";
        assert!(can_declare(&format!("{camp} b 2P2g2s3n3l16p 1")));
        assert!(!can_declare(&format!("{camp} b P2g2s3n3l17p 1")));
        // Nine pieces.
        assert!(!can_declare("K+R+R+B+BGGSS/N8/9/9/9/9/9/9/8k b 9P2g2s3n4l9p 1"));
        // The king is outside the camp.
        assert!(!can_declare("+P+R+R+B+BGGSS/NL7/9/K8/9/9/9/9/8k b 9P2g2s3n3l8p 1"));
    }

    #[test]
    fn white_needs_27_points_and_check_prevents_a_declaration() {
        let camp = "K8/9/9/9/9/9/9/7ln/ssgg+b+b+r+rk";
        assert!(can_declare(&format!("{camp} w 17P2G2S3N3Lp 1")));
        assert!(!can_declare(&format!("{camp} w 18P2G2S3N3L 1")));
        // A gold next to the king gives check; one square farther away it does not.
        assert!(!can_declare("K8/9/9/9/9/9/9/6nlG/ssgg+b+b+r+rk w 17PG2S3N3Lp 1"));
        assert!(can_declare("K8/9/9/9/9/9/8G/6nl1/ssgg+b+b+r+rk w 17PG2S3N3Lp 1"));
    }
}
