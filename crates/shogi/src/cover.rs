//! The squares that one side attacks, as sets.
//!
//! Steppers are shifted together, once for each direction of a step. Only sliders are handled one by one.

use super::attacks;
use super::bitboard::Bitboard;
use super::piece::{Color, PieceKind};
use super::position::Position;

/// The squares that one side attacks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AttackMap {
    /// Attacked squares.
    pub(crate) all: Bitboard,
    /// Squares attacked by more than one piece.
    pub(crate) twice: Bitboard,
    /// Squares attacked along lines. A piece that leaves or enters one may open or close a line.
    pub(crate) lines: Bitboard,
}

impl Position {
    /// The squares that `color` attacks when `occupied` squares block sliders.
    #[inline]
    pub(crate) fn cover(&self, color: Color, occupied: Bitboard) -> AttackMap {
        let own = self.color(color);
        let mut cover =
            AttackMap { all: Bitboard::EMPTY, twice: Bitboard::EMPTY, lines: Bitboard::EMPTY };
        self.steppers(own, color).for_each_step(color, |squares| cover.add(squares));
        self.for_each_line(own, color, occupied, |squares| cover.add_line(squares));
        cover
    }

    /// The squares that `pieces` of `color` attack when `occupied` squares block sliders.
    #[inline]
    pub(crate) fn attacked_by(
        &self,
        color: Color,
        pieces: Bitboard,
        occupied: Bitboard,
    ) -> Bitboard {
        let mut attacked = self.steppers(pieces, color).attacks(color);
        self.for_each_line(pieces, color, occupied, |squares| attacked |= squares);
        attacked
    }

    #[inline]
    fn steppers(&self, own: Bitboard, color: Color) -> Steppers {
        let own_pieces = |kind: PieceKind| self.kind(kind) & own;
        Steppers {
            pawns: own_pieces(PieceKind::Pawn),
            knights: own_pieces(PieceKind::Knight),
            silvers: own_pieces(PieceKind::Silver),
            golds: self.golds(color) & own,
            kings: own_pieces(PieceKind::King)
                | own_pieces(PieceKind::Horse)
                | own_pieces(PieceKind::Dragon),
        }
    }

    #[inline(always)]
    fn for_each_line(
        &self,
        own: Bitboard,
        color: Color,
        occupied: Bitboard,
        mut visit: impl FnMut(Bitboard),
    ) {
        let own_pieces = |kind: PieceKind| self.kind(kind) & own;
        for lance in own_pieces(PieceKind::Lance) {
            visit(attacks::lance(color, lance, occupied));
        }
        for bishop in own_pieces(PieceKind::Bishop) | own_pieces(PieceKind::Horse) {
            visit(attacks::bishop(bishop, occupied));
        }
        for rook in own_pieces(PieceKind::Rook) | own_pieces(PieceKind::Dragon) {
            visit(attacks::rook(rook, occupied));
        }
    }
}

impl AttackMap {
    #[inline]
    fn add(&mut self, squares: Bitboard) {
        self.twice |= self.all & squares;
        self.all |= squares;
    }

    #[inline]
    fn add_line(&mut self, squares: Bitboard) {
        self.add(squares);
        self.lines |= squares;
    }
}

/// Pieces of one side by the way they step. `kings` includes promoted bishops and rooks, which step like kings.
#[derive(Clone, Copy)]
struct Steppers {
    pawns: Bitboard,
    knights: Bitboard,
    silvers: Bitboard,
    golds: Bitboard,
    kings: Bitboard,
}

impl Steppers {
    /// All squares they attack. One shift moves all steps to the left, whether they also go up or down.
    #[inline]
    fn attacks(self, color: Color) -> Bitboard {
        let Self { pawns, knights, silvers, golds, kings } = self;
        let diagonal_ahead = (silvers | golds | kings).forward(color);
        let diagonal_back = (silvers | kings).forward(!color);
        let level = golds | kings;
        let jumping = knights.forward(color).forward(color);
        let sideways = diagonal_ahead | diagonal_back | level | jumping;
        let straight = diagonal_ahead | pawns.forward(color) | level.forward(!color);
        sideways.leftwards() | sideways.rightwards() | straight
    }

    /// One set of squares for each direction. Two pieces that step in the same direction never reach the same square.
    #[inline]
    fn for_each_step(self, color: Color, mut visit: impl FnMut(Bitboard)) {
        let Self { pawns, knights, silvers, golds, kings } = self;
        let diagonal_ahead = (silvers | golds | kings).forward(color);
        let level = golds | kings;
        for squares in [
            diagonal_ahead,
            (silvers | kings).forward(!color),
            level,
            knights.forward(color).forward(color),
        ] {
            visit(squares.leftwards());
            visit(squares.rightwards());
        }
        visit(diagonal_ahead | pawns.forward(color));
        visit(level.forward(!color));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steppers_attack_the_union_of_their_single_attacks() {
        let sets = [0x5a5a_1234_9876_0f0f_u128 << 7, 0x1_0000_8000_4001, u128::MAX, 1 << 80 | 1];
        for pieces in sets.map(Bitboard::from_bits) {
            for color in Color::ALL {
                for kind in [
                    PieceKind::Pawn,
                    PieceKind::Knight,
                    PieceKind::Silver,
                    PieceKind::Gold,
                    PieceKind::King,
                ] {
                    let pieces_if = |wanted| if wanted == kind { pieces } else { Bitboard::EMPTY };
                    let steppers = Steppers {
                        pawns: pieces_if(PieceKind::Pawn),
                        knights: pieces_if(PieceKind::Knight),
                        silvers: pieces_if(PieceKind::Silver),
                        golds: pieces_if(PieceKind::Gold),
                        kings: pieces_if(PieceKind::King),
                    };
                    let [mut once, mut twice] = [Bitboard::EMPTY; 2];
                    for square in pieces {
                        let attacks = attacks::piece(color, kind, square, Bitboard::EMPTY);
                        twice |= once & attacks;
                        once |= attacks;
                    }
                    assert_eq!(steppers.attacks(color), once, "{color:?} {kind:?}");
                    let mut cover = AttackMap {
                        all: Bitboard::EMPTY,
                        twice: Bitboard::EMPTY,
                        lines: Bitboard::EMPTY,
                    };
                    steppers.for_each_step(color, |squares| cover.add(squares));
                    assert_eq!((cover.all, cover.twice), (once, twice), "{color:?} {kind:?}");
                }
            }
        }
    }
}
