//! Active features of positions for YaneuraOu's NNUE networks: HalfKP and `HalfKA_hm`.
//!
//! The numbers of pieces (`BonaPiece`), the index of a king and a piece, and the mirroring of the board are as in
//! YaneuraOu (`evaluate.h`, `features/half_kp.cpp`, `features/half_ka_hm2.cpp`). Golds and pieces that move as golds
//! are one kind.

use kyokumen_shogi::{Color, HandKind, PieceKind, Position, Square};

use crate::NetworkError;

/// The features of one side in a YaneuraOu network. The active features of a position are 1, all others 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NnueFeatures {
    /// The own king's square with each piece except kings: 81 × 1,548.
    HalfKp,
    /// Like HalfKP, with both kings as pieces of one kind. The board is mirrored if the own king is left of the middle
    /// file: 45 × 1,629. YaneuraOu's `HalfKA_hm2`.
    HalfKaHm,
}

/// First number of pieces on the board; lower numbers are pieces in hand.
const HAND_END: u32 = 90;
/// Numbers of one kind of one side on the board.
const SQUARES: u32 = Square::COUNT as u32;
/// Kinds on the board besides kings.
const KINDS: u32 = 9;
/// Numbers of all pieces except kings.
const PIECES: u32 = HAND_END + 2 * KINDS * SQUARES;
/// King squares on the five files from the right.
const KINGS_TO_THE_RIGHT: u32 = 45;

/// Number of the first piece in hand: own side, opponent. The number before each of them means no piece.
const HANDS: [(HandKind, [u32; 2]); HandKind::COUNT] = [
    (HandKind::Pawn, [1, 20]),
    (HandKind::Lance, [39, 44]),
    (HandKind::Knight, [49, 54]),
    (HandKind::Silver, [59, 64]),
    (HandKind::Gold, [69, 74]),
    (HandKind::Bishop, [79, 82]),
    (HandKind::Rook, [85, 88]),
];

/// Index of a kind among the kinds on the board.
const fn place(kind: PieceKind) -> u32 {
    match kind {
        PieceKind::Pawn => 0,
        PieceKind::Lance => 1,
        PieceKind::Knight => 2,
        PieceKind::Silver => 3,
        PieceKind::Gold
        | PieceKind::ProPawn
        | PieceKind::ProLance
        | PieceKind::ProKnight
        | PieceKind::ProSilver => 4,
        PieceKind::Bishop => 5,
        PieceKind::Horse => 6,
        PieceKind::Rook => 7,
        PieceKind::Dragon => 8,
        PieceKind::King => KINDS,
    }
}

impl NnueFeatures {
    /// Number of features of one side.
    pub const fn dimensions(self) -> u32 {
        match self {
            Self::HalfKp => SQUARES * PIECES,
            Self::HalfKaHm => KINGS_TO_THE_RIGHT * self.pieces(),
        }
    }

    /// Number of active features of a position: one for each piece of a set, without kings in HalfKP.
    pub const fn active(self) -> usize {
        match self {
            Self::HalfKp => 38,
            Self::HalfKaHm => 40,
        }
    }

    /// How many piece numbers there are.
    const fn pieces(self) -> u32 {
        match self {
            Self::HalfKp => PIECES,
            Self::HalfKaHm => PIECES + SQUARES,
        }
    }

