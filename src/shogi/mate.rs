//! Mate by unbroken checks, as an AND/OR game.
//!
//! OR nodes: the attacker gives check. AND nodes: the defender gets out of it, or is mated. Proof and
//! disproof hands follow Nagai (2002) with the correction that a position in which the defender could
//! interpose a piece inherits no proof from one in which he has none (cshogi issue 54).

use std::num::NonZeroU16;

use crate::game::{self, Candidate, Expansion, Game, Moves, NodeKind, Outcome};

use super::attacks;
use super::bitboard::Bitboard;
use super::hand::Hand;
use super::mate_one::{Answers, MateTester};
use super::movegen::{CheckSquares, Flow, MoveSet};
use super::moves::Move;
use super::piece::{Color, HandKind, PieceKind};
use super::plain;
use super::position::{Position, Undo};
use super::square::Square;

impl game::Hand for Hand {
    fn dominates(self, other: Self) -> bool {
        self.dominates(other)
    }

    fn union(self, other: Self) -> Self {
        self.union(other)
    }

    fn intersection(self, other: Self) -> Self {
        self.intersection(other)
    }

    fn bits(self) -> u32 {
        self.bits()
    }
}

/// The question whether one side mates the other by unbroken checks.
#[derive(Clone, Debug)]
pub struct Mate {
    position: Position,
    attacker: Color,
}

impl Mate {
    /// Does the side to move mate?
    pub const fn by_side_to_move(position: Position) -> Self {
        let attacker = position.side_to_move();
        Self { position, attacker }
    }

    /// Is the side to move, which is in check, being mated?
    pub const fn of_side_to_move(position: Position) -> Self {
        let attacker = position.side_to_move().opponent();
        Self { position, attacker }
    }

    /// The position as it stands.
    pub const fn position(&self) -> &Position {
        &self.position
    }

    fn defender_hand(&self) -> Hand {
        self.position.hand(!self.attacker)
    }

    fn attacks_next(&self) -> bool {
        self.position.side_to_move() == self.attacker
    }

    /// Appends the checks. A pawn, bishop or rook that could promote and does not is held back until its
    /// promotion is solved.
    fn push_checks(&self, moves: &mut Vec<Candidate<Move>>) {
        let zone = Bitboard::far_ranks(self.attacker, 3);
        let _ = self.position.visit_checks(|set| {
            match set {
                MoveSet::Piece { kind, from, to, promotion: true } if yields(kind) => {
                    let dead = self.dead_ranks(kind);
                    for to in to {
                        moves.push(Candidate::new(Move::new(from, to, true)));
                        let plain = Move::new(from, to, false);
                        if !dead.contains(to) && self.position.gives_check(plain) {
                            moves.push(Candidate { delayed: true, ..Candidate::new(plain) });
                        }
                    }
                }
                MoveSet::Piece { kind, from, to, promotion: false } if yields(kind) => {
                    if !zone.contains(from) {
                        for to in to.without(zone) {
                            moves.push(Candidate::new(Move::new(from, to, false)));
                        }
                    }
                }
                _ => set.for_each(|m| moves.push(Candidate::new(m))),
            }
            Flow::Continue(())
        });
    }

    fn dead_ranks(&self, kind: PieceKind) -> Bitboard {
        Bitboard::far_ranks(self.attacker, kind.dead_ranks())
    }

    fn push_evasions(&self, moves: &mut Vec<Candidate<Move>>) {
        let mut drops = [Bitboard::EMPTY; HandKind::COUNT];
        let mut droppable = Bitboard::EMPTY;
        let _ = self.position.visit_legal_moves(|set| {
            match set {
                MoveSet::Drops { kind, to } => {
                    drops[kind.index()] = to;
                    droppable |= to;
                }
                _ => set.for_each(|m| moves.push(Candidate::new(m))),
            }
            Flow::Continue(())
        });
        for to in droppable {
            let mut delayed = false;
            for kind in HandKind::ALL {
                if drops[kind.index()].contains(to) {
                    moves.push(Candidate { delayed, ..Candidate::new(Move::drop(kind, to)) });
                    delayed = true;
                }
            }
        }
    }

