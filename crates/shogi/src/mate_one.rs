//! Mate in one move, decided on bitboards without making moves.
//!
//! For each check it is asked, with the occupancy the check would leave, whether the king has a
//! flight, the checker can be taken, or the line can be closed. Nothing is approximated: the answer is
//! a mating move exactly if there is one.

use super::attacks;
use super::bitboard::Bitboard;
use super::cover::AttackMap;
use super::move_set::Flow;
use super::moves::Move;
use super::piece::{Color, HandKind, PieceKind};
use super::position::Position;
use super::square::Square;

impl Position {
    /// A legal move that mates at once, if there is one.
    ///
    /// ```
    /// use kyokumen_shogi::Position;
    /// let position: Position = "4k4/9/4G4/9/9/9/9/9/9 b G2r2b2g4s4n4l18p 1".parse().unwrap();
    /// assert_eq!(position.mate_in_one().unwrap().to_string(), "G*5b");
    /// ```
    pub fn mate_in_one(&self) -> Option<Move> {
        let siege = KingSurroundings::new(self)?;
        let mut found = None;
        let _ = self.visit_checks(|set| {
            set.try_for_each(|m| {
                if siege.answers(m) == CheckReplies::None {
                    found = Some(m);
                    return Flow::Break(());
                }
                Flow::Continue(())
            })
        });
        found
    }
}

/// Answers to a check.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CheckReplies {
    /// It is mate.
    None,
    /// About this many: flights of the king, plus one if the checker might be taken, plus one if
    /// something might be put in between. At least 1.
    Some(u32),
}

/// The opposing king and its surroundings before a check.
pub(crate) struct KingSurroundings<'a> {
    position: &'a Position,
    us: Color,
    king: Square,
    occupied: Bitboard,
    cover: AttackMap,
    neighbours: Bitboard,
    /// Neighbouring squares without a defender.
    around: Bitboard,
    /// Those that the king could step to now.
    open: Bitboard,
    /// What the defender attacks with everything but the king.
    guarded: Bitboard,
    /// Squares from which a check cannot be interposed.
    contact: Bitboard,
    can_drop: bool,
}

/// The board a check would leave.
struct Check {
    /// Kind on arrival.
    kind: PieceKind,
    from: Option<Square>,
    to: Square,
    occupied: Bitboard,
    /// What the piece attacks from its new place, through the king.
    reach: Bitboard,
    /// The checking side's pieces, the moved one left out.
    own: Bitboard,
    defenders: Bitboard,
}

impl<'a> KingSurroundings<'a> {
    /// `None` if the opponent has no king.
    pub(crate) fn new(position: &'a Position) -> Option<Self> {
        let us = position.side_to_move();
        let king = position.king(!us)?;
        let occupied = position.occupied();
        let cover = position.cover(us, occupied ^ Bitboard::from_square(king));
        let neighbours = attacks::king(king);
        let around = neighbours.without(position.color(!us));
        let open = around.without(cover.all);
        let others = position.color(!us).without(Bitboard::from_square(king));
        let guarded = position.attacked_by(!us, others, occupied);
        let contact = neighbours | attacks::knight(!us, king);
        let can_drop = !position.hand(!us).is_empty();
        Some(Self {
            position,
            us,
            king,
            occupied,
            cover,
            neighbours,
            around,
            open,
            guarded,
            contact,
            can_drop,
        })
    }

    /// What the defender could answer to a check. Legal pawn drops never mate.
    #[inline]
    pub(crate) fn answers(&self, m: Move) -> CheckReplies {
        let to = m.to();
        let from = m.from();
        let kind = self.position.kind_after(m);
        let target = Bitboard::from_square(to);
        let origin = from.map_or(Bitboard::EMPTY, Bitboard::from_square);
        let without_king =
            (self.occupied ^ Bitboard::from_square(self.king)).without(origin) | target;
        let reach = attacks::of(self.us, kind, to, without_king);
        let flights = match from {
            None => self.open.without(reach),
            Some(from) => {
                // What the piece that moves has guarded alone is guarded no more, its target included.
                let kind = self.position.piece_on(from).expect("a piece moves").kind;
                let left =
                    attacks::of(self.us, kind, from, self.occupied).without(self.cover.twice);
                (self.open | (left & (self.around | (target & self.neighbours)))).without(reach)
            }
        };
        // Where a line opens, there may be fewer.
        if (flights.is_empty() || (self.cover.lines & origin).has_any())
            && m.dropped() != Some(HandKind::Pawn)
            && self.is_mate(kind, from, to, reach)
        {
            return CheckReplies::None;
        }
        let mut count = flights.count_near(self.king);
        let mut squares = target;
        if !self.contact.contains(to) {
            count += u32::from(self.can_drop);
            squares |= attacks::between(self.king, to);
        }
        count += u32::from((self.guarded & squares).has_any());
        CheckReplies::Some(count.max(1))
    }

    /// Whether a check mates that attacks `reach`, seen through the king.
    #[cold]
    #[inline(never)]
    fn is_mate(&self, kind: PieceKind, from: Option<Square>, to: Square, reach: Bitboard) -> bool {
        let target = Bitboard::from_square(to);
        let origin = from.map_or(Bitboard::EMPTY, Bitboard::from_square);
        let check = &Check {
            kind,
            from,
            to,
            occupied: self.occupied.without(origin) | target,
            reach,
            own: self.position.color(self.us).without(origin),
            defenders: self.position.color(!self.us).without(target),
        };
        !self.has_flight(check)
            && self.single_checker(check).is_none_or(|checker| {
                !self.can_capture(check, checker) && !self.can_interpose(check, checker)
            })
    }

    fn has_flight(&self, check: &Check) -> bool {
        let without_king = check.occupied ^ Bitboard::from_square(self.king);
        let mut flights = attacks::king(self.king).without(check.defenders | check.reach);
        flights.any(|flight| {
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
