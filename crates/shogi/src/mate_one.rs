//! Mate in one move, decided on bitboards without making moves.
//!
//! For each check, with the occupancy after it, this tests whether the king has a flight, whether the checker can be
//! captured and whether a piece can be interposed. The result is a mating move if there is one. One case is missed:
//! mates where the only possible interposition is a pawn drop that would itself be drop-pawn mate.

use super::attacks;
use super::bitboard::Bitboard;
use super::check_squares::CheckSquares;
use super::cover::AttackMap;
use super::move_set::Flow;
use super::moves::Move;
use super::piece::{Color, HandKind, Piece, PieceKind};
use super::position::Position;
use super::square::Square;

impl Position {
    /// A legal move that mates at once, if there is one. Misses mates where the only possible interposition is a pawn
    /// drop that would itself be drop-pawn mate.
    ///
    /// ```
    /// use kyokumen_shogi::Position;
    /// let position: Position = "4k4/9/4G4/9/9/9/9/9/9 b G2r2b2g4s4n4l18p 1".parse().unwrap();
    /// assert_eq!(position.mate_in_one().unwrap().to_string(), "G*5b");
    /// ```
    pub fn mate_in_one(&self) -> Option<Move> {
        let check_squares = CheckSquares::new(self)?;
        let surroundings = KingSurroundings::new(self, &check_squares);
        let mut found = None;
        let _ = self.visit_checks_on(&check_squares, |set| {
            set.try_for_each(|m| {
                if surroundings.replies(m).is_none() {
                    found = Some(m);
                    return Flow::Break(());
                }
                Flow::Continue(())
            })
        });
        found
    }
}

/// The replies to a check.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Replies {
    /// Estimate of the replies that must be refuted, at least 1. See [`KingSurroundings::weigh`].
    pub(crate) weight: u32,
    /// The piece that can capture the checker, if any.
    pub(crate) taker: Option<Taker>,
}

/// The piece that can capture a checker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Taker {
    /// A piece other than the king that is not pinned.
    Piece,
    /// Only the king; no piece of the attacker guarded the square before the check.
    King,
}

/// Weight of a capture of the checker. A king move to a free square weighs 1. After the capture the attacker is a piece
/// short, so the reply is harder to refute.
const TAKING_THE_CHECKER: u32 = 3;

/// The opponent's king and its surroundings before a check.
pub(crate) struct KingSurroundings<'a> {
    position: &'a Position,
    us: Color,
    king: Square,
    occupied: Bitboard,
    cover: AttackMap,
    neighbours: Bitboard,
    /// Neighbouring squares without a defender.
    around: Bitboard,
    /// Neighbouring squares where the king could move now.
    open: Bitboard,
    /// Squares where the defender's pieces can move, except the king and pinned pieces.
    guarded: Bitboard,
    pinned: Bitboard,
    /// The attacker's sliders on lines through the king, however many pieces are between.
    snipers: Bitboard,
    /// The attacker's pieces that open a line to the king when they move.
    discoverers: Bitboard,
    /// Squares from where a check cannot be interposed.
    contact: Bitboard,
    /// Squares where the defender could drop a piece.
    droppable: Bitboard,
}

/// The board after a check.
struct Check {
    /// Kind of the checking piece after the move.
    kind: PieceKind,
    from: Option<Square>,
    to: Square,
    occupied: Bitboard,
    /// Squares that the piece attacks from its target, seen through the king.
    reach: Bitboard,
    /// Pieces of the checking side, except the moved one.
    own: Bitboard,
    defenders: Bitboard,
}

impl<'a> KingSurroundings<'a> {
    /// `check_squares` are those of this position.
    pub(crate) fn new(position: &'a Position, check_squares: &CheckSquares) -> Self {
        let us = position.side_to_move();
        let king = check_squares.king();
        let occupied = position.occupied();
        let cover = position.cover(us, occupied ^ Bitboard::from_square(king));
        let neighbours = attacks::king(king);
        let around = neighbours.without(position.color(!us));
        let open = around.without(cover.all);
        let CheckSquares { snipers, blockers, .. } = *check_squares;
        let free_to_move = position.color(!us).without(blockers.with(king));
        let guarded = position.attacked_by(!us, free_to_move, occupied);
        let discoverers = blockers & position.color(us);
        let contact = neighbours | attacks::knight(!us, king);
        let droppable = droppable(position, !us);
        Self {
            position,
            us,
            king,
            occupied,
            cover,
            neighbours,
            around,
            open,
            guarded,
            pinned: blockers & position.color(!us),
            snipers,
            discoverers,
            contact,
            droppable,
        }
    }

