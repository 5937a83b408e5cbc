//! Mate in one move, decided on bitboards without making moves.
//!
//! For each check it is asked, with the occupancy the check would leave, whether the king has a
//! flight, the checker can be taken, or the line can be closed. Nothing is approximated: the answer is
//! a mating move exactly if there is one.

use super::attacks;
use super::bitboard::Bitboard;
use super::movegen::{Flow, MoveSet};
use super::moves::Move;
use super::piece::{Color, HandKind, PieceKind};
use super::position::Position;
use super::square::Square;

impl Position {
    /// A legal move that mates at once, if there is one.
    ///
    /// ```
    /// use kyokumen::shogi::Position;
    /// let position: Position = "4k4/9/4G4/9/9/9/9/9/9 b G2r2b2g4s4n4l18p 1".parse().unwrap();
    /// assert_eq!(position.mate_in_one().unwrap().to_string(), "G*5b");
    /// ```
    pub fn mate_in_one(&self) -> Option<Move> {
        let mut tester = MateTester::new(self);
        let mut found = None;
        let _ = self.visit_checks(|set| {
            found = tester.mate_among(set);
            if found.is_some() { Flow::Break(()) } else { Flow::Continue(()) }
        });
        found
    }
}

/// Looks for mates among the checks of a position as they are generated.
pub(crate) struct MateTester<'a> {
    position: &'a Position,
    siege: Option<Siege<'a>>,
}

impl<'a> MateTester<'a> {
    pub(crate) const fn new(position: &'a Position) -> Self {
        Self { position, siege: None }
    }

    /// The first mating move of a set of checks. Legal pawn drops never mate.
    #[inline]
    pub(crate) fn mate_among(&mut self, set: MoveSet) -> Option<Move> {
        if matches!(set, MoveSet::Drops { kind: HandKind::Pawn, .. }) {
            return None;
        }
        let us = self.position.side_to_move();
        let king = self.position.king(!us)?;
        self.siege.get_or_insert_with(|| Siege::new(self.position, us, king)).mate_among(set)
    }
}

/// The attacked king and its surroundings before the check.
struct Siege<'a> {
    position: &'a Position,
    us: Color,
    king: Square,
    occupied: Bitboard,
    /// Neighbouring squares that the king could step to now.
    open: Bitboard,
}

/// The board a check would leave.
struct Check {
    kind: PieceKind,
    from: Option<Square>,
    to: Square,
    occupied: Bitboard,
    /// The checking side's pieces, the moved one left out.
    own: Bitboard,
    defenders: Bitboard,
}

impl<'a> Siege<'a> {
    fn new(position: &'a Position, us: Color, king: Square) -> Self {
        let occupied = position.occupied();
        let without_king = occupied ^ Bitboard::from_square(king);
        let open = attacks::king(king)
            .without(position.color(!us))
            .filter(|&flight| !position.is_attacked(flight, without_king, us))
            .collect();
        Self { position, us, king, occupied, open }
    }

    fn mate_among(&self, set: MoveSet) -> Option<Move> {
        match set {
            MoveSet::Drops { kind, mut to } => to
                .find(|&to| self.is_mate(kind.piece_kind(), None, to))
                .map(|to| Move::drop(kind, to)),
            MoveSet::Piece { kind, from, mut to, promotion } => {
                let kind = if promotion { kind.promoted().unwrap_or(kind) } else { kind };
                to.find(|&to| self.is_mate(kind, Some(from), to))
                    .map(|to| Move::new(from, to, promotion))
            }
            MoveSet::Pawns { .. } => {
                let mut found = None;
                let kind = match set {
                    MoveSet::Pawns { promotion: true, .. } => PieceKind::ProPawn,
                    _ => PieceKind::Pawn,
                };
                set.for_each(|m| {
                    if found.is_none() && self.is_mate(kind, m.from(), m.to()) {
                        found = Some(m);
                    }
                });
                found
            }
        }
    }

    /// Whether a check by a piece that is `kind` on arrival mates.
    fn is_mate(&self, kind: PieceKind, from: Option<Square>, to: Square) -> bool {
        let target = Bitboard::from_square(to);
        let origin = from.map_or(Bitboard::EMPTY, Bitboard::from_square);
        let occupied = self.occupied.without(origin) | target;
        let without_king = occupied ^ Bitboard::from_square(self.king);
        let reach = attacks::of(self.us, kind, to, without_king);
        // A drop opens no line: what was open and is not attacked by the drop stays open.
        if from.is_none() && self.open.without(reach).without(target).has_any() {
            return false;
        }
        let check = Check {
            kind,
            from,
            to,
            occupied,
            own: self.position.color(self.us).without(origin),
            defenders: self.position.color(!self.us).without(target),
        };
        !self.has_flight(&check, reach, without_king)
            && self.single_checker(&check).is_none_or(|checker| {
                !self.can_capture(&check, checker) && !self.can_interpose(&check, checker)
            })
    }

    fn has_flight(&self, check: &Check, reach: Bitboard, without_king: Bitboard) -> bool {
        attacks::king(self.king).without(check.defenders).without(reach).any(|flight| {
            (self.position.attackers_to(flight, without_king, self.us) & check.own).is_empty()
        })
    }

    /// The checking piece, `None` in double check.
    fn single_checker(&self, check: &Check) -> Option<Square> {
        let direct = attacks::of(self.us, check.kind, check.to, check.occupied).contains(self.king);
        let lines = if check.from.is_some() {
            self.position.sliders_to(self.king, check.occupied, self.us) & check.own
        } else {
            Bitboard::EMPTY
        };
        match (direct, lines.first()) {
            (true, None) => Some(check.to),
            (false, line) if !lines.has_many() => line,
            _ => None,
        }
    }

    fn can_capture(&self, check: &Check, checker: Square) -> bool {
        let capturers = self.position.attackers_to(checker, check.occupied, !self.us);
        self.any_may_leave(check, capturers, checker)
    }

    fn can_interpose(&self, check: &Check, checker: Square) -> bool {
        let between = attacks::between(self.king, checker);
        between.has_any()
            && (self.can_drop_on(between, check)
                || between.into_iter().any(|square| {
                    let movers = self.position.attackers_to(square, check.occupied, !self.us);
                    self.any_may_leave(check, movers, square)
                }))
    }

    /// Whether one of the defenders can go to `to` without exposing the king.
    fn any_may_leave(&self, check: &Check, movers: Bitboard, to: Square) -> bool {
        (movers & check.defenders).without(Bitboard::from_square(self.king)).any(|mover| {
            let occupied = check.occupied.without(Bitboard::from_square(mover)).with(to);
            let taken = Bitboard::from_square(to);
            let lines = self.position.sliders_to(self.king, occupied, self.us);
            let moved_piece_attacks = to != check.to
                && attacks::of(self.us, check.kind, check.to, occupied).contains(self.king);
            (lines & check.own).without(taken).is_empty() && !moved_piece_attacks
        })
    }

    fn can_drop_on(&self, between: Bitboard, check: &Check) -> bool {
        let them = !self.us;
        let hand = self.position.hand(them);
        let pawns = self.position.kind(PieceKind::Pawn) & check.defenders;
        HandKind::ALL.into_iter().filter(|&kind| hand.has(kind)).any(|kind| {
            let dead = Bitboard::far_ranks(them, kind.piece_kind().dead_ranks());
            let mut squares = between.without(dead);
            if kind == HandKind::Pawn {
                squares = squares.without(pawns.fill_files());
            }
            squares.has_any()
        })
    }
}
