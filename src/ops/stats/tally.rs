//! Sums over records.
//!
//! The piece values are from Apery at WCSC26. YaneuraOu uses the same values to count material. They are not used for
//! any evaluation here.

use super::histogram::{Bins, Histogram};
use super::outcomes::{Outcomes, OutcomesByEval};
use super::squares::SquareTally;
use crate::format::{DecodeError, Record, RecordRef, Warning};
use crate::shogi::{Color, HandKind, Move, PieceKind, Position, Setup};

/// A position with at least this many pieces in hand or promoted is no longer an opening.
pub const MIDDLEGAME_FROM: i32 = 4;

/// A position with at least this many pieces in hand or promoted is an endgame.
pub const ENDGAME_FROM: i32 = 12;

/// In centipawns. One bin is centred on 0.
pub(super) const EVAL_BINS: Bins = Bins { width: 100, from: -3050, below: 3050 };

/// Piece values in the order of [`PieceKind::ALL`]. A pawn is 90 points.
const VALUES: [i32; PieceKind::COUNT] =
    [90, 315, 405, 495, 540, 855, 990, 0, 540, 540, 540, 540, 945, 1395];

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct MoveTally {
    pub(super) stored: u64,
    pub(super) illegal: u64,
    /// Captures, promotions and drops count only legal moves.
    pub(super) captures: u64,
    pub(super) promotions: u64,
    pub(super) drops: u64,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) games: u64,
    pub(super) to_move: [u64; 2],
    pub(super) in_check: u64,
    pub(super) evals: Histogram,
    pub(super) plies: Histogram,
    /// Draws, Black wins, White wins, in the order of `GameResult`.
    pub(super) results: [u64; 3],
    pub(super) outcomes: Outcomes,
    pub(super) by_eval: OutcomesByEval,
    pub(super) squares: SquareTally,
    pub(super) on_board: [u64; PieceKind::COUNT],
    pub(super) in_hand: [u64; HandKind::COUNT],
    pub(super) in_box: u64,
    pub(super) pieces_on_board: Histogram,
    pub(super) pieces_in_hand: Histogram,
    /// Pieces in hand or promoted.
    pub(super) phases: Histogram,
    /// Material of the side to move minus the opponent's material.
    pub(super) material: Histogram,
    pub(super) moves: MoveTally,
    pub(super) warnings: [u64; Warning::ALL.len()],
}

impl Tally {
    /// Adds a record. Adds nothing on an error.
    pub(super) fn add_record(
        &mut self,
        record: &RecordRef<'_>,
        content: &Record,
    ) -> Result<(), DecodeError> {
        let setup = &content.setup;
        let position = Position::try_from(setup).ok();
        let warnings = record.warnings_about(setup, position.as_ref())?;
        for warning in warnings.iter() {
            self.warnings[warning as usize] += 1;
        }
        let side_to_move = setup.side_to_move();
        self.to_move[side_to_move.index()] += 1;
        self.in_check += u64::from(position.as_ref().is_some_and(Position::in_check));
        if let Some(eval_cp) = content.eval_cp {
            self.evals.count(eval_cp.into());
        }
        if let Some(ply) = content.ply {
            self.plies.count(ply.into());
        }
        if let Some(result) = content.result {
            self.results[result as usize] += 1;
            self.outcomes.count(result.winner(), side_to_move);
            if let Some(eval_cp) = content.eval_cp {
                self.by_eval.count(eval_cp, result.winner(), side_to_move);
            }
        }
        if let Some(m) = content.best_move {
            let is_legal = !warnings.contains(Warning::MoveIllegal);
            self.add_move(m, position.as_ref().filter(|_| is_legal));
        }
        self.squares.add_kings(setup);
        self.add_pieces(setup);
        Ok(())
    }

    /// `position` is `None` if the move is illegal.
    fn add_move(&mut self, m: Move, position: Option<&Position>) {
        self.moves.stored += 1;
        let Some(position) = position else {
            self.moves.illegal += 1;
            return;
        };
        self.moves.captures += u64::from(position.captured_by(m).is_some());
        self.moves.promotions += u64::from(m.is_promotion());
        self.moves.drops += u64::from(m.is_drop());
        self.squares.add_move(m, position.side_to_move());
    }

    fn add_pieces(&mut self, setup: &Setup) {
        let us = setup.side_to_move();
        let (mut on_board, mut in_hand, mut promoted, mut material) = (0, 0, 0, 0);
        for piece in setup.board().iter().flatten() {
            self.on_board[piece.kind.index()] += 1;
            on_board += 1;
            promoted += i32::from(piece.kind.is_promoted());
            let value = VALUES[piece.kind.index()];
            material += if piece.color == us { value } else { -value };
        }
        for (color, hand) in Color::ALL.into_iter().zip(setup.hands()) {
            for (kind, count) in hand.iter() {
                self.in_hand[kind.index()] += u64::from(count);
                in_hand += i32::from(count);
                let value = i32::from(count) * VALUES[kind.piece_kind().index()];
                material += if color == us { value } else { -value };
            }
        }
        self.in_box += setup.piece_box().iter().map(|(_, count)| u64::from(count)).sum::<u64>();
        self.pieces_on_board.count(on_board);
        self.pieces_in_hand.count(in_hand);
        self.phases.count(in_hand + promoted);
        self.material.count(material);
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.games += other.games;
        add_each(&mut self.to_move, &other.to_move);
        self.in_check += other.in_check;
        self.evals.add(&other.evals);
        self.plies.add(&other.plies);
        add_each(&mut self.results, &other.results);
        self.outcomes.add(other.outcomes);
        self.by_eval.add(&other.by_eval);
        self.squares.add(&other.squares);
        add_each(&mut self.on_board, &other.on_board);
        add_each(&mut self.in_hand, &other.in_hand);
        self.in_box += other.in_box;
        self.pieces_on_board.add(&other.pieces_on_board);
        self.pieces_in_hand.add(&other.pieces_in_hand);
        self.phases.add(&other.phases);
        self.material.add(&other.material);
        self.moves.stored += other.moves.stored;
        self.moves.illegal += other.moves.illegal;
        self.moves.captures += other.moves.captures;
        self.moves.promotions += other.moves.promotions;
        self.moves.drops += other.moves.drops;
        add_each(&mut self.warnings, &other.warnings);
    }
}

fn add_each(sums: &mut [u64], others: &[u64]) {
    for (sum, other) in sums.iter_mut().zip(others) {
        *sum += other;
    }
}
