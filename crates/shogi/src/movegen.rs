//! Legal moves, evasions and checks, generated as sets of target squares.
//!
//! Checkers and pins are computed once, so that only legal moves are generated (the approach of cozy-chess). A visitor
//! receives whole sets.

pub use super::move_set::{Flow, MoveSet};

use super::attacks;
use super::bitboard::Bitboard;
use super::check_squares::CheckSquares;
use super::moves::Move;
use super::piece::{Color, HandKind, PieceKind};
use super::position::Position;
use super::square::Square;

impl Position {
    /// Visits all legal moves as sets. No set is empty, and no move is in two sets.
    #[inline]
    pub fn visit_legal_moves(&self, mut visit: impl FnMut(MoveSet) -> Flow) -> Flow {
        let own = self.color(self.side_to_move());
        let free = !self.occupied();
        if self.in_check() {
            self.visit_evasions(visit)
        } else {
            let generator = Generator::new(self, AllMoves { targets: !own, drops: free });
            generator.visit_king_moves(&mut visit)?;
            generator.visit_board_moves(&mut visit)?;
            generator.visit_drops(&mut visit)
        }
    }

    /// Visits all legal moves of a side in check: king moves, then captures of the checker and interpositions by pieces
    /// on the board, then drops.
    #[inline]
    pub fn visit_evasions(&self, mut visit: impl FnMut(MoveSet) -> Flow) -> Flow {
        let us = self.side_to_move();
        let (Some(king), Some(checker)) = (self.king(us), self.checkers().first()) else {
            return Flow::Continue(());
        };
        let between = attacks::between(king, checker);
        let targets = between.with(checker);
        let generator = Generator::new(self, AllMoves { targets, drops: between });
        generator.visit_king_moves(&mut visit)?;
        if self.checkers().has_many() {
            return Flow::Continue(());
        }
        generator.visit_moves_to(checker, &mut visit)?;
        for square in between {
            generator.visit_moves_to(square, &mut visit)?;
        }
        if between.has_any() { generator.visit_drops(&mut visit) } else { Flow::Continue(()) }
    }

    /// Visits all legal moves that give check. Visits none if the opponent has no king.
    #[inline]
    pub fn visit_checks(&self, visit: impl FnMut(MoveSet) -> Flow) -> Flow {
        match CheckSquares::new(self) {
            Some(check_squares) => self.visit_checks_on(&check_squares, visit),
            None => Flow::Continue(()),
        }
    }

    /// As [`Self::visit_checks`]. `check_squares` are those of this position.
    #[inline]
    pub(crate) fn visit_checks_on(
        &self,
        check_squares: &CheckSquares,
        mut visit: impl FnMut(MoveSet) -> Flow,
    ) -> Flow {
        let us = self.side_to_move();
        let own = self.color(us);
        let (targets, drops) = match (self.king(us), self.checkers().first()) {
            (Some(king), Some(checker)) => {
                let between = attacks::between(king, checker);
                (between.with(checker), between)
            }
            _ => (!own, !self.occupied()),
        };
        let generator = Generator::new(self, ChecksOnly { targets, drops, check_squares });
        generator.visit_king_moves(&mut visit)?;
        if self.checkers().has_many() {
            return Flow::Continue(());
        }
        generator.visit_board_moves(&mut visit)?;
        generator.visit_drops(&mut visit)
    }

    /// All legal moves, in a fixed order.
    ///
    /// ```
    /// use kyokumen_shogi::Position;
    /// assert_eq!(Position::start().legal_moves().len(), 30);
    /// ```
    pub fn legal_moves(&self) -> Vec<Move> {
        let mut moves = Vec::with_capacity(128);
        self.push_legal_moves(&mut moves);
        moves
    }

    /// Appends all legal moves.
    #[inline]
    pub fn push_legal_moves(&self, moves: &mut Vec<Move>) {
        let flow = self.visit_legal_moves(|set| {
            set.for_each(|m| moves.push(m));
            Flow::Continue(())
        });
        debug_assert!(flow.is_continue());
    }

    /// All legal moves that give check, in a fixed order.
    pub fn checks(&self) -> Vec<Move> {
        let mut moves = Vec::with_capacity(32);
        let flow = self.visit_checks(|set| {
            set.for_each(|m| moves.push(m));
            Flow::Continue(())
        });
        debug_assert!(flow.is_continue());
        moves
    }

