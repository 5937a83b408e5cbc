//! Squares from where pieces give check.

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
    /// Own sliders on lines through the king, however many pieces are between.
    pub(crate) snipers: Bitboard,
    /// Pieces of both sides that are the only one between the king and a sniper.
    pub(crate) blockers: Bitboard,
    /// Own pieces that open a line to the king when they move.
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
    #[inline(always)]
    pub(crate) fn new(position: &Position) -> Option<Self> {
        let us = position.side_to_move();
        let king = position.king(!us)?;
        let snipers = position.snipers(!us, king);
        let blockers = position.blockers_of(king, snipers);
        let occupied = position.occupied();
        let rook = attacks::rook(king, occupied);
        Some(Self {
            us,
            king,
            snipers,
            blockers,
            discoverers: blockers & position.color(us),
            pawn: attacks::pawn(!us, king),
            lance: rook & attacks::lance_ray(!us, king),
            knight: attacks::knight(!us, king),
            silver: attacks::silver(!us, king),
            gold: attacks::gold(!us, king),
            bishop: attacks::bishop(king, occupied),
            rook,
        })
    }

    /// The king in check.
    #[inline]
    pub(crate) const fn king(&self) -> Square {
        self.king
    }

    /// Squares from where a piece of this kind attacks the king itself.
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

    /// Targets where a piece that moves from `from` and is `after` on arrival gives check.
    #[inline(always)]
    pub(crate) fn targets_from(&self, after: PieceKind, from: Square) -> Bitboard {
        let direct = self.direct(after);
        if self.discoverers.contains(from) {
            direct | !attacks::ray_through(self.king, from)
        } else {
            direct
        }
    }

    /// Squares from where a piece of a kind may give check by moving.
    #[inline]
    pub(crate) fn origins(&self, kind: PieceKind) -> Bitboard {
        attacks::check_origins(self.us, kind, self.king) | self.discoverers
    }

    /// Own pieces that open a line to the king when they move.
    #[inline]
    pub(crate) const fn discoverers(&self) -> Bitboard {
        self.discoverers
    }
}
