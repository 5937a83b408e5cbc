//! Counts the leaves of the game tree, to test the rules.
//!
//! The statistics match YaneuraOu's `perft` (leaves reached by a capture, by a promotion, with check, with mate) and
//! add the number of drops. Leaves are counted as sets, one ply above them. Only checking moves are made, to see
//! whether they mate.

#[cfg(feature = "rayon")]
pub mod parallel;

use std::iter::Sum;
use std::ops::{Add, AddAssign};

use super::bitboard::Bitboard;
use super::check_squares::CheckSquares;
use super::move_set::{Flow, MoveSet, pawn_origin};
use super::moves::Move;
use super::piece::PieceKind;
use super::position::Position;

/// Numbers of leaves, by the last move.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Perft {
    /// Leaves.
    pub nodes: u64,
    /// Leaves whose last move captured.
    pub captures: u64,
    /// Leaves whose last move promoted.
    pub promotions: u64,
    /// Leaves whose last move was a drop.
    pub drops: u64,
    /// Leaves where the side to move is in check.
    pub checks: u64,
    /// Leaves where the side to move is mated.
    pub mates: u64,
}

impl Add for Perft {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            nodes: self.nodes + other.nodes,
            captures: self.captures + other.captures,
            promotions: self.promotions + other.promotions,
            drops: self.drops + other.drops,
            checks: self.checks + other.checks,
            mates: self.mates + other.mates,
        }
    }
}

impl AddAssign for Perft {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Perft {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::default(), Add::add)
    }
}

/// Counts the leaves at `depth` plies, with all statistics.
///
/// ```
/// use kyokumen_shogi::{Position, perft};
/// let counted = perft::count(&mut Position::start(), 3);
/// assert_eq!((counted.nodes, counted.captures, counted.checks), (25470, 59, 48));
/// ```
pub fn count(position: &mut Position, depth: u32) -> Perft {
    match depth {
        0 => root(position),
        1 => count_leaves(position),
        _ => {
            let mut sum = Perft::default();
            for_each_child(position, |child| sum += count(child, depth - 1));
            sum
        }
    }
}

/// Counts the leaves at `depth` plies, without statistics.
pub fn nodes(position: &mut Position, depth: u32) -> u64 {
    match depth {
        0 => 1,
        1 => {
            let mut sum = 0;
            let _ = position.visit_legal_moves(|set| {
                sum += u64::from(set.targets().count());
                Flow::Continue(())
            });
            sum
        }
        _ => {
            let mut sum = 0;
            for_each_child(position, |child| sum += nodes(child, depth - 1));
            sum
        }
    }
}

/// The statistics of each root move, in the order of the generator.
pub fn divide(position: &mut Position, depth: u32) -> Vec<(Move, Perft)> {
    let moves = position.legal_moves();
    let below = depth.saturating_sub(1);
    moves
        .into_iter()
        .map(|m| {
            if below == 0 {
                return (m, leaf(position, m));
            }
            let undo = position.make(m);
            let counted = count(position, below);
            position.unmake(m, undo);
            (m, counted)
        })
        .collect()
}

#[inline]
fn for_each_child(position: &mut Position, mut visit: impl FnMut(&mut Position)) {
    // The sets are collected first because the position changes while moves are made. Real positions have fewer than 64
    // sets; the position with 593 moves has 42.
    let mut sets = Vec::with_capacity(64);
    let _ = position.visit_legal_moves(|set| {
        sets.push(set);
        Flow::Continue(())
    });
    for set in sets {
        set.for_each(|m| {
            let undo = position.make(m);
            visit(position);
            position.unmake(m, undo);
        });
    }
}

/// The statistics of a root without a last move: no capture, promotion or drop.
fn root(position: &Position) -> Perft {
    let (check, mate) = (position.in_check(), position.is_checkmate());
    Perft { nodes: 1, checks: check.into(), mates: mate.into(), ..Perft::default() }
}

/// One leaf below the root, for [`divide`] at depth 1.
fn leaf(position: &mut Position, m: Move) -> Perft {
    let captures = u64::from(position.captured_by(m).is_some());
    let undo = position.make(m);
    let below = root(position);
    position.unmake(m, undo);
    Perft { captures, promotions: m.is_promotion().into(), drops: m.is_drop().into(), ..below }
}