    /// Whether the side to move has a legal move.
    #[inline]
    pub fn has_legal_move(&self) -> bool {
        self.visit_legal_moves(|_| Flow::Break(())).is_break()
    }

    /// Whether the side to move is in check and has no legal move.
    #[inline]
    pub fn is_checkmate(&self) -> bool {
        self.in_check() && !self.has_legal_move()
    }

    /// Whether a move is legal in this position.
    pub fn is_legal(&self, m: Move) -> bool {
        self.visit_legal_moves(|set| {
            let mut found = false;
            if set.targets().contains(m.to()) {
                set.for_each(|candidate| found |= candidate == m);
            }
            if found { Flow::Break(()) } else { Flow::Continue(()) }
        })
        .is_break()
    }

    /// Whether a legal move gives check.
    #[inline]
    pub fn gives_check(&self, m: Move) -> bool {
        let Some(checking) = CheckSquares::new(self) else { return false };
        let kind = self.kind_after(m);
        let squares = match m.from() {
            Some(from) => checking.targets_from(kind, from),
            None => checking.direct(kind),
        };
        squares.contains(m.to())
    }

    /// Files with an unpromoted pawn of `color`, where it may not drop another one.
    #[inline]
    pub(crate) fn pawn_files(&self, color: Color) -> Bitboard {
        self.pieces(color, PieceKind::Pawn).fill_files()
    }

    /// Squares where `color` may drop a kind, apart from drop-pawn mate.
    #[inline]
    pub(crate) fn drop_squares(&self, color: Color, kind: HandKind) -> Bitboard {
        let free = !self.occupied();
        match kind {
            HandKind::Pawn => {
                free.without(Bitboard::far_ranks(color, 1)).without(self.pawn_files(color))
            }
            HandKind::Lance => free.without(Bitboard::far_ranks(color, 1)),
            HandKind::Knight => free.without(Bitboard::far_ranks(color, 2)),
            _ => free,
        }
    }

    /// Whether a pawn dropped by the side to move on `to`, in front of the opposing king, mates.
    ///
    /// The check of a pawn cannot be interposed, so hands do not matter.
    fn is_drop_pawn_mate(&self, to: Square) -> bool {
        let us = self.side_to_move();
        let Some(king) = self.king(!us) else { return false };
        let occupied = self.occupied().with(to);
        let capturers = self.attackers_to(to, occupied, !us).without(Bitboard::from_square(king));
        let pinned = self.blockers(!us) & self.color(!us);
        for capturer in capturers {
            if !pinned.contains(capturer) || attacks::ray_through(king, capturer).contains(to) {
                return false;
            }
        }
        let without_king = occupied ^ Bitboard::from_square(king);
        attacks::king(king)
            .without(self.color(!us))
            .all(|flight| self.is_attacked(flight, without_king, us))
    }
}

/// Selects which of the legal moves to generate.
trait MoveFilter {
    /// Squares of pieces of a kind that may have a selected move.
    fn origins(&self, kind: PieceKind) -> Bitboard;
    /// Selected targets of a piece whose kind is `after` on arrival.
    fn targets(&self, after: PieceKind, from: Square) -> Bitboard;
    /// Selected targets of pawn steps that open no line.
    fn pawn_targets(&self, after: PieceKind) -> Bitboard;
    /// Pawns that are handled one by one.
    fn single_pawns(&self) -> Bitboard;
    fn drop_targets(&self, kind: HandKind) -> Bitboard;
    /// Selected targets of the king, whose move may open a line.
    fn king_targets(&self, from: Square) -> Bitboard;
}

/// Selects every move to the targets.
struct AllMoves {
    targets: Bitboard,
    drops: Bitboard,
}

impl MoveFilter for AllMoves {
    #[inline]
    fn origins(&self, _: PieceKind) -> Bitboard {
        Bitboard::ALL
    }

    #[inline]
    fn targets(&self, _: PieceKind, _: Square) -> Bitboard {
        self.targets
    }

    #[inline]
    fn pawn_targets(&self, _: PieceKind) -> Bitboard {
        self.targets
    }

    #[inline]
    fn single_pawns(&self) -> Bitboard {
        Bitboard::EMPTY
    }

