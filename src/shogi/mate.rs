//! Mate by unbroken checks, as an AND/OR game.
//!
//! OR nodes: the attacker gives check. AND nodes: the defender gets out of it, or is mated. Proof and
//! disproof hands follow Nagai (2002) with the correction that a position in which the defender could
//! interpose a piece inherits no proof from one in which he has none (cshogi issue 54).

use std::num::NonZeroU16;

use crate::game::{self, Candidate, Expansion, Game, Moves, NodeKind, Outcome};

use super::attacks;
use super::hand::Hand;
use super::bitboard::Bitboard;
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

    /// Appends the checks; with `look_for_mate`, stops at a mating one and returns it.
    fn push_checks(&self, look_for_mate: bool, moves: &mut Vec<Candidate<Move>>) -> Option<Move> {
        let mut mating = None;
        let mut tester = MateTester::new(&self.position);
        let zone = Bitboard::far_ranks(self.attacker, 3);
        let _ = self.position.visit_checks(|set| {
            let mut push = |m, delayed| match tester.answers(m) {
                Answers::None if look_for_mate => {
                    mating = Some(m);
                    Flow::Break(())
                }
                Answers::None => {
                    moves.push(Candidate { delayed, ..Candidate::new(m) });
                    Flow::Continue(())
                }
                Answers::Some(proof_number) => {
                    moves.push(Candidate { delayed, proof_number, ..Candidate::new(m) });
                    Flow::Continue(())
                }
            };
            match set {
                // A pawn, bishop or rook that could promote and does not is tried after its promotion.
                MoveSet::Piece { kind, from, to, promotion: true } if yields(kind) => {
                    let dead = self.dead_ranks(kind);
                    for to in to {
                        push(Move::new(from, to, true), false)?;
                        let plain = Move::new(from, to, false);
                        if !dead.contains(to) && self.position.gives_check(plain) {
                            push(plain, true)?;
                        }
                    }
                    Flow::Continue(())
                }
                MoveSet::Piece { kind, from, to, promotion: false } if yields(kind) => {
                    if zone.contains(from) {
                        return Flow::Continue(());
                    }
                    let mut squares = to.without(zone);
                    squares.try_for_each(|to| push(Move::new(from, to, false), false))
                }
                _ => set.try_for_each(|m| push(m, false)),
            }
        });
        mating
    }

    fn dead_ranks(&self, kind: PieceKind) -> Bitboard {
        Bitboard::far_ranks(self.attacker, kind.dead_ranks())
    }

    fn push_evasions(&self, moves: &mut Vec<Candidate<Move>>) {
        let position = &self.position;
        let us = position.side_to_move();
        let mut drops = [None; HandKind::COUNT];
        let mut staying = None;
        let Some(king) = position.king(us) else { return };
        let mut disproof_of_staying = || {
            let own = position.color(self.attacker).without(position.checkers());
            *staying.get_or_insert_with(|| self.checks_against(king, position.occupied(), own))
        };
        let _ = position.visit_evasions(|set| {
            match set {
                MoveSet::Piece { kind: PieceKind::King, from, to, .. } => {
                    let left = position.occupied() ^ Bitboard::from_square(from);
                    for to in to {
                        let own = position.color(self.attacker).without(Bitboard::from_square(to));
                        let disproof_number = self.checks_against(to, left, own);
                        let m = Move::new(from, to, false);
                        moves.push(Candidate { disproof_number, ..Candidate::new(m) });
                    }
                }
                MoveSet::Drops { kind, to } => drops[kind.index()] = Some(to),
                _ => set.for_each(|m| {
                    let disproof_number = disproof_of_staying();
                    moves.push(Candidate { disproof_number, ..Candidate::new(m) });
                }),
            }
            Flow::Continue(())
        });
        let squares = drops.iter().flatten().fold(Bitboard::EMPTY, |all, &to| all | to);
        for to in squares {
            let mut delayed = false;
            for kind in HandKind::ALL {
                if drops[kind.index()].is_some_and(|squares| squares.contains(to)) {
                    let disproof_number = disproof_of_staying();
                    let m = Move::drop(kind, to);
                    moves.push(Candidate { delayed, disproof_number, ..Candidate::new(m) });
                    delayed = true;
                }
            }
        }
    }

    /// First disproof number of a position with the defender's king on `king`: about the number of
    /// checks there, and two more if there are any.
    fn checks_against(&self, king: Square, occupied: Bitboard, own: Bitboard) -> u32 {
        let (us, them) = (self.attacker, !self.attacker);
        let position = &self.position;
        let hand = self.hand();
        let free = !occupied;
        let mut checks = 0;
        if hand.has(HandKind::Pawn) {
            let front = attacks::pawn(them, king) & free;
            checks += front.without(position.pawn_files(us)).count();
        }
        if hand.has(HandKind::Knight) {
            checks += (attacks::knight(them, king) & free).count();
        }
        if hand.has(HandKind::Silver) {
            checks += (attacks::silver(them, king) & free).count();
        }
        if hand.has(HandKind::Gold) {
            checks += (attacks::gold(them, king) & free).count();
        }
        if hand.has(HandKind::Bishop) {
            checks += (attacks::bishop(king, occupied) & free).count();
        }
        if hand.has(HandKind::Rook) {
            checks += (attacks::rook(king, occupied) & free).count();
        }
        if hand.has(HandKind::Lance) {
            checks += (attacks::lance(them, king, occupied) & free).count();
        }
        let near = |kind| attacks::check_origins(us, kind, king);
        let kind = |kind| position.kind(kind);
        let movers = (kind(PieceKind::Pawn) & near(PieceKind::Pawn))
            | (kind(PieceKind::Knight) & near(PieceKind::Knight))
            | (kind(PieceKind::Silver) & near(PieceKind::Silver))
            | (position.golds(us) & near(PieceKind::Gold))
            | kind(PieceKind::Bishop)
            | kind(PieceKind::Rook)
            | kind(PieceKind::Horse)
            | kind(PieceKind::Dragon)
            | kind(PieceKind::Lance);
        checks += (movers & own).count();
        if checks == 0 { 1 } else { checks + 2 }
    }
}