fn count_leaves(position: &mut Position) -> Perft {
    let mut sum = Perft::default();
    let mut checking_sets = Vec::new();
    let theirs = position.color(!position.side_to_move());
    let checking = CheckSquares::new(position);
    let _ = position.visit_legal_moves(|set| {
        let to = set.targets();
        let moves = u64::from(to.count());
        sum.nodes += moves;
        match set {
            MoveSet::Drops { .. } => sum.drops += moves,
            MoveSet::Piece { promotion, .. } | MoveSet::Pawns { promotion, .. } => {
                sum.captures += u64::from((to & theirs).count());
                sum.promotions += if promotion { moves } else { 0 };
            }
        }
        if let Some(checking) = &checking {
            let checks = checks_among(set, checking);
            if checks.has_any() {
                sum.checks += u64::from(checks.count());
                checking_sets.push(with_targets(set, checks));
            }
        }
        Flow::Continue(())
    });
    for set in checking_sets {
        set.for_each(|m| {
            let undo = position.make(m);
            sum.mates += u64::from(!position.has_legal_move());
            position.unmake(m, undo);
        });
    }
    sum
}

/// Targets of a set that give check.
fn checks_among(set: MoveSet, checking: &CheckSquares) -> Bitboard {
    let after = |kind: PieceKind, promotion| match kind.promoted() {
        Some(promoted) if promotion => promoted,
        _ => kind,
    };
    match set {
        MoveSet::Piece { kind, from, to, promotion } => {
            to & checking.targets_from(after(kind, promotion), from)
        }
        MoveSet::Drops { kind, to } => to & checking.direct(kind.piece_kind()),
        MoveSet::Pawns { color, to, promotion } => {
            let kind = after(PieceKind::Pawn, promotion);
            if checking.discoverers().is_empty() {
                return to & checking.direct(kind);
            }
            to.filter(|&to| checking.targets_from(kind, pawn_origin(color, to)).contains(to))
                .collect()
        }
    }
}

fn with_targets(set: MoveSet, targets: Bitboard) -> MoveSet {
    match set {
        MoveSet::Piece { kind, from, promotion, .. } => {
            MoveSet::Piece { kind, from, to: targets, promotion }
        }
        MoveSet::Pawns { color, promotion, .. } => MoveSet::Pawns { color, to: targets, promotion },
        MoveSet::Drops { kind, .. } => MoveSet::Drops { kind, to: targets },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(sfen: &str, depth: u32) -> [u64; 6] {
        let mut position: Position = sfen.parse().expect("a legal position");
        let p = count(&mut position, depth);
        assert_eq!(p.nodes, nodes(&mut position, depth));
        let divided: Perft = divide(&mut position, depth).into_iter().map(|(_, p)| p).sum();
        assert_eq!(divided, p);
        [p.nodes, p.captures, p.promotions, p.drops, p.checks, p.mates]
    }

    const START: &str = super::super::sfen::START;
    const MATSURI: &str = "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w GR5pnsg 1";
    const MAX_MOVES: &str = "R8/2K1S1SSk/4B4/9/9/9/9/9/1L1L1L3 b RBGSNLP3g3n17p 1";

    #[test]
    fn perft_of_the_start_position() {
        assert_eq!(counted(START, 1), [30, 0, 0, 0, 0, 0]);
        assert_eq!(counted(START, 2), [900, 0, 0, 0, 0, 0]);
        assert_eq!(counted(START, 3), [25470, 59, 30, 0, 48, 0]);
        assert_eq!(counted(START, 4), [719731, 1803, 842, 0, 1121, 0]);
    }

    #[test]
    fn perft_of_the_matsuri_position() {
        assert_eq!(counted(MATSURI, 3), [4809015, 121384, 256701, 3647304, 179059, 2749]);
    }

    #[test]
    fn the_position_with_most_moves_has_593() {
        assert_eq!(counted(MAX_MOVES, 1)[0], 593);
    }
}
