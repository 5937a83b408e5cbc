//! An arrangement of pieces: the result of decoding, before its legality is checked.
//!
//! The split between `Setup` and `Position` follows the chess library shakmaty.

use std::error::Error;
use std::fmt;

use super::bitboard::Bitboard;
use super::byte_board::{ByteBoard, Planes};
use super::hand::Hand;
use super::piece::{Color, HandKind, Piece, PieceKind};
use super::square::Square;

/// An arrangement of at most one piece set, with at least one king and at most one king a side. Nothing else is
/// guaranteed.
#[derive(Clone, PartialEq, Eq, Debug)]
// The board comes first, so that a copy reads in the order in which a decoder has just written. Processors forward such
// reads without waiting. With another order, decoding took 15 % longer.
#[repr(C)]
pub struct Setup {
    board: ByteBoard,
    kings: [Option<Square>; 2],
    hands: [Hand; 2],
    side_to_move: Color,
    ply: u16,
}

/// Why an arrangement is not a [`Setup`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SetupError {
    /// More pieces of a kind than a set has, board and hands together.
    TooMany {
        /// SFEN letter of the kind.
        letter: char,
        /// Pieces found, including promoted ones.
        count: u8,
        /// Pieces in a full set.
        most: u8,
    },
    /// A second king of one side.
    SecondKing {
        /// Side of the king.
        color: Color,
        /// Square of the second king.
        square: Square,
    },
    /// No king on the board.
    NoKing,
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooMany { letter, count, most } => {
                write!(f, "{count} pieces {letter} on board and in hand, but a set has {most}")
            }
            Self::SecondKing { color, square } => write!(f, "a second {color:?} king on {square}"),
            Self::NoKing => f.write_str("no king on the board"),
        }
    }
}

impl Error for SetupError {}

impl Setup {
    /// Checks piece counts and kings. `ply` is the SFEN move number of the next move.
    ///
    /// # Errors
    /// [`SetupError`] if there is more than one set of pieces, a second king of one side, or no king.
    pub fn new(
        board: impl Into<ByteBoard>,
        hands: [Hand; 2],
        side_to_move: Color,
        ply: u16,
    ) -> Result<Self, SetupError> {
        let board = board.into();
        let mut kings = [None; 2];
        let mut counts = HandKind::ALL.map(|kind| hands[0].count(kind) + hands[1].count(kind));
        for square in Square::all() {
            let Some(piece) = board[square.index()] else { continue };
            if let Some(kind) = piece.kind.hand_kind() {
                counts[kind.index()] += 1;
            } else if kings[piece.color.index()].replace(square).is_some() {
                return Err(SetupError::SecondKing { color: piece.color, square });
            }
        }
        for kind in HandKind::ALL {
            let (count, most) = (counts[kind.index()], HandKind::SET[kind.index()]);
            if count > most {
                let letter = char::from(kind.piece_kind().letter());
                return Err(SetupError::TooMany { letter, count, most });
            }
        }
        if kings == [None; 2] {
            return Err(SetupError::NoKing);
        }
        Ok(Self { board, kings, hands, side_to_move, ply })
    }

    /// Skips the checks of [`Setup::new`], for callers that have counted the pieces and found the kings.
    pub const fn from_counted(
        board: ByteBoard,
        kings: [Option<Square>; 2],
        hands: [Hand; 2],
        side_to_move: Color,
        ply: u16,
    ) -> Self {
        Self { board, kings, hands, side_to_move, ply }
    }

    /// Contents of the squares.
    pub const fn board(&self) -> &ByteBoard {
        &self.board
    }

    /// Pieces in hand, Black's first.
    pub const fn hands(&self) -> [Hand; 2] {
        self.hands
    }

    /// Whose turn it is.
    pub const fn side_to_move(&self) -> Color {
        self.side_to_move
    }

    /// Move number of the next move as in SFEN, from 1. It is 1 if the source has none.
    pub const fn ply(&self) -> u16 {
        self.ply
    }

    /// The same arrangement with another move number.
    #[must_use]
    pub const fn with_ply(mut self, ply: u16) -> Self {
        self.ply = ply;
        self
    }

