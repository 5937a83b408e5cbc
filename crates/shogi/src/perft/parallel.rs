//! Perft on the threads of rayon, which share the moves of the first two plies.
//!
//! Sums do not depend on their order, so the result is the same for any number of threads.

use std::iter::Sum;

use rayon::prelude::*;

use super::Perft;
use crate::moves::Move;
use crate::position::Position;

/// [`super::count`] on the threads of the current rayon pool.
///
/// ```
/// use kyokumen_shogi::{Position, perft};
/// assert_eq!(perft::parallel::count(&Position::start(), 3), perft::count(&mut Position::start(), 3));
/// ```
pub fn count(position: &Position, depth: u32) -> Perft {
    if depth <= SHARED_PLIES {
        return super::count(&mut position.clone(), depth);
    }
    sum_on_threads(position, depth, super::count).into_iter().map(|(_, counted)| counted).sum()
}

/// [`super::nodes`] on the threads of the current rayon pool.
pub fn nodes(position: &Position, depth: u32) -> u64 {
    if depth <= SHARED_PLIES {
        return super::nodes(&mut position.clone(), depth);
    }
    sum_on_threads(position, depth, super::nodes).into_iter().map(|(_, nodes)| nodes).sum()
}

/// [`super::divide`] on the threads of the current rayon pool.
pub fn divide(position: &Position, depth: u32) -> Vec<(Move, Perft)> {
    if depth <= SHARED_PLIES {
        return super::divide(&mut position.clone(), depth);
    }
    sum_on_threads(position, depth, super::count)
}

/// Plies whose moves are shared by the threads: 900 tasks from the start position. Leaves are counted one ply above
/// them, so threads need a greater depth.
const SHARED_PLIES: u32 = 2;

/// The sum of `below` over all positions after two plies, by root move.
fn sum_on_threads<T: Sum + Send>(
    position: &Position,
    depth: u32,
    below: impl Fn(&mut Position, u32) -> T + Sync,
) -> Vec<(Move, T)> {
    let after = |position: &Position, m: Move| {
        let mut child = position.clone();
        child.make(m);
        child
    };
    position
        .legal_moves()
        .into_par_iter()
        .map(|m| {
            let child = after(position, m);
            let replies = child.legal_moves().into_par_iter();
            let sum = replies
                .map(|reply| below(&mut after(&child, reply), depth - SHARED_PLIES))
                .sum::<T>();
            (m, sum)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_do_not_depend_on_threads() {
        let positions = [
            Position::start().to_string(),
            "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w GR5pnsg 1".to_owned(),
            // No legal move, and one legal move.
            "7lk/7p1/9/9/9/9/9/9/K7L w 2R2B4G4S4N2L17P 1".to_owned(),
            "8k/7R1/9/9/9/9/9/9/K7L w R2B4G4S4N3L18P 1".to_owned(),
        ];
        for sfen in positions {
            let mut position: Position = sfen.parse().expect("a legal position");
            for depth in 0..=3 {
                let counted = super::super::count(&mut position, depth);
                assert_eq!(count(&position, depth), counted, "{sfen} at {depth}");
                assert_eq!(nodes(&position, depth), counted.nodes, "{sfen} at {depth}");
                let divided = super::super::divide(&mut position, depth);
                assert_eq!(divide(&position, depth), divided, "{sfen} at {depth}");
            }
        }
    }
}
