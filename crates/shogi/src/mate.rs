//! Mate by continuous checks, as an AND/OR game.
//!
//! At OR nodes the attacker gives check. At AND nodes the defender escapes or is mated. Proof and disproof hands follow
//! Nagai (2002) with one correction: a proof found where the defender lacks a kind of piece is not used where the
//! defender holds this kind and could interpose it (cshogi issue 54).

mod first_numbers;

use std::num::NonZeroU16;

use kyokumen_game::{Candidate, Expansion, Game, Moves, NodeKind, Outcome};

use super::bitboard::Bitboard;
use super::check_squares::CheckSquares;
use super::hand::Hand;
use super::mate_one::KingSurroundings;
use super::move_set::{Flow, MoveSet};
use super::moves::Move;
use super::piece::{Color, HandKind, PieceKind};
use super::position::{Position, Undo};
use super::square::Square;
use super::{attacks, plain};

impl kyokumen_game::Hand for Hand {
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

    fn from_bits(bits: u32) -> Self {
        Self::from_bits(bits)
    }
}

/// The question whether one side mates the other by continuous checks.
#[derive(Clone, Debug)]
pub struct Mate {
    position: Position,
    attacker: Color,
}

impl Mate {
    /// The game in which the side to move attacks.
    pub const fn by_side_to_move(position: Position) -> Self {
        let attacker = position.side_to_move();
        Self { position, attacker }
    }

    /// The game in which the side to move defends. It need not be in check.
    pub const fn against_side_to_move(position: Position) -> Self {
        let attacker = position.side_to_move().opponent();
        Self { position, attacker }
    }

    /// The current position.
    pub const fn position(&self) -> &Position {
        &self.position
    }

    fn defender_hand(&self) -> Hand {
        self.position.hand(!self.attacker)
    }

    fn attacks_next(&self) -> bool {
        self.position.side_to_move() == self.attacker
    }

    /// Appends the checks. Where a bishop or rook can promote, its move without promotion is delayed until the
    /// promotion is solved. The generator yields pawns that are pinned or may open a line to the king one by one, and
    /// their moves are delayed in the same way. It yields all other pawns together, first the promotions, then the
    /// non-promotions. These are not delayed. Most drops on a line are delayed, too: see [`push_drops_on_lines`].
    ///
    /// `visit` gets the checks of each set of the generator and may stop the generation.
    fn push_checks(
        &self,
        check_squares: &CheckSquares,
        moves: &mut Vec<Candidate<Move>>,
        mut visit: impl FnMut(&mut [Candidate<Move>]) -> Flow,
    ) {
        let zone = Bitboard::far_ranks(self.attacker, 3);
        let _ = self.position.visit_checks_on(check_squares, |set| {
            let first = moves.len();
            match set {
                MoveSet::Piece { kind, from, to, promotion: true } if promotion_dominates(kind) => {
                    let plain =
                        check_squares.targets_from(kind, from).without(self.dead_ranks(kind));
                    for to in to {
                        moves.push(Candidate::new(Move::new(from, to, true)));
                        if plain.contains(to) {
                            let plain = Candidate::new(Move::new(from, to, false));
                            moves.push(Candidate { delayed: true, ..plain });
                        }
                    }
                }
                MoveSet::Piece { kind, from, to, promotion: false }
                    if promotion_dominates(kind) =>
                {
                    if !zone.contains(from) {
                        for to in to.without(zone) {
                            moves.push(Candidate::new(Move::new(from, to, false)));
                        }
                    }
                }
                MoveSet::Drops {
                    kind: kind @ (HandKind::Lance | HandKind::Bishop | HandKind::Rook),
                    to,
                } => {
                    push_drops_on_lines(check_squares.king(), kind, to, moves);
                }
                _ => set.for_each(|m| moves.push(Candidate::new(m))),
            }
            visit(&mut moves[first..])
        });
    }

    fn dead_ranks(&self, kind: PieceKind) -> Bitboard {
        Bitboard::far_ranks(self.attacker, kind.dead_ranks())
    }