/// Kinds whose promotion attacks all they attack themselves: staying as they are matters only where
/// a drop-pawn mate would be illegal.
const fn yields(kind: PieceKind) -> bool {
    matches!(kind, PieceKind::Pawn | PieceKind::Bishop | PieceKind::Rook)
}

impl Game for Mate {
    type Move = Move;
    type Hand = Hand;
    type Undo = Undo;

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

    fn expand(&self, look_for_goal: bool, moves: &mut Vec<Candidate<Move>>) -> Expansion<Move> {
        let end = if self.attacks_next() {
            if let Some(m) = self.push_checks(look_for_goal, moves) {
                return Expansion::Goal(m);
            }
            Outcome::Missed
        } else {
            self.push_evasions(moves);
            Outcome::Reached
        };
        self.estimate(moves);
        if moves.is_empty() { Expansion::Over(end) } else { Expansion::Moves }
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

pub static KNOBS: [std::sync::atomic::AtomicU32; 16] = [const { std::sync::atomic::AtomicU32::new(0) }; 16];
pub fn knob(i: usize) -> u32 { KNOBS[i].load(std::sync::atomic::Ordering::Relaxed) }
impl Mate {
    fn estimate(&self, moves: &mut Vec<Candidate<Move>>) {
        if knob(0) == 0 && knob(1) == 0 { return }
        let mut child = self.clone();
        let attack = self.attacks_next();
        for c in moves.iter_mut() {
            let undo = child.position.make(c.m);
            let mut list = Vec::new();
            if attack {
                if knob(0) > 0 {
                    child.push_evasions(&mut list);
                    let n = list.iter().filter(|c| !c.delayed).count() as u32;
                    c.proof_number = n.max(1);
                }
            } else if knob(1) > 0 {
                let _ = child.push_checks(false, &mut list);
                let n = list.iter().filter(|c| !c.delayed).count() as u32;
                let e = c.disproof_number;
                c.disproof_number = match knob(1) { 1 => if n == 0 { 1 } else { n + 2 }, 2 => if n == 0 { 1 } else { e.max(3) }, _ => e };
            }
            child.position.unmake(c.m, undo);
        }
    }
}
