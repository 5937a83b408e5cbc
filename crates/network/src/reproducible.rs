//! Tests whether the result for a position has the same bits in any batch and slot.

use std::sync::atomic::AtomicBool;

use kyokumen_shogi::Position;
use kyokumen_shogi::random_play::RandomPlay;

use crate::NetworkError;
use crate::batch::{Batch, Evaluator};

/// Whether results depend only on the position. Some positions are evaluated in a full batch of this capacity, in
/// reverse order, and one of them alone. The results must have the same bits each time.
///
/// An evaluator on one CPU thread usually passes. A device with different kernels for different batch sizes may not.
///
/// # Errors
///
/// The errors of [`Evaluator::evaluate`].
pub fn is_reproducible(
    evaluator: &mut dyn Evaluator,
    capacity: usize,
    cancel: &AtomicBool,
) -> Result<bool, NetworkError> {
    let mut batch = Batch::new(capacity, evaluator.planes());
    let some: Vec<Position> = positions().take(capacity).collect();
    let mut evaluated_bits = |positions: &[Position]| {
        batch.clear();
        for position in positions {
            batch.push(position, &position.legal_moves());
        }
        evaluator.evaluate(&mut batch, cancel)?;
        let bits = |slot| {
            let policy = batch.policy(slot).iter().map(|p| p.to_bits());
            policy.chain([batch.value(slot).to_bits()]).collect::<Vec<u32>>()
        };
        Ok((0..positions.len()).map(bits).collect::<Vec<_>>())
    };
    let together = evaluated_bits(&some)?;
    let mut reversed: Vec<Position> = some.iter().rev().cloned().collect();
    let mut backwards = evaluated_bits(&reversed)?;
    backwards.reverse();
    reversed.truncate(1);
    let alone = evaluated_bits(&reversed)?;
    Ok(together == backwards && together.last() == alone.first())
}

/// Positions from random games of different lengths.
fn positions() -> impl Iterator<Item = Position> {
    RandomPlay::new(1, 150).map(|game| {
        let mut position = Position::start();
        for &m in &game.moves[..game.moves.len() * 2 / 3] {
            position.make(m);
        }
        position
    })
}