    /// Appends the evasions. Drops on one square differ little by kind, so each waits for the one before it. All drops
    /// on unsupported squares wait for the one before them, too.
    fn push_evasions(&self, moves: &mut Vec<Candidate<Move>>) {
        let first = moves.len();
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
        let Some((king, between)) = self.interposing_squares() else {
            push_drops(droppable, &drops, moves);
            return;
        };
        delay_steps(king, between, &mut moves[first..]);
        let supported = |&to: &Square| {
            let position = &self.position;
            position.attackers_to(to, position.occupied(), position.side_to_move()).has_any()
        };
        let supported: Bitboard = droppable.into_iter().filter(supported).collect();
        push_drops(supported, &drops, moves);
        let first = moves.len();
        push_drops(droppable.without(supported), &drops, moves);
        for candidate in moves.iter_mut().skip(first + 1) {
            candidate.delayed = true;
        }
    }

    /// The king in check, and the squares between it and a single checker.
    fn interposing_squares(&self) -> Option<(Square, Bitboard)> {
        let king = self.position.king(!self.attacker)?;
        let checkers = self.position.checkers();
        let between = attacks::between(king, checkers.first()?);
        (!checkers.has_many() && between.has_any()).then_some((king, between))
    }
}

/// Appends checks by drops of one kind along lines, on each line the nearest to the king first. Drops on one line
/// differ little, except for the one next to the king. That one and the next two are not delayed; each other drop waits
/// for the one before it.
fn push_drops_on_lines(
    king: Square,
    kind: HandKind,
    to: Bitboard,
    moves: &mut Vec<Candidate<Move>>,
) {
    let adjacent = attacks::king(king);
    let mut left = to;
    while let Some(square) = left.first() {
        let line = attacks::ray_through(king, square);
        let first = moves.len();
        moves.extend((left & line).into_iter().map(|to| Candidate::new(Move::drop(kind, to))));
        let drops = &mut moves[first..];
        if square < king {
            drops.reverse();
        }
        let distant = drops.iter_mut().filter(|drop| !adjacent.contains(drop.m.to()));
        for drop in distant.skip(DISTANT_DROPS_NOT_DELAYED) {
            drop.delayed = true;
        }
        left = left.without(line);
    }
}

/// Number of drops on a line, not adjacent to the king, that are not delayed.
const DISTANT_DROPS_NOT_DELAYED: usize = 2;

/// Appends drops on each of these squares, by kind. On one square each waits for the one before it.
fn push_drops(
    squares: Bitboard,
    drops: &[Bitboard; HandKind::COUNT],
    moves: &mut Vec<Candidate<Move>>,
) {
    for to in squares {
        let mut delayed = false;
        for kind in HandKind::ALL {
            if drops[kind.index()].contains(to) {
                moves.push(Candidate { delayed, ..Candidate::new(Move::drop(kind, to)) });
                delayed = true;
            }
        }
    }
}

/// Moves the interpositions by pieces on the board to the end and orders them by square. On one square each waits for
/// the one before it.
fn delay_steps(king: Square, between: Bitboard, evasions: &mut [Candidate<Move>]) {
    let square = |m: Move| (between.contains(m.to()) && m.from() != Some(king)).then(|| m.to());
    evasions.sort_by_key(|evasion| square(evasion.m));
    let mut before = None;
    for evasion in evasions {
        let to = square(evasion.m);
        evasion.delayed = to.is_some() && to == before;
        before = to;
    }
}