    /// The same arrangement with left and right exchanged. The rules do not distinguish the two.
    #[must_use]
    pub fn mirrored(&self) -> Self {
        let mut board = [None; Square::COUNT];
        for square in Square::all() {
            board[square.mirrored().index()] = self.board[square.index()];
        }
        let kings = self.kings.map(|king| king.map(Square::mirrored));
        Self { board: board.into(), kings, ..self.clone() }
    }

    /// The square of the king of `color`.
    pub const fn king(&self, color: Color) -> Option<Square> {
        self.kings[color.index()]
    }

    /// Pieces of the set that are neither on the board nor in a hand (handicap games, tsume).
    pub fn piece_box(&self) -> Hand {
        let mut counts = HandKind::SET;
        for kind in self.board.iter().flatten().filter_map(|piece| piece.kind.hand_kind()) {
            counts[kind.index()] -= 1;
        }
        for kind in HandKind::ALL {
            counts[kind.index()] -= self.hands[0].count(kind) + self.hands[1].count(kind);
        }
        Hand::from_counts(counts).expect("no count exceeds the set it was taken from")
    }

    /// Breaches of the rules that cannot occur in games but do occur in archives: a second pawn on a file, and a piece
    /// that could never move again. Names only the first of each kind.
    pub fn warnings(&self) -> Vec<SetupWarning> {
        let planes = self.board.planes();
        if has_two_pawns(&planes) || has_dead_piece(&planes) {
            self.name_warnings()
        } else {
            Vec::new()
        }
    }

    #[cold]
    fn name_warnings(&self) -> Vec<SetupWarning> {
        let mut warnings = Vec::new();
        let mut two_pawns = None;
        let mut dead_piece = None;
        for file in 0..9 {
            let mut has_pawn = [false; 2];
            for rank in 0..9 {
                let square = Square::from_file_rank(file, rank);
                let Some(piece) = self.board[square.index()] else { continue };
                if piece.kind == PieceKind::Pawn {
                    let seen = &mut has_pawn[piece.color.index()];
                    if *seen {
                        two_pawns
                            .get_or_insert(SetupWarning::TwoPawns { color: piece.color, square });
                    }
                    *seen = true;
                }
                // Only pieces on the two ranks at either edge can be dead.
                if !(2..=6).contains(&rank)
                    && square.relative_rank(piece.color) < piece.kind.dead_ranks()
                {
                    dead_piece.get_or_insert(SetupWarning::DeadPiece { piece, square });
                }
            }
        }
        warnings.extend(two_pawns);
        warnings.extend(dead_piece);
        warnings
    }
}

fn has_two_pawns(planes: &Planes) -> bool {
    let pawns = planes.kinds()[PieceKind::Pawn.index()];
    Color::ALL.into_iter().any(|color| {
        let pawns = pawns & planes.color(color);
        // Subtracting one from each file with pawns clears the lowest pawn there, because a file is a nine-bit number.
        let ones = pawns.fill_files() & Bitboard::rank(0);
        pawns.bits() & (pawns.bits() - ones.bits()) != 0
    })
}

fn has_dead_piece(planes: &Planes) -> bool {
    let kinds = planes.kinds();
    [PieceKind::Pawn, PieceKind::Lance, PieceKind::Knight].into_iter().any(|kind| {
        Color::ALL.into_iter().any(|color| {
            let dead = Bitboard::far_ranks(color, kind.dead_ranks());
            (kinds[kind.index()] & planes.color(color) & dead).has_any()
        })
    })
}

/// A breach of the rules that does not prevent reading a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SetupWarning {
    /// Two unpromoted pawns of one side on a file (nifu).
    TwoPawns {
        /// Side of the pawns.
        color: Color,
        /// The second pawn met.
        square: Square,
    },
    /// A pawn, lance or knight on a rank from which it could never move.
    DeadPiece {
        /// The piece.
        piece: Piece,
        /// Its square.
        square: Square,
    },
}

impl fmt::Display for SetupWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TwoPawns { color, square } => {
                write!(f, "a second {color:?} pawn on the file of {square}")
            }
            Self::DeadPiece { piece, square } => {
                write!(f, "{piece} on {square} could never move again")
            }
        }
    }
}

impl Error for SetupWarning {}
