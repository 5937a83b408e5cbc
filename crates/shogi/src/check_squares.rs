//! Where pieces must stand or go to give check.

use super::attacks;
use super::bitboard::Bitboard;
use super::piece::{Color, PieceKind};
use super::position::Position;
use super::square::Square;

/// Squares from which each kind would give check to the opponent of the side to move.
#[derive(Clone, Copy)]
pub(crate) struct CheckSquares {
    us: Color,
    king: Square,
    /// Own pieces whose departure opens a line on the king.
    discoverers: Bitboard,
    pawn: Bitboard,
    lance: Bitboard,
    knight: Bitboard,
    silver: Bitboard,
    gold: Bitboard,
    bishop: Bitboard,
    rook: Bitboard,
}

impl CheckSquares {
    /// `None` if the opponent has no king.
    #[inline]
    pub(crate) fn new(position: &Position) -> Option<Self> {
        let us = position.side_to_move();
        let king = position.king(!us)?;
        let occupied = position.occupied();
        let rook = attacks::rook(king, occupied);
        Some(Self {
            us,
            king,
            discoverers: position.blockers(!us) & position.color(us),
            pawn: attacks::pawn(!us, king),
            lance: rook & attacks::lance_ray(!us, king),
            knight: attacks::knight(!us, king),
            silver: attacks::silver(!us, king),
            gold: attacks::gold(!us, king),
            bishop: attacks::bishop(king, occupied),
            rook,
        })
    }

    /// Where a piece of this kind, come from elsewhere, attacks the king.
    #[inline(always)]
    pub(crate) fn direct(&self, kind: PieceKind) -> Bitboard {
        match kind {
            PieceKind::Pawn => self.pawn,
            PieceKind::Lance => self.lance,
            PieceKind::Knight => self.knight,
            PieceKind::Silver => self.silver,
            PieceKind::Gold
            | PieceKind::ProPawn
            | PieceKind::ProLance
            | PieceKind::ProKnight
            | PieceKind::ProSilver => self.gold,
            PieceKind::Bishop => self.bishop,
            PieceKind::Rook => self.rook,
            PieceKind::Horse => self.bishop | attacks::king(self.king),
            PieceKind::Dragon => self.rook | attacks::king(self.king),
            PieceKind::King => Bitboard::EMPTY,
        }
    }

    /// Targets with which a piece that is `after` on arrival gives check, moving from `from`.
    #[inline(always)]
    pub(crate) fn of(&self, after: PieceKind, from: Square) -> Bitboard {
        let direct = self.direct(after);
        if self.discoverers.contains(from) {
            direct | !attacks::ray_through(self.king, from)
        } else {
            direct
        }
    }

    /// Where pieces of a kind stand that may give check by moving.
    #[inline]
    pub(crate) fn origins(&self, kind: PieceKind) -> Bitboard {
        attacks::check_origins(self.us, kind, self.king) | self.discoverers
    }

    /// Own pieces whose departure opens a line on the king.
    #[inline]
    pub(crate) const fn discoverers(&self) -> Bitboard {
        self.discoverers
    }
}