    /// Proof numbers of checks by the answers there are; a check that leaves none is returned.
    fn weigh_checks(&self, moves: &mut [Candidate<Move>]) -> Option<Move> {
        let mut tester = MateTester::new(&self.position);
        for candidate in moves {
            match tester.answers(candidate.m) {
                Answers::None => return Some(candidate.m),
                Answers::Some(count) => candidate.proof_number = count,
            }
        }
        None
    }

    /// Disproof numbers of evasions by the checks that may follow.
    fn weigh_evasions(&self, moves: &mut [Candidate<Move>]) {
        let position = &self.position;
        let Some(king) = position.king(position.side_to_move()) else { return };
        let attackers = position.color(self.attacker);
        let without_king = position.occupied() ^ Bitboard::from_square(king);
        let mut of_staying = 0;
        for candidate in moves {
            let to = candidate.m.to();
            candidate.disproof_number = if candidate.m.from() == Some(king) {
                let own = attackers.without(Bitboard::from_square(to));
                self.checks_against(to, without_king, own)
            } else {
                if of_staying == 0 {
                    let own = attackers.without(position.checkers());
                    of_staying = self.checks_against(king, position.occupied(), own);
                }
                of_staying
            };
        }
    }

    /// First disproof number of a position with the defender's king on `king`, `own` being the attacker's
    /// pieces: the drops that check, as far as they matter, and twice the pieces that can check.
    fn checks_against(&self, king: Square, occupied: Bitboard, own: Bitboard) -> u32 {
        let drops = self.dropped_checks(king, occupied).min(MOST_DROPS_THAT_MATTER);
        let movers = self.checking_steppers(king, own) + self.checking_sliders(king, occupied, own);
        match drops + 2 * movers {
            // Most likely refuted at once: to be looked at first.
            0 => 1,
            checks => checks + 1,
        }
    }

    fn dropped_checks(&self, king: Square, occupied: Bitboard) -> u32 {
        let (us, them, hand) = (self.attacker, !self.attacker, self.hand());
        let free = !occupied;
        let mut drops = 0;
        if hand.has(HandKind::Pawn) {
            let front = attacks::pawn(them, king) & free;
            drops += u32::from(front.without(self.position.pawn_files(us)).has_any());
        }
        if hand.has(HandKind::Knight) {
            drops += (attacks::knight(them, king) & free).count();
        }
        if hand.has(HandKind::Silver) {
            drops += (attacks::silver(them, king) & free).count_near(king);
        }
        if hand.has(HandKind::Gold) {
            drops += (attacks::gold(them, king) & free).count_near(king);
        }
        if hand.has(HandKind::Bishop) {
            drops += (attacks::bishop(king, occupied) & free).count();
        }
        if hand.has(HandKind::Rook) {
            drops += (attacks::rook(king, occupied) & free).count();
        }
        if hand.has(HandKind::Lance) {
            drops += (attacks::lance(them, king, occupied) & free).count();
        }
        drops
    }

    /// Steppers near enough to check with one move.
    fn checking_steppers(&self, king: Square, own: Bitboard) -> u32 {
        let near = |kind| attacks::check_origins(self.attacker, kind, king);
        let kind = |kind| self.position.kind(kind) & near(kind);
        let steppers = kind(PieceKind::Pawn)
            | kind(PieceKind::Knight)
            | kind(PieceKind::Silver)
            | (self.position.golds(self.attacker) & near(PieceKind::Gold));
        (steppers & own).count()
    }

