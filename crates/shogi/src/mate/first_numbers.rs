//! First proof and disproof numbers: estimates of the work after a move.
//!
//! The replies to a check and the checks after an evasion are counted on bitboards, one ply before the search would
//! find them. `docs/search-log.md` has the measurements. The estimates need not be exact.

use super::super::attacks;
use super::super::bitboard::Bitboard;
use super::super::check_squares::CheckSquares;
use super::super::hand::Hand;
use super::super::mate_one::{KingSurroundings, Replies, Taker};
use super::super::moves::Move;
use super::super::piece::{Color, HandKind, PieceKind};
use super::super::position::Position;
use super::super::square::Square;
use super::{DISTANT_DROPS_NOT_DELAYED, Mate};
use kyokumen_game::Candidate;

/// Maximum number of drops that count. With a rook in hand, six checks of forty estimate the work as well as all.
const MOST_DROPS_THAT_MATTER: u32 = 6;

/// Drops counted for a line whose square next to the king is free: that one, and the two distant drops that are not
/// delayed.
const DROPS_ON_A_LINE: u32 = 1 + DISTANT_DROPS_NOT_DELAYED as u32;

/// Cost of an evasion that interposes a piece from the board. A capture by a piece other than the king has the negative
/// of this cost.
const COST_OF_STEPPING_BETWEEN: i8 = 1;

/// First proof number of an evasion that captures a piece. Other evasions have 1.
const CAPTURE: u32 = 2;

impl Mate {
    /// Sets proof numbers and costs of checks from the replies. Returns a check without replies, which mates.
    pub(super) fn set_numbers_of_checks(&self, moves: &mut [Candidate<Move>]) -> Option<Move> {
        let check_squares = CheckSquares::new(&self.position)?;
        self.weigh(&KingSurroundings::new(&self.position, &check_squares), moves)
    }

    /// As [`Self::set_numbers_of_checks`].
    pub(super) fn weigh(
        &self,
        surroundings: &KingSurroundings<'_>,
        moves: &mut [Candidate<Move>],
    ) -> Option<Move> {
        for candidate in moves {
            let Some(Replies { weight, taker }) = surroundings.replies(candidate.m) else {
                return Some(candidate.m);
            };
            candidate.proof_number = weight;
            candidate.cost = self.cost_of_check(candidate.m, taker);
        }
        None
    }

    /// A check that gives away a piece costs more, a check that wins a silver or better costs less.
    fn cost_of_check(&self, m: Move, taker: Option<Taker>) -> i8 {
        let given = match taker {
            None => 0,
            Some(Taker::Piece) => 1,
            Some(Taker::King) => 2,
        };
        let won = self.position.captured_by(m).is_some_and(|kind| kind >= HandKind::Silver);
        given - i8::from(won)
    }

    /// Sets disproof numbers and costs of evasions from the checks that may follow.
    pub(super) fn set_numbers_of_evasions(&self, moves: &mut [Candidate<Move>]) {
        let position = &self.position;
        let Some(king) = position.king(position.side_to_move()) else { return };
        let threats = Threats::new(position, self.attacker, king);
        let mut number_if_king_stays = 0;
        for candidate in moves {
            let to = candidate.m.to();
            let takes = position.piece_on(to).is_some();
            if takes {
                candidate.proof_number = CAPTURE;
            }
            candidate.cost = match candidate.m.from() {
                Some(from) if from != king => COST_OF_STEPPING_BETWEEN - 2 * i8::from(takes),
                _ => 0,
            };
            candidate.disproof_number = if candidate.m.from() == Some(king) {
                threats.first_number(to, threats.without_king, Bitboard::from_square(to))
            } else {
                if number_if_king_stays == 0 {
                    let occupied = position.occupied();
                    number_if_king_stays =
                        threats.first_number(king, occupied, position.checkers());
                }
                number_if_king_stays
            };
        }
    }
}

/// The attacker's pieces that can give check, for any square of the king.
struct Threats<'a> {
    position: &'a Position,
    us: Color,
    own: Bitboard,
    hand: Hand,
    golds: Bitboard,
    /// The occupied squares without the king.
    without_king: Bitboard,
    /// The sliders; at most two bishops and two rooks.
    sliders: [Slider; MAX_SLIDERS],
    count: usize,
}

const MAX_SLIDERS: usize = 4;

#[derive(Clone, Copy)]
struct Slider {
    from: Square,
    is_rook: bool,
    /// Squares where it can move.
    reach: Bitboard,
    /// Targets where it checks adjacent squares like a king, because it is promoted or promotes with the move.
    steps: Bitboard,
}

