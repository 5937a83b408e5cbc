//! Sets of moves. Generators yield sets, so that counting moves is counting bits.

use std::ops::ControlFlow;

use super::bitboard::Bitboard;
use super::moves::Move;
use super::piece::{Color, HandKind, PieceKind};
use super::square::Square;

/// Moves that differ only in their target, or pawn moves that differ only in their file.
#[derive(Clone, Copy, Debug)]
pub enum MoveSet {
    /// Moves of one piece.
    Piece {
        /// Kind before the move.
        kind: PieceKind,
        /// Origin square.
        from: Square,
        /// Target squares.
        to: Bitboard,
        /// Whether it promotes.
        promotion: bool,
    },
    /// One step forward of several pawns.
    Pawns {
        /// Side of the pawns.
        color: Color,
        /// Squares in front of the pawns.
        to: Bitboard,
        /// Whether they promote.
        promotion: bool,
    },
    /// Drops of one kind.
    Drops {
        /// Kind in hand.
        kind: HandKind,
        /// Target squares.
        to: Bitboard,
    },
}

impl MoveSet {
    /// Target squares. Each is one move.
    #[inline]
    pub const fn targets(&self) -> Bitboard {
        match *self {
            Self::Piece { to, .. } | Self::Pawns { to, .. } | Self::Drops { to, .. } => to,
        }
    }

    /// Calls `visit` with each move until it returns `Break`.
    #[inline]
    pub fn try_for_each(self, mut visit: impl FnMut(Move) -> Flow) -> Flow {
        match self {
            Self::Piece { from, mut to, promotion, .. } => {
                to.try_for_each(|to| visit(Move::new(from, to, promotion)))
            }
            Self::Pawns { color, mut to, promotion } => {
                to.try_for_each(|to| visit(Move::new(pawn_origin(color, to), to, promotion)))
            }
            Self::Drops { kind, mut to } => to.try_for_each(|to| visit(Move::drop(kind, to))),
        }
    }

    /// Calls `visit` with each move.
    #[inline]
    pub fn for_each(self, mut visit: impl FnMut(Move)) {
        match self {
            Self::Piece { from, to, promotion, .. } => {
                to.for_each(|to| visit(Move::new(from, to, promotion)));
            }
            Self::Pawns { color, to, promotion } => to.for_each(|to| {
                visit(Move::new(pawn_origin(color, to), to, promotion));
            }),
            Self::Drops { kind, to } => to.for_each(|to| visit(Move::drop(kind, to))),
        }
    }
}

/// The square from which a pawn of `color` steps to `to`.
#[inline]
pub(crate) fn pawn_origin(color: Color, to: Square) -> Square {
    let back = match color {
        Color::Black => to.number() + 1,
        Color::White => to.number() - 1,
    };
    Square::new(back).expect("a pawn steps within its file")
}

/// The return value of a visitor. `Break` stops the generation.
pub type Flow = ControlFlow<()>;