    /// Sliders that reach a square from which they check.
    fn checking_sliders(&self, king: Square, occupied: Bitboard, own: Bitboard) -> u32 {
        let (us, them) = (self.attacker, !self.attacker);
        let of = |kind: PieceKind| self.position.kind(kind) & own;
        let zone = Bitboard::far_ranks(us, 3);
        let around = attacks::king(king);
        // Promoted, or once promoted, a bishop or rook also checks as a king would.
        let near = |from: Square, promoted: bool| {
            if promoted || zone.contains(from) { around } else { around & zone }
        };
        let mut sliders = 0;
        for from in of(PieceKind::Bishop) | of(PieceKind::Horse) {
            let promoted = of(PieceKind::Horse).contains(from);
            let steps = if promoted { attacks::king(from) } else { Bitboard::EMPTY };
            let reach = (attacks::bishop(from, occupied) | steps).without(own);
            let targets = attacks::bishop(king, occupied) | near(from, promoted);
            sliders += u32::from((reach & targets).has_any());
        }
        for from in of(PieceKind::Rook) | of(PieceKind::Dragon) {
            let promoted = of(PieceKind::Dragon).contains(from);
            let steps = if promoted { attacks::king(from) } else { Bitboard::EMPTY };
            let reach = (attacks::rook(from, occupied) | steps).without(own);
            let targets = attacks::rook(king, occupied) | near(from, promoted);
            sliders += u32::from((reach & targets).has_any());
        }
        for from in of(PieceKind::Lance) {
            let reach = attacks::lance(us, from, occupied).without(own);
            let promoted = attacks::gold(them, king) & zone;
            let targets = attacks::lance(them, king, occupied) | promoted;
            sliders += u32::from((reach & targets).has_any());
        }
        sliders
    }
}

/// Six of forty checks by a rook in hand say as much as all.
const MOST_DROPS_THAT_MATTER: u32 = 6;

/// Kinds whose promotion attacks all they attack themselves: staying as they are matters only where
/// a drop-pawn mate would be illegal.
const fn yields(kind: PieceKind) -> bool {
    matches!(kind, PieceKind::Pawn | PieceKind::Bishop | PieceKind::Rook)
}

impl Game for Mate {
    type Move = Move;
    type Hand = Hand;
    type Undo = Undo;

    const PLIES_APART: u16 = 2;

    fn node_kind(&self) -> NodeKind {
        if self.attacks_next() { NodeKind::Or } else { NodeKind::And }
    }

    fn board_key(&self) -> u64 {
        self.position.board_key()
    }

    fn hand(&self) -> Hand {
        self.position.hand(self.attacker)
    }

    fn board_key_after(&self, m: Move) -> u64 {
        self.position.board_key_after(m)
    }

    fn hand_after(&self, m: Move) -> Hand {
        if self.attacks_next() { self.position.hand_after(m) } else { self.hand() }
    }

    fn make(&mut self, m: Move) -> Undo {
        self.position.make(m)
    }

    fn unmake(&mut self, m: Move, undo: Undo) {
        self.position.unmake(m, undo);
    }

    fn code(m: Move) -> NonZeroU16 {
        m.code()
    }

    fn expand(&self, moves: &mut Vec<Candidate<Move>>) -> Expansion {
        let end = if self.attacks_next() {
            self.push_checks(moves);
            Outcome::Missed
        } else {
            self.push_evasions(moves);
            Outcome::Reached
        };
        if moves.is_empty() { Expansion::Over(end) } else { Expansion::Moves }
    }

    fn weigh(&self, moves: &mut [Candidate<Move>]) -> Option<Move> {
        if self.attacks_next() {
            self.weigh_checks(moves)
        } else {
            self.weigh_evasions(moves);
            None
        }
    }

    fn plain_moves(&mut self) -> Moves<Move> {
        let mut moves = plain::legal_moves(&self.position);
        if self.attacks_next() {
            moves.retain(|&m| {
                let undo = self.position.make(m);
                let check = plain::in_check(&self.position);
                self.position.unmake(m, undo);
                check
            });
            if moves.is_empty() { Moves::Over(Outcome::Missed) } else { Moves::Some(moves) }
        } else if moves.is_empty() {
            Moves::Over(Outcome::Reached)
        } else {
            Moves::Some(moves)
        }
    }