impl<'a> Threats<'a> {
    fn new(position: &'a Position, us: Color, king: Square) -> Self {
        let own = position.color(us);
        let without_king = position.occupied() ^ Bitboard::from_square(king);
        let zone = Bitboard::far_ranks(us, 3);
        let mut threats = Self {
            position,
            us,
            own,
            hand: position.hand(us),
            golds: position.golds(us),
            without_king,
            sliders: [Slider { from: king, is_rook: false, reach: zone, steps: zone }; MAX_SLIDERS],
            count: 0,
        };
        let own_pieces = |kind: PieceKind| position.kind(kind) & own;
        let [horses, dragons] = [own_pieces(PieceKind::Horse), own_pieces(PieceKind::Dragon)];
        for (is_rook, promoted, pieces) in [
            (false, horses, own_pieces(PieceKind::Bishop) | horses),
            (true, dragons, own_pieces(PieceKind::Rook) | dragons),
        ] {
            for from in pieces.into_iter().take(MAX_SLIDERS - threats.count) {
                let is_promoted = promoted.contains(from);
                let lines = if is_rook { attacks::rook } else { attacks::bishop };
                let near = if is_promoted { attacks::king(from) } else { Bitboard::EMPTY };
                let reach = (lines(from, without_king) | near).without(own);
                let promotes = is_promoted || zone.contains(from);
                let steps = if promotes { Bitboard::ALL } else { zone };
                threats.sliders[threats.count] = Slider { from, is_rook, reach, steps };
                threats.count += 1;
            }
        }
        threats
    }

    /// First disproof number with the defender's king on `king` and the piece on `taken` removed: 1, plus the dropped
    /// checks up to a limit, plus three for each piece that can give check.
    fn first_number(&self, king: Square, occupied: Bitboard, taken: Bitboard) -> u32 {
        let own = self.own.without(taken);
        let drops = self.dropped_checks(king, !occupied).min(MOST_DROPS_THAT_MATTER);
        let movers = self.checking_steppers(king, own)
            + self.checking_sliders(king, occupied, own)
            + self.checking_lances(king, occupied, own);
        match drops + 3 * movers {
            // Probably refuted at once, so it is searched first.
            0 => 1,
            checks => checks + 1,
        }
    }

    fn dropped_checks(&self, king: Square, free: Bitboard) -> u32 {
        let (us, them) = (self.us, !self.us);
        let hand = self.hand;
        let mut drops = 0;
        if hand.has(HandKind::Pawn) {
            let front = attacks::pawn(them, king) & free;
            drops += u32::from(front.without(self.position.pawn_files(us)).has_any());
        }
        if hand.has(HandKind::Knight) {
            let drop = attacks::knight(them, king) & free;
            drops += u32::from(drop.has_any()) + u32::from(drop.has_many());
        }
        if hand.has(HandKind::Silver) {
            drops += (attacks::silver(them, king) & free).count_near(king);
        }
        if hand.has(HandKind::Gold) {
            drops += (attacks::gold(them, king) & free).count_near(king);
        }
        let near = attacks::king(king) & free;
        for (kind, rays) in [
            (HandKind::Bishop, attacks::bishop_rays(king)),
            (HandKind::Rook, attacks::rook_rays(king)),
            (HandKind::Lance, attacks::lance_ray(them, king)),
        ] {
            if hand.has(kind) {
                drops += DROPS_ON_A_LINE * (rays & near).count_near(king);
            }
        }
        drops
    }

    /// Number of steppers that can give check with one move.
    fn checking_steppers(&self, king: Square, own: Bitboard) -> u32 {
        let near = |kind| attacks::check_origins(self.us, kind, king);
        let kind = |kind| self.position.kind(kind) & near(kind);
        let steppers = kind(PieceKind::Pawn)
            | kind(PieceKind::Knight)
            | kind(PieceKind::Silver)
            | (self.golds & near(PieceKind::Gold));
        (steppers & own).count_two_steps_near(king)
    }

    /// Number of bishops and rooks, promoted or not, that can give check with one move.
    fn checking_sliders(&self, king: Square, occupied: Bitboard, own: Bitboard) -> u32 {
        let around = attacks::king(king);
        let checks = |slider: &&Slider| {
            let lines = if slider.is_rook { attacks::rook } else { attacks::bishop };
            let near = around & slider.steps;
            own.contains(slider.from)
                && ((slider.reach & near).has_any()
                    || (slider.reach & lines(king, occupied)).has_any())
        };
        self.sliders[..self.count].iter().filter(checks).count() as u32
    }

    /// Number of lances that can give check with one move.
    fn checking_lances(&self, king: Square, occupied: Bitboard, own: Bitboard) -> u32 {
        let (us, them) = (self.us, !self.us);
        let lances = self.position.kind(PieceKind::Lance) & own;
        if lances.is_empty() {
            return 0;
        }
        let golden = attacks::gold(them, king) & Bitboard::far_ranks(us, 3);
        let targets = attacks::lance(them, king, occupied) | golden;
        let checks = |&from: &Square| {
            (attacks::lance_ray(us, from) & targets).has_any()
                && (attacks::lance(us, from, occupied).without(own) & targets).has_any()
        };
        lances.filter(checks).count() as u32
    }
}