    /// Writes the active features as seen by `side`, in no particular order. Pieces in the box are written as in the
    /// engine: as piece 0 of the king's square.
    ///
    /// # Errors
    /// [`NetworkError::MissingKing`] if the king of `side` is missing.
    ///
    /// # Panics
    /// If the length of `out` is not [`Self::active`].
    #[inline]
    pub fn write(
        self,
        position: &Position,
        side: Color,
        out: &mut [i32],
    ) -> Result<(), NetworkError> {
        assert_eq!(out.len(), self.active(), "numbers of active features");
        let king = position.king(side).ok_or(NetworkError::MissingKing(side))?;
        let king = seen_by(side, king);
        let is_mirrored = self == Self::HalfKaHm && u32::from(king.number()) >= KINGS_TO_THE_RIGHT;
        let seen = |square: Square| {
            let square = seen_by(side, square);
            u32::from(if is_mirrored { square.mirrored() } else { square }.number())
        };
        let king = if is_mirrored { king.mirrored() } else { king };
        let first = u32::from(king.number()) * self.pieces();
        let mut places = out.iter_mut();
        let mut put = |piece: u32| {
            if let Some(place) = places.next() {
                *place = (first + piece).cast_signed();
            }
        };
        for (whose, color) in [side, !side].into_iter().enumerate() {
            let hand = position.hand(color);
            for (kind, numbers) in HANDS {
                (0..u32::from(hand.count(kind))).for_each(|nth| put(numbers[whose] + nth));
            }
        }
        let kings = position.kind(PieceKind::King);
        for square in position.occupied().without(kings) {
            let Some(piece) = position.piece_on(square) else { continue };
            let whose = u32::from(piece.color != side);
            put(HAND_END + (2 * place(piece.kind) + whose) * SQUARES + seen(square));
        }
        if self == Self::HalfKaHm {
            kings.into_iter().for_each(|square| put(PIECES + seen(square)));
        }
        places.for_each(|place| *place = first.cast_signed());
        Ok(())
    }
}

const fn seen_by(side: Color, square: Square) -> Square {
    match side {
        Color::Black => square,
        Color::White => square.rotated(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn features(kind: NnueFeatures, sfen: &str, side: Color) -> Vec<i32> {
        let mut out = vec![-1; kind.active()];
        let position: Position = sfen.parse().expect("a legal position");
        kind.write(&position, side, &mut out).expect("a king");
        out.sort_unstable();
        out
    }

    const START: &str = kyokumen_shogi::sfen::START;

    #[test]
    fn dimensions_match_the_engine() {
        assert_eq!(NnueFeatures::HalfKp.dimensions(), 125_388);
        assert_eq!(NnueFeatures::HalfKaHm.dimensions(), 73_305);
    }

    /// Both sides see the same in the start position.
    #[test]
    fn each_side_sees_the_board_from_its_seat() {
        for kind in [NnueFeatures::HalfKp, NnueFeatures::HalfKaHm] {
            assert_eq!(features(kind, START, Color::Black), features(kind, START, Color::White));
        }
    }

    /// Black's king on 5i is square 44. Its pawns are on square 6 of each file: 6, 15, …. The first number of pawns is
    /// 90.
    #[test]
    fn features_match_numbers_computed_by_hand() {
        let start_features = features(NnueFeatures::HalfKp, START, Color::Black);
        let first = 44 * 1548;
        for pawn in (0..9).map(|file| first + 90 + 9 * file + 6) {
            assert!(start_features.contains(&pawn), "{pawn}");
        }
        // White's dragon on 1a, and Black's three pawns and gold in hand; the king on 9i is square 80.
        let sfen = "8+r/4k4/9/9/9/9/9/9/K8 b G3Pr2b3g4s4n4l15p 1";
        let found = features(NnueFeatures::HalfKp, sfen, Color::Black);
        let first = 80 * 1548;
        for piece in [1, 2, 3, 69, 90 + 17 * 81] {
            assert!(found.contains(&(first + piece)), "{piece}");
        }
        // The same with a mirrored board: the king on 1i is square 8, the dragon on 9a square 72.
        let found = features(NnueFeatures::HalfKaHm, sfen, Color::Black);
        let first = 8 * 1629;
        for piece in [1, 2, 3, 69, 90 + 17 * 81 + 72, 1548 + 8, 1548 + 37] {
            assert!(found.contains(&(first + piece)), "{piece}");
        }
    }

    #[test]
    fn pieces_in_the_box_count_as_no_piece() {
        let found = features(NnueFeatures::HalfKp, "4k4/9/9/9/9/9/9/9/4K4 b P 1", Color::White);
        let first = 44 * 1548;
        assert_eq!(found[..37], [first; 37]);
        assert_eq!(found[37], first + 20);
    }

    #[test]
    fn a_missing_king_is_an_error() {
        let position: Position = "4k4/9/9/9/9/9/9/9/9 b 18p 1".parse().expect("a problem");
        let mut out = [0; 38];
        let missing = NnueFeatures::HalfKp.write(&position, Color::Black, &mut out);
        assert!(matches!(missing, Err(NetworkError::MissingKing(Color::Black))));
    }
}