    /// The replies to a check; `None` if it is mate. Legal pawn drops never mate.
    #[inline]
    pub(crate) fn replies(&self, m: Move) -> Option<Replies> {
        let to = m.to();
        let from = m.from();
        let kind = self.position.kind_after(m);
        let target = Bitboard::from_square(to);
        let origin = from.map_or(Bitboard::EMPTY, Bitboard::from_square);
        let without_king =
            (self.occupied ^ Bitboard::from_square(self.king)).without(origin) | target;
        let reach = attacks::piece(self.us, kind, to, without_king);
        let flights = match from {
            None => self.open.without(reach),
            Some(from) => {
                // Squares that only the moved piece guarded are no longer guarded, including its target.
                let kind = self.position.piece_on(from).expect("a piece moves").kind;
                let left =
                    attacks::piece(self.us, kind, from, self.occupied).without(self.cover.twice);
                (self.open | (left & (self.around | (target & self.neighbours)))).without(reach)
            }
        };
        // Along an opened line the attacker may cover flights, give check, or pin a piece.
        let opens_line = from.is_some_and(|from| self.cover.lines.contains(from));
        let opens_king_line = from.is_some_and(|from| self.opens_king_line(from));
        let may_be_mate =
            opens_king_line || (flights.is_empty() || opens_line) && !self.guarded.contains(to);
        if may_be_mate
            && m.dropped() != Some(HandKind::Pawn)
            && self.is_mate(m, reach, flights, opens_king_line)
        {
            return None;
        }
        Some(self.weigh(m, reach, flights))
    }

    /// Whether a piece that leaves this square may open a line of the attacker to the king, perhaps to a piece that is
    /// then pinned.
    #[inline]
    fn opens_king_line(&self, from: Square) -> bool {
        (attacks::ray_through(self.king, from) & self.snipers).has_any()
    }

    /// Estimates the first proof number of a check: 1 for each flight, 1 for each square where a piece can interpose, 1
    /// for each square where a supported piece can be dropped, 1 for all other drops together, and more for a capture
    /// of the checker. In double check only the flights count.
    #[inline]
    fn weigh(&self, m: Move, reach: Bitboard, flights: Bitboard) -> Replies {
        match m.from() {
            Some(from) if self.discoverers.contains(from) => {
                self.weigh_opening(from, m, reach, flights)
            }
            _ => self.weigh_single(m.to(), flights),
        }
    }

    /// Like [`Self::weigh_single`], for a piece that may open a line to the king when it moves.
    #[cold]
    fn weigh_opening(&self, from: Square, m: Move, reach: Bitboard, flights: Bitboard) -> Replies {
        let to = m.to();
        let checker =
            self.single_checker(&self.check(self.position.kind_after(m), Some(from), to, reach));
        if checker == Some(to) {
            return self.weigh_single(to, flights);
        }
        let flights = flights.without(attacks::ray_through(self.king, from));
        match checker {
            Some(slider) => self.weigh_single(slider, flights),
            None => Replies {
                weight: self.weight_of_flights(to, flights).max(1),
                taker: self.open.contains(to).then_some(Taker::King),
            },
        }
    }

    /// The weight of the replies to a check by one piece.
    #[inline(always)]
    fn weigh_single(&self, checker: Square, flights: Bitboard) -> Replies {
        let taker = if self.guarded.contains(checker) {
            Some(Taker::Piece)
        } else {
            self.open.contains(checker).then_some(Taker::King)
        };
        let takes = if taker == Some(Taker::Piece) { TAKING_THE_CHECKER } else { 0 };
        let mut weight = self.weight_of_flights(checker, flights) + takes;
        if !self.contact.contains(checker) {
            weight += self.weight_of_interpositions(attacks::between(self.king, checker));
        }
        Replies { weight: weight.max(1), taker }
    }

    #[inline]
    fn weight_of_flights(&self, checker: Square, flights: Bitboard) -> u32 {
        let more = if flights.contains(checker) { TAKING_THE_CHECKER - 1 } else { 0 };
        flights.count_near(self.king) + more
    }

    #[inline]
    fn weight_of_interpositions(&self, between: Bitboard) -> u32 {
        let drops = self.droppable & between;
        let supported = self.guarded | self.neighbours;
        (self.guarded & between).count()
            + (drops & supported).count()
            + u32::from(drops.without(supported).has_any())
    }

    /// The board after a check. `reach` are the squares it attacks, seen through the king.
    fn check(&self, kind: PieceKind, from: Option<Square>, to: Square, reach: Bitboard) -> Check {
        let target = Bitboard::from_square(to);
        let origin = from.map_or(Bitboard::EMPTY, Bitboard::from_square);
        Check {
            kind,
            from,
            to,
            occupied: self.occupied.without(origin) | target,
            reach,
            own: self.position.color(self.us).without(origin),
            defenders: self.position.color(!self.us).without(target),
        }
    }

    /// Whether a check is mate. `reach` are the squares it attacks, seen through the king, and `flights` are those that
    /// [`Self::replies`] has found. If it opens no line to the king, its square is not guarded.
    #[cold]
    #[inline(never)]
    fn is_mate(&self, m: Move, reach: Bitboard, flights: Bitboard, opens_king_line: bool) -> bool {
        let (from, to) = (m.from(), m.to());
        let check = &self.check(self.position.kind_after(m), from, to, reach);
        if (flights.has_any() || self.may_miss_flights(from, to)) && self.has_flight(check) {
            return false;
        }
        let checker = if opens_king_line { self.single_checker(check) } else { Some(to) };
        let Some(checker) = checker else { return true };
        let may_be_captured = opens_king_line || self.may_miss_captures(from);
        !(may_be_captured && self.can_capture(check, checker) || self.can_interpose(check, checker))
    }

