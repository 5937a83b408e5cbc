//! Does an evaluator give the same bits for a position wherever it stands?

use std::sync::atomic::AtomicBool;

use kyokumen_shogi::Position;
use kyokumen_shogi::random_play::RandomPlay;

use crate::NetworkError;
use crate::batch::{Batch, Evaluator};

/// Whether answers depend on the position only: some are asked in a full batch of this capacity, alone, and in the
/// opposite order, and must be the same to the bit each time.
///
/// What runs on one thread of a processor usually is; devices with kernels of their own for each size of a batch may
/// not be.
///
/// # Errors
///
/// As [`Evaluator::evaluate`].
pub fn is_reproducible(
    evaluator: &mut dyn Evaluator,
    capacity: usize,
    cancel: &AtomicBool,
) -> Result<bool, NetworkError> {
    let mut batch = Batch::new(capacity, evaluator.planes());
    let some: Vec<Position> = positions().take(capacity).collect();
    let mut ask = |positions: &[Position]| {
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
    let together = ask(&some)?;
    let mut reversed: Vec<Position> = some.iter().rev().cloned().collect();
    let mut backwards = ask(&reversed)?;
    backwards.reverse();
    reversed.truncate(1);
    let alone = ask(&reversed)?;
    Ok(together == backwards && together.last() == alone.first())
}

/// Positions of random play, of all phases of games.
fn positions() -> impl Iterator<Item = Position> {
    RandomPlay::new(1, 150).map(|game| {
        let mut position = Position::start();
        for &m in &game.moves[..game.moves.len() * 2 / 3] {
            position.make(m);
        }
        position
    })
}