    #[inline]
    fn drop_targets(&self, _: HandKind) -> Bitboard {
        self.drops
    }

    #[inline]
    fn king_targets(&self, _: Square) -> Bitboard {
        Bitboard::ALL
    }
}

/// Selects only moves that give check.
struct ChecksOnly<'a> {
    targets: Bitboard,
    drops: Bitboard,
    check_squares: &'a CheckSquares,
}

impl MoveFilter for ChecksOnly<'_> {
    #[inline(always)]
    fn origins(&self, kind: PieceKind) -> Bitboard {
        self.check_squares.origins(kind)
    }

    #[inline(always)]
    fn targets(&self, after: PieceKind, from: Square) -> Bitboard {
        self.targets & self.check_squares.targets_from(after, from)
    }

    #[inline]
    fn pawn_targets(&self, after: PieceKind) -> Bitboard {
        self.targets & self.check_squares.direct(after)
    }

    #[inline]
    fn single_pawns(&self) -> Bitboard {
        self.check_squares.discoverers()
    }

    #[inline]
    fn drop_targets(&self, kind: HandKind) -> Bitboard {
        self.drops & self.check_squares.direct(kind.piece_kind())
    }

    #[inline]
    fn king_targets(&self, from: Square) -> Bitboard {
        self.check_squares.targets_from(PieceKind::King, from)
    }
}

struct Generator<'a, W> {
    position: &'a Position,
    wanted: W,
    us: Color,
    own: Bitboard,
    occupied: Bitboard,
    king: Option<Square>,
    pinned: Bitboard,
    promotion_zone: Bitboard,
}

impl<'a, W: MoveFilter> Generator<'a, W> {
    #[inline]
    fn new(position: &'a Position, wanted: W) -> Self {
        let us = position.side_to_move();
        let own = position.color(us);
        Self {
            position,
            wanted,
            us,
            own,
            occupied: position.occupied(),
            king: position.king(us),
            pinned: position.blockers(us) & own,
            promotion_zone: Bitboard::far_ranks(us, 3),
        }
    }

    #[inline]
    fn visit_king_moves(&self, visit: &mut impl FnMut(MoveSet) -> Flow) -> Flow {
        let Some(king) = self.king else { return Flow::Continue(()) };
        let candidates = attacks::king(king).without(self.own) & self.wanted.king_targets(king);
        if candidates.is_empty() {
            return Flow::Continue(());
        }
        let without_king = self.occupied ^ Bitboard::from_square(king);
        // For a single square a direct test is faster.
        let to = if candidates.count_near(king) > 1 {
            let them = !self.us;
            let pieces = self.position.color(them);
            candidates.without(self.position.attacked_by(them, pieces, without_king))
        } else {
            let is_attacked = |&to: &Square| self.position.is_attacked(to, without_king, !self.us);
            candidates.filter(|to| !is_attacked(to)).collect()
        };
        if to.has_any() {
            visit(MoveSet::Piece { kind: PieceKind::King, from: king, to, promotion: false })?;
        }
        Flow::Continue(())
    }

    /// Moves to one square by all pieces except the king, for a king in check. A pinned piece can never end the check.
    #[inline]
    fn visit_moves_to(&self, to: Square, visit: &mut impl FnMut(MoveSet) -> Flow) -> Flow {
        let king = self.position.pieces(self.us, PieceKind::King);
        let movers = self.position.attackers_to(to, self.occupied, self.us);
        for from in movers.without(self.pinned | king) {
            let kind = self.position.piece_on(from).expect("an attacker is a piece").kind;
            self.visit_piece(kind, from, Bitboard::from_square(to), visit)?;
        }
        Flow::Continue(())
    }

