//! First proof and disproof numbers: what a look at a move says about the work behind it.
//!
//! Counting the answers to a check and the checks after an evasion on bitboards tells the search one ply
//! earlier what it would find; `docs/search.md` has the figures. Nothing here need be exact.

use super::super::attacks;
use super::super::bitboard::Bitboard;
use super::super::mate_one::{Answers, Siege};
use super::super::moves::Move;
use super::super::piece::{HandKind, PieceKind};
use super::super::square::Square;
use super::Mate;
use crate::game::Candidate;

/// Six of forty checks by a rook in hand say as much as all.
const MOST_DROPS_THAT_MATTER: u32 = 6;

impl Mate {
    /// Proof numbers of checks by the answers there are; a check that leaves none is returned.
    pub(super) fn weigh_checks(&self, moves: &mut [Candidate<Move>]) -> Option<Move> {
        let siege = Siege::new(&self.position)?;
        for candidate in moves {
            match siege.answers(candidate.m) {
                Answers::None => return Some(candidate.m),
                Answers::Some(count) => candidate.proof_number = count,
            }
        }
        None
    }

    /// Disproof numbers of evasions by the checks that may follow.
    pub(super) fn weigh_evasions(&self, moves: &mut [Candidate<Move>]) {
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
    /// pieces: the drops that check, as far as they matter, and three for each piece that can check.
    fn checks_against(&self, king: Square, occupied: Bitboard, own: Bitboard) -> u32 {
        let drops = self.dropped_checks(king, occupied).min(MOST_DROPS_THAT_MATTER);
        let movers = self.checking_steppers(king, own) + self.checking_sliders(king, occupied, own);
        match drops + 3 * movers {
            // Most likely refuted at once: to be looked at first.
            0 => 1,
            checks => checks + 1,
        }
    }

    fn dropped_checks(&self, king: Square, occupied: Bitboard) -> u32 {
        let (us, them) = (self.attacker, !self.attacker);
        let hand = self.position.hand(us);
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
        let count = |plain, promoted, lines: fn(Square, Bitboard) -> Bitboard| {
            let from_king = lines(king, occupied);
            let checks = |from: &Square| {
                let is_promoted = of(promoted).contains(*from);
                let steps = if is_promoted { attacks::king(*from) } else { Bitboard::EMPTY };
                // Promoted, or once promoted, it also checks as a king would.
                let near = if is_promoted || zone.contains(*from) { around } else { around & zone };
                let reach = (lines(*from, occupied) | steps).without(own);
                (reach & (from_king | near)).has_any()
            };
            (of(plain) | of(promoted)).filter(checks).count() as u32
        };
        let golden = attacks::gold(them, king) & zone;
        let targets = attacks::lance(them, king, occupied) | golden;
        let lance_checks =
            |&from: &Square| (attacks::lance(us, from, occupied).without(own) & targets).has_any();
        count(PieceKind::Bishop, PieceKind::Horse, attacks::bishop)
            + count(PieceKind::Rook, PieceKind::Dragon, attacks::rook)
            + of(PieceKind::Lance).filter(lance_checks).count() as u32
    }
}
