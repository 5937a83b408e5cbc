//! Colours, kinds of pieces and pieces on the board.
//!
//! Kinds have the order that packed positions use for pieces in hand: P L N S G B R.

use std::fmt;
use std::ops::Not;

/// A side. Black (sente) moves up the board, towards rank a.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Color {
    /// Sente, upper-case letters in SFEN.
    Black = 0,
    /// Gote, lower-case letters in SFEN.
    White = 1,
}

impl Color {
    /// Both sides, Black first.
    pub const ALL: [Self; 2] = [Self::Black, Self::White];

    /// 0 for Black, 1 for White.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The other side, usable in constants (elsewhere `!color`).
    #[inline]
    #[must_use]
    pub const fn opponent(self) -> Self {
        match self {
            Self::Black => Self::White,
            Self::White => Self::Black,
        }
    }
}

impl Not for Color {
    type Output = Self;

    #[inline]
    fn not(self) -> Self {
        self.opponent()
    }
}

/// The kind of a piece, without its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[expect(missing_docs, reason = "the pieces of shogi")]
pub enum PieceKind {
    Pawn,
    Lance,
    Knight,
    Silver,
    Gold,
    Bishop,
    Rook,
    King,
    ProPawn,
    ProLance,
    ProKnight,
    ProSilver,
    Horse,
    Dragon,
}

use PieceKind::{
    Bishop, Dragon, Gold, Horse, King, Knight, Lance, Pawn, ProKnight, ProLance, ProPawn,
    ProSilver, Rook, Silver,
};

impl PieceKind {
    /// Number of kinds.
    pub const COUNT: usize = 14;

    /// Every kind, in numeric order.
    pub const ALL: [Self; Self::COUNT] = [
        Pawn, Lance, Knight, Silver, Gold, Bishop, Rook, King, ProPawn, ProLance, ProKnight,
        ProSilver, Horse, Dragon,
    ];

    /// Position in [`PieceKind::ALL`].
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The kind after promotion, `None` for golds, kings and promoted pieces.
    #[inline]
    pub const fn promoted(self) -> Option<Self> {
        Some(match self {
            Pawn => ProPawn,
            Lance => ProLance,
            Knight => ProKnight,
            Silver => ProSilver,
            Bishop => Horse,
            Rook => Dragon,
            _ => return None,
        })
    }

    /// The kind before promotion; itself if not promoted.
    #[inline]
    #[must_use]
    pub const fn unpromoted(self) -> Self {
        match self {
            ProPawn => Pawn,
            ProLance => Lance,
            ProKnight => Knight,
            ProSilver => Silver,
            Horse => Bishop,
            Dragon => Rook,
            other => other,
        }
    }

    /// Whether this is a promoted piece.
    #[inline]
    pub const fn is_promoted(self) -> bool {
        self as u8 >= ProPawn as u8
    }

    /// The kind this becomes when captured; `None` for the king.
    #[inline]
    pub const fn hand_kind(self) -> Option<HandKind> {
        Some(match self.unpromoted() {
            Pawn => HandKind::Pawn,
            Lance => HandKind::Lance,
            Knight => HandKind::Knight,
            Silver => HandKind::Silver,
            Gold => HandKind::Gold,
            Bishop => HandKind::Bishop,
            Rook => HandKind::Rook,
            _ => return None,
        })
    }

    /// Whether this is a gold or one of the four promoted pieces that move as a gold.
    #[inline]
    pub const fn moves_as_gold(self) -> bool {
        matches!(self, Gold | ProPawn | ProLance | ProKnight | ProSilver)
    }

    /// Number of ranks at the far side where an unpromoted piece of this kind could never move again.
    #[inline]
    pub const fn dead_ranks(self) -> u8 {
        match self {
            Pawn | Lance => 1,
            Knight => 2,
            _ => 0,
        }
    }

    /// Upper-case SFEN letter of the unpromoted kind.
    pub const fn letter(self) -> u8 {
        match self.unpromoted() {
            Pawn => b'P',
            Lance => b'L',
            Knight => b'N',
            Silver => b'S',
            Gold => b'G',
            Bishop => b'B',
            Rook => b'R',
            _ => b'K',
        }
    }
}

/// A kind that can be held in hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[expect(missing_docs, reason = "the pieces of shogi")]
pub enum HandKind {
    Pawn,
    Lance,
    Knight,
    Silver,
    Gold,
    Bishop,
    Rook,
}

impl HandKind {
    /// Number of kinds that can be held.
    pub const COUNT: usize = 7;

    /// P L N S G B R, the order of packed positions.
    pub const ALL: [Self; Self::COUNT] =
        [Self::Pawn, Self::Lance, Self::Knight, Self::Silver, Self::Gold, Self::Bishop, Self::Rook];

    /// Copies of each kind in a full set, in the order of [`HandKind::ALL`].
    pub const SET: [u8; Self::COUNT] = [18, 4, 4, 4, 4, 2, 2];

    /// Position in [`HandKind::ALL`].
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The same kind on the board.
    #[inline]
    pub const fn piece_kind(self) -> PieceKind {
        match self {
            Self::Pawn => Pawn,
            Self::Lance => Lance,
            Self::Knight => Knight,
            Self::Silver => Silver,
            Self::Gold => Gold,
            Self::Bishop => Bishop,
            Self::Rook => Rook,
        }
    }

    /// The kind with this upper-case SFEN letter.
    pub const fn from_letter(letter: u8) -> Option<Self> {
        Some(match letter {
            b'P' => Self::Pawn,
            b'L' => Self::Lance,
            b'N' => Self::Knight,
            b'S' => Self::Silver,
            b'G' => Self::Gold,
            b'B' => Self::Bishop,
            b'R' => Self::Rook,
            _ => return None,
        })
    }
}

/// A piece on the board.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Piece {
    /// Its side.
    pub color: Color,
    /// Its kind.
    pub kind: PieceKind,
}

impl Piece {
    /// Creates a piece.
    #[inline]
    pub const fn new(color: Color, kind: PieceKind) -> Self {
        Self { color, kind }
    }
}

impl fmt::Display for Piece {
    /// SFEN notation: `P`, `+r`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.kind.is_promoted() {
            f.write_str("+")?;
        }
        let letter = match self.color {
            Color::Black => self.kind.letter(),
            Color::White => self.kind.letter().to_ascii_lowercase(),
        };
        write!(f, "{}", char::from(letter))
    }
}

impl fmt::Debug for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