    /// Moves of all pieces except the king.
    #[inline]
    fn visit_board_moves(&self, visit: &mut impl FnMut(MoveSet) -> Flow) -> Flow {
        let (us, occupied) = (self.us, self.occupied);
        self.visit_pawns(visit)?;
        let own = |kind| self.position.pieces(us, kind) & self.wanted.origins(kind);
        for from in own(PieceKind::Lance) {
            self.visit_piece(PieceKind::Lance, from, attacks::lance(us, from, occupied), visit)?;
        }
        for from in own(PieceKind::Knight) {
            self.visit_piece(PieceKind::Knight, from, attacks::knight(us, from), visit)?;
        }
        for from in own(PieceKind::Silver) {
            self.visit_piece(PieceKind::Silver, from, attacks::silver(us, from), visit)?;
        }
        for from in self.position.golds(us) & self.wanted.origins(PieceKind::Gold) {
            self.visit_piece(PieceKind::Gold, from, attacks::gold(us, from), visit)?;
        }
        for from in own(PieceKind::Bishop) {
            self.visit_piece(PieceKind::Bishop, from, attacks::bishop(from, occupied), visit)?;
        }
        for from in own(PieceKind::Rook) {
            self.visit_piece(PieceKind::Rook, from, attacks::rook(from, occupied), visit)?;
        }
        for kind in [PieceKind::Horse, PieceKind::Dragon] {
            for from in own(kind) {
                self.visit_piece(kind, from, attacks::piece(us, kind, from, occupied), visit)?;
            }
        }
        Flow::Continue(())
    }

    /// Moves of one piece. `kind` is `Gold` for all pieces that move as golds. Inlined, so that decisions by kind are
    /// made once for each loop over a kind.
    #[inline(always)]
    fn visit_piece(
        &self,
        kind: PieceKind,
        from: Square,
        attacks: Bitboard,
        visit: &mut impl FnMut(MoveSet) -> Flow,
    ) -> Flow {
        let reach = match self.king {
            Some(king) if self.pinned.contains(from) => attacks & attacks::ray_through(king, from),
            _ => attacks,
        };
        let zone =
            if self.promotion_zone.contains(from) { Bitboard::ALL } else { self.promotion_zone };
        if let Some(promoted) = kind.promoted() {
            let to = reach & zone & self.wanted.targets(promoted, from);
            if to.has_any() {
                visit(MoveSet::Piece { kind, from, to, promotion: true })?;
            }
        }
        let dead = Bitboard::far_ranks(self.us, kind.dead_ranks());
        let to = reach.without(dead) & self.wanted.targets(kind, from);
        if to.has_any() {
            visit(MoveSet::Piece { kind, from, to, promotion: false })?;
        }
        Flow::Continue(())
    }

    #[inline]
    fn visit_pawns(&self, visit: &mut impl FnMut(MoveSet) -> Flow) -> Flow {
        let color = self.us;
        let pawns = self.position.pieces(color, PieceKind::Pawn);
        let single = pawns & (self.pinned | self.wanted.single_pawns());
        for from in single {
            self.visit_piece(PieceKind::Pawn, from, attacks::pawn(color, from), visit)?;
        }
        let ahead = pawns.without(single).forward(color);
        let to = ahead & self.promotion_zone & self.wanted.pawn_targets(PieceKind::ProPawn);
        if to.has_any() {
            visit(MoveSet::Pawns { color, to, promotion: true })?;
        }
        let dead = Bitboard::far_ranks(color, 1);
        let to = ahead.without(dead) & self.wanted.pawn_targets(PieceKind::Pawn);
        if to.has_any() {
            visit(MoveSet::Pawns { color, to, promotion: false })?;
        }
        Flow::Continue(())
    }

    #[inline]
    fn visit_drops(&self, visit: &mut impl FnMut(MoveSet) -> Flow) -> Flow {
        let hand = self.position.hand(self.us);
        if hand.is_empty() {
            return Flow::Continue(());
        }
        for kind in HandKind::ALL {
            if !hand.has(kind) {
                continue;
            }
            let mut to = self.wanted.drop_targets(kind);
            if to.has_any() && kind <= HandKind::Knight {
                to &= self.position.drop_squares(self.us, kind);
            }
            if kind == HandKind::Pawn && to.has_any() {
                to = self.without_drop_pawn_mate(to);
            }
            if to.has_any() {
                visit(MoveSet::Drops { kind, to })?;
            }
        }
        Flow::Continue(())
    }

    #[inline]
    fn without_drop_pawn_mate(&self, to: Bitboard) -> Bitboard {
        if let Some(king) = self.position.king(!self.us) {
            let front = attacks::pawn(!self.us, king) & to;
            if front.first().is_some_and(|square| self.position.is_drop_pawn_mate(square)) {
                return to.without(front);
            }
        }
        to
    }
}