/// Whether the promoted piece attacks every square that the unpromoted piece attacks. A non-promotion is then better
/// only if the promotion would lead to an illegal drop-pawn mate.
const fn promotion_dominates(kind: PieceKind) -> bool {
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

    #[inline]
    fn board_key_after(&self, m: Move) -> u64 {
        self.position.board_key_after(m)
    }

    #[inline]
    fn hand_after(&self, m: Move) -> Hand {
        if self.attacks_next() { self.position.hand_after(m) } else { self.hand() }
    }

    #[inline]
    fn make(&mut self, m: Move) -> Undo {
        self.position.make(m)
    }

    #[inline]
    fn unmake(&mut self, m: Move, undo: Undo) {
        self.position.unmake(m, undo);
    }

    fn code(m: Move) -> NonZeroU16 {
        m.code()
    }

    fn expand(&self, moves: &mut Vec<Candidate<Move>>) -> Expansion {
        let end = if self.attacks_next() {
            if let Some(check_squares) = CheckSquares::new(&self.position) {
                self.push_checks(&check_squares, moves, |_| Flow::Continue(()));
            }
            Outcome::Missed
        } else {
            self.push_evasions(moves);
            Outcome::Reached
        };
        if moves.is_empty() { Expansion::Over(end) } else { Expansion::Moves }
    }

    fn set_first_numbers(&self, moves: &mut [Candidate<Move>]) -> Option<Move> {
        if self.attacks_next() {
            self.set_numbers_of_checks(moves)
        } else {
            self.set_numbers_of_evasions(moves);
            None
        }
    }

    fn expand_with_numbers(&self, moves: &mut Vec<Candidate<Move>>) -> Result<Expansion, Move> {
        if !self.attacks_next() {
            let expansion = self.expand(moves);
            if expansion == Expansion::Moves {
                self.set_numbers_of_evasions(moves);
            }
            return Ok(expansion);
        }
        let mut mate = None;
        if let Some(check_squares) = &CheckSquares::new(&self.position) {
            let mut surroundings = None;
            self.push_checks(check_squares, moves, |checks| {
                let surroundings = surroundings
                    .get_or_insert_with(|| KingSurroundings::new(&self.position, check_squares));
                mate = self.weigh(surroundings, checks);
                if mate.is_some() { Flow::Break(()) } else { Flow::Continue(()) }
            });
        }
        match mate {
            Some(m) => Err(m),
            None if moves.is_empty() => Ok(Expansion::Over(Outcome::Missed)),
            None => Ok(Expansion::Moves),
        }
    }

    fn plain_moves(&mut self) -> Moves<Move> {
        let (moves, end) = if self.attacks_next() {
            (plain::legal_checks(&self.position), Outcome::Missed)
        } else {
            (plain::legal_moves(&self.position), Outcome::Reached)
        };
        if moves.is_empty() { Moves::Over(end) } else { Moves::Some(moves) }
    }

    fn plain_move(&mut self, code: u16) -> Option<Move> {
        if self.attacks_next() {
            plain::legal_check(&self.position, code)
        } else {
            plain::legal_move(&self.position, code)
        }
    }

    fn plain_goal_move(&mut self, code: u16) -> Option<Move> {
        plain::legal_mate(&self.position, code)
    }

    fn set_hand(&mut self, hand: Hand) {
        self.position.share_hands(self.attacker, hand);
    }

    fn proof_hand_of_goal(&self) -> Hand {
        self.proof_hand_of_defence(Hand::EMPTY)
    }

    /// If the check can be blocked, the proof must not apply where the defender holds a kind of piece that the defender
    /// lacks here and could drop in between. So the proof hand contains all the attacker's pieces of such kinds.
    fn proof_hand_of_defence(&self, children: Hand) -> Hand {
        let (position, defender) = (&self.position, !self.attacker);
        let Some((_, between)) = self.interposing_squares() else { return children };
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

    /// Captures of a piece dropped as an interposition, if the capturing piece is then the only checker. Its line to
    /// the king is shorter than the blocked one, so fewer interpositions remain.
    fn futile_replies(&self, m: Move) -> Vec<Move> {
        if !m.is_drop() || !self.position.in_check() {
            return Vec::new();
        }
        let mut interposed = self.position.clone();
        interposed.make(m);
        let mut replies = interposed.checks();
        replies.retain(|reply| reply.to() == m.to());
        replies.retain(|&reply| {
            let undo = interposed.make(reply);
            let checkers = interposed.checkers();
            interposed.unmake(reply, undo);
            checkers == Bitboard::from_square(m.to())
        });
        replies
    }

    /// Whether an interposition is futile does not depend on the kind of the dropped piece, so one drop represents all
    /// drops on its square.
    fn leave_out_futile(&self, moves: &mut Vec<Candidate<Move>>) {
        let [mut tested, mut futile] = [Bitboard::EMPTY; 2];
        moves.retain(|&Candidate { m, .. }| {
            let to = Bitboard::from_square(m.to());
            if m.is_drop() && !tested.contains(m.to()) {
                tested |= to;
                if !self.futile_replies(m).is_empty() {
                    futile |= to;
                }
            }
            !(m.is_drop() && futile.contains(m.to()))
        });
    }

    /// More pieces of a kind that the attacker holds allow no additional move here. A kind that it does not hold must
    /// remain absent if its drop could give check.
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

    /// The defender must hold the piece that it drops, so the attacker cannot hold it. And the attacker cannot hold
    /// more than both hands contain.
    fn disproof_hand_of_defence(&self, m: Move, child: Hand) -> Hand {
        let mut most = self.hand().sum(self.defender_hand());
        if let Some(kind) = m.dropped() {
            most.remove(kind);
        }
        child.intersection(most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The moves of a position; delayed moves are in brackets.
    fn moves(game: &Mate) -> String {
        let mut moves = Vec::new();
        game.expand(&mut moves);
        let written = moves.iter().map(
            |&Candidate { m, delayed, .. }| {
                if delayed { format!("({m})") } else { m.to_string() }
            },
        );
        written.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn two_distant_drops_on_a_line_are_not_delayed() {
        let checks = |sfen: &str| moves(&Mate::by_side_to_move(sfen.parse().unwrap()));
        let on_file = "L*5b L*5c L*5d (L*5e) (L*5f) (L*5g) (L*5h) (L*5i)";
        assert_eq!(checks("4k4/9/9/9/9/9/9/9/9 b L 1"), on_file);
        // On each side the nearest comes first.
        let on_rank = "R*4b R*3b R*2b (R*1b) R*6b R*7b R*8b (R*9b)";
        assert_eq!(checks("4p4/4k4/4p4/9/9/9/9/9/9 b R 1"), on_rank);
    }

    #[test]
    fn similar_interpositions_are_delayed() {
        let evasions = |sfen: &str| moves(&Mate::against_side_to_move(sfen.parse().unwrap()));
        // Only the square next to the king is supported. On the other squares each drop waits for the one before it.
        let by_drops = "5a4a 5a4b 5a6a 5a6b P*5b (N*5b) P*5c (N*5c) (P*5d) (N*5d)";
        assert_eq!(evasions("4k4/9/9/9/4R4/9/9/9/9 w pn 1"), by_drops);
        // Two golds can move to the same square.
        let by_steps = "7d6c 7d6e 7d7c 7d7e 7d8c 7d8e 2c1d 2c2d 2c3d (4c3d) 4c4d 4c5d";
        assert_eq!(evasions("9/9/5g1g1/2k5R/9/9/9/9/9 w - 1"), by_steps);
    }

    #[test]
    fn only_interposed_drops_can_be_futile() {
        let replies = |sfen: &str, drop: &str| {
            let game = Mate::against_side_to_move(sfen.parse().unwrap());
            game.futile_replies(Move::from_usi(drop).unwrap())
        };
        let takes = |m: &str| vec![Move::from_usi(m).unwrap()];
        assert_eq!(replies("4k4/9/9/9/4R4/9/9/9/9 w p 1", "P*5d"), takes("5e5d"));
        // Here the gold would also capture with check, but the drop does not interpose.
        assert_eq!(replies("4k4/6G2/9/9/9/9/9/9/9 w p 1", "P*4b"), []);
    }
}