    /// Whether there may be more flights than [`Self::replies`] finds: if the check closes a line, or if the moved
    /// piece is a horse or dragon, which [`AttackMap::twice`] counts as two pieces.
    fn may_miss_flights(&self, from: Option<Square>, to: Square) -> bool {
        let closes_line = self.cover.lines.without(self.occupied).contains(to);
        match from.and_then(|from| self.position.piece_on(from)) {
            None => closes_line,
            Some(Piece { kind: PieceKind::Horse | PieceKind::Dragon, .. }) => true,
            // The moved piece attacked its target itself.
            Some(_) => closes_line && self.cover.twice.contains(to),
        }
    }

    /// Whether a piece may capture the checker although its square is not guarded: a pinned piece along its line, or a
    /// slider behind the moved piece.
    fn may_miss_captures(&self, from: Option<Square>) -> bool {
        self.pinned.has_any() || from.is_some_and(|from| self.guarded.contains(from))
    }

    fn has_flight(&self, check: &Check) -> bool {
        let without_king = check.occupied ^ Bitboard::from_square(self.king);
        let mut flights = attacks::king(self.king).without(check.defenders | check.reach);
        flights.any(|flight| {
            (self.position.attackers_to(flight, without_king, self.us) & check.own).is_empty()
        })
    }

    /// The checking piece; `None` in double check.
    fn single_checker(&self, check: &Check) -> Option<Square> {
        let direct =
            attacks::piece(self.us, check.kind, check.to, check.occupied).contains(self.king);
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
        self.any_can_move_to(check, capturers, checker)
    }

    fn can_interpose(&self, check: &Check, checker: Square) -> bool {
        let between = attacks::between(self.king, checker);
        between.has_any()
            && (self.can_drop_on(between, check)
                || between.into_iter().any(|square| {
                    let movers = self.position.attackers_to(square, check.occupied, !self.us);
                    self.any_can_move_to(check, movers, square)
                }))
    }

    /// Whether one of the defenders can move to `to` without exposing the king.
    fn any_can_move_to(&self, check: &Check, movers: Bitboard, to: Square) -> bool {
        (movers & check.defenders).without(Bitboard::from_square(self.king)).any(|mover| {
            let occupied = check.occupied.without(Bitboard::from_square(mover)).with(to);
            let taken = Bitboard::from_square(to);
            let lines = self.position.sliders_to(self.king, occupied, self.us);
            let moved_piece_attacks = to != check.to
                && attacks::piece(self.us, check.kind, check.to, occupied).contains(self.king);
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

/// Squares where `color` could drop a piece.
fn droppable(position: &Position, color: Color) -> Bitboard {
    let free = !position.occupied();
    let hand = position.hand(color);
    let mut squares = Bitboard::EMPTY;
    // A silver or better can be dropped on every free square.
    for kind in HandKind::ALL.into_iter().rev() {
        if squares == free {
            break;
        }
        if hand.has(kind) {
            squares |= position.drop_squares(color, kind);
        }
    }
    squares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_are_weighed_by_their_replies() {
        let replies = |sfen: &str, m: &str| {
            let position: Position = sfen.parse().unwrap();
            KingSurroundings::new(&position, &CheckSquares::new(&position).unwrap())
                .replies(Move::from_usi(m).unwrap())
        };
        let by_piece = Some(Taker::Piece);
        let by_king = Some(Taker::King);
        for (sfen, m, weight, taker) in [
            // Four flights.
            ("4k4/9/9/9/9/9/9/9/9 b R 1", "R*5e", 4, None),
            // Three squares for interposing drops: the king supports one of them, and the others share a weight. With a
            // pawn on the file no second pawn may be dropped.
            ("4k4/9/9/9/9/9/9/9/9 b Rp 1", "R*5e", 4 + 1 + 1, None),
            ("4k4/9/9/9/9/9/4p4/9/9 b Rp 1", "R*5e", 4, None),
            // A gold captures the rook or interposes.
            ("4k4/9/9/5g3/9/9/9/9/9 b R 1", "R*5e", 4 + TAKING_THE_CHECKER + 1, by_piece),
            // A pinned gold cannot, and it blocks a flight.
            ("4k4/3g5/9/1B7/9/9/9/9/9 b R 1", "R*5e", 3, None),
            // Only the king can capture the gold.
            ("4k4/9/9/9/9/9/9/9/9 b G 1", "G*5b", TAKING_THE_CHECKER, by_king),
            // The gold itself guarded its target before the move, so there is no taker.
            ("4k4/9/4G4/9/9/9/9/9/9 b - 1", "5c5b", TAKING_THE_CHECKER, None),
            // In double check the king must move: distant captures and drops do not count.
            ("4k4/9/4N4/9/4R4/9/9/9/9 b p 1", "5c4a+", 2 + TAKING_THE_CHECKER, None),
        ] {
            assert_eq!(replies(sfen, m), Some(Replies { weight, taker }), "{sfen} {m}");
        }
    }
}
