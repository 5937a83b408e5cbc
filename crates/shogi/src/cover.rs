//! All squares that one side attacks, as sets.
//!
//! Steppers are moved all at once, a shift for each way to step; only sliders are looked at one by one.

use super::attacks;
use super::bitboard::Bitboard;
use super::piece::{Color, PieceKind};
use super::position::Position;

/// What one side attacks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AttackMap {
    /// Attacked squares.
    pub(crate) all: Bitboard,
    /// Those attacked by more than one piece.
    pub(crate) twice: Bitboard,
    /// Those attacked along lines: what stands or arrives on them may open or close a line.
    pub(crate) lines: Bitboard,
}

impl Position {
    /// What `color` attacks when `occupied` squares block sliders.
    #[inline]
    pub(crate) fn cover(&self, color: Color, occupied: Bitboard) -> AttackMap {
        let own = self.color(color);
        let mut cover =
            AttackMap { all: Bitboard::EMPTY, twice: Bitboard::EMPTY, lines: Bitboard::EMPTY };
        self.steppers(own, color).for_each_step(color, |squares| cover.add(squares));
        self.for_each_line(own, color, occupied, |squares| cover.add_line(squares));
        cover
    }

    /// The squares that `color` attacks with `pieces` of its own when `occupied` squares block sliders.
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
        let of = |kind: PieceKind| self.kind(kind) & own;
        Steppers {
            pawns: of(PieceKind::Pawn),
            knights: of(PieceKind::Knight),
            silvers: of(PieceKind::Silver),
            golds: self.golds(color) & own,
            kings: of(PieceKind::King) | of(PieceKind::Horse) | of(PieceKind::Dragon),
        }
    }

    #[inline]
    fn for_each_line(
        &self,
        own: Bitboard,
        color: Color,
        occupied: Bitboard,
        mut visit: impl FnMut(Bitboard),
    ) {
        let of = |kind: PieceKind| self.kind(kind) & own;
        for lance in of(PieceKind::Lance) {
            visit(attacks::lance(color, lance, occupied));
        }
        for bishop in of(PieceKind::Bishop) | of(PieceKind::Horse) {
            visit(attacks::bishop(bishop, occupied));
        }
        for rook in of(PieceKind::Rook) | of(PieceKind::Dragon) {
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

/// Pieces of one side by the way they step; kings are also what promoted bishops and rooks step like.
#[derive(Clone, Copy)]
struct Steppers {
    pawns: Bitboard,
    knights: Bitboard,
    silvers: Bitboard,
    golds: Bitboard,
    kings: Bitboard,
}

impl Steppers {
    /// All squares they attack. Whatever steps sideways, slanting or straight, does so in one shift.
    #[inline]
    fn attacks(self, color: Color) -> Bitboard {
        let Self { pawns, knights, silvers, golds, kings } = self;
        let slanting_ahead = (silvers | golds | kings).forward(color);
        let slanting_behind = (silvers | kings).forward(!color);
        let beside = golds | kings;
        let jumping = knights.forward(color).forward(color);
        let sideways = slanting_ahead | slanting_behind | beside | jumping;
        let straight = slanting_ahead | pawns.forward(color) | beside.forward(!color);
        sideways.leftwards() | sideways.rightwards() | straight
    }

    /// One set of squares for each way to step: two pieces that step the same way never meet.
    #[inline]
    fn for_each_step(self, color: Color, mut visit: impl FnMut(Bitboard)) {
        let Self { pawns, knights, silvers, golds, kings } = self;
        let slanting_ahead = (silvers | golds | kings).forward(color);
        let beside = golds | kings;
        for squares in [
            slanting_ahead,
            (silvers | kings).forward(!color),
            beside,
            knights.forward(color).forward(color),
        ] {
            visit(squares.leftwards());
            visit(squares.rightwards());
        }
        visit(slanting_ahead | pawns.forward(color));
        visit(beside.forward(!color));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steppers_attack_what_each_of_them_attacks() {
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
                    let of = |wanted| if wanted == kind { pieces } else { Bitboard::EMPTY };
                    let steppers = Steppers {
                        pawns: of(PieceKind::Pawn),
                        knights: of(PieceKind::Knight),
                        silvers: of(PieceKind::Silver),
                        golds: of(PieceKind::Gold),
                        kings: of(PieceKind::King),
                    };
                    let [mut once, mut twice] = [Bitboard::EMPTY; 2];
                    for square in pieces {
                        let attacks = attacks::of(color, kind, square, Bitboard::EMPTY);
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