    fn plain_move(&mut self, code: u16) -> Option<Move> {
        let m = plain::legal_move(&self.position, code)?;
        if self.attacks_next() {
            let undo = self.position.make(m);
            let check = plain::in_check(&self.position);
            self.position.unmake(m, undo);
            return check.then_some(m);
        }
        Some(m)
    }

    fn set_hand(&mut self, hand: Hand) {
        self.position.share_hands(self.attacker, hand);
    }

    fn proof_hand_of_goal(&self) -> Hand {
        self.proof_hand_of_defence(Hand::EMPTY)
    }

    /// Where the check can be interposed, the defender must not come to hold a kind that he lacks now
    /// and could drop in between: of such a kind the attacker must hold all he has.
    fn proof_hand_of_defence(&self, children: Hand) -> Hand {
        let position = &self.position;
        let defender = !self.attacker;
        let checkers = position.checkers();
        let (Some(king), Some(checker)) = (position.king(defender), checkers.first()) else {
            return children;
        };
        let between = attacks::between(king, checker);
        if checkers.has_many() || between.is_empty() {
            return children;
        }
        let mut hand = children;
        for (kind, count) in self.hand().iter() {
            if !self.defender_hand().has(kind)
                && (between & position.drop_squares(defender, kind)).has_any()
            {
                hand = hand.with_count(kind, count);
            }
        }
        hand
    }

    fn proof_hand_of_attack(&self, m: Move, child: Hand) -> Hand {
        let mut hand = child;
        if let Some(kind) = m.dropped() {
            hand.add(kind);
        } else if let Some(kind) = self.position.captured_by(m)
            && hand.has(kind)
        {
            hand.remove(kind);
        }
        hand
    }

    fn disproof_hand_of_attack(&self, m: Move, child: Hand) -> Hand {
        self.proof_hand_of_attack(m, child)
    }

    /// Captures of a piece that was dropped in between, if the capturing piece then gives check alone: its
    /// line to the king is shorter than the one that was closed.
    fn futile_replies(&mut self, m: Move) -> Vec<Move> {
        if !m.is_drop() {
            return Vec::new();
        }
        let interposed = self.make(m);
        let mut replies = match self.plain_moves() {
            Moves::Some(replies) => replies,
            Moves::Over(_) => Vec::new(),
        };
        replies.retain(|&reply| {
            let undo = self.make(reply);
            let checkers = self.position.checkers();
            self.unmake(reply, undo);
            reply.to() == m.to() && checkers == Bitboard::from_square(m.to())
        });
        self.unmake(m, interposed);
        replies
    }

    /// More of a kind already held changes no move here; a kind not held must stay so if its drop
    /// could give check.
    fn disproof_hand_of_attacks(&self, children: Option<Hand>) -> Hand {
        let position = &self.position;
        let all = self.hand().sum(self.defender_hand());
        let mut hand = children.map_or(all, |hand| hand.intersection(all));
        let Some(checking) = CheckSquares::new(position) else { return hand };
        for kind in HandKind::ALL {
            if hand.has(kind) && !self.hand().has(kind) {
                let squares = checking.direct(kind.piece_kind());
                if (squares & position.drop_squares(self.attacker, kind)).has_any() {
                    hand = hand.with_count(kind, 0);
                }
            }
        }
        hand
    }

    /// The defender must keep the piece that refutes, and the attacker cannot hold what is not there.
    fn disproof_hand_of_defence(&self, m: Move, child: Hand) -> Hand {
        let mut most = self.hand().sum(self.defender_hand());
        if let Some(kind) = m.dropped() {
            most.remove(kind);
        }
        child.intersection(most)
    }
}
