//! Evaluators without a network, for tests and benchmarks.

use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use kyokumen_game::random::SplitMix64;

use crate::NetworkError;
use crate::batch::{Batch, Evaluator, softmax};
use crate::features::Input2;

/// Gives all moves the same probability and every position the value 0.5.
#[derive(Clone, Copy, Debug, Default)]
pub struct Uniform {
    /// Planes that are written but not used, to measure their cost.
    pub planes: Option<Input2>,
}

impl Evaluator for Uniform {
    fn planes(&self) -> Option<Input2> {
        self.planes
    }

    fn evaluate(&mut self, batch: &mut Batch, _: &AtomicBool) -> Result<(), NetworkError> {
        batch.start_answers();
        for slot in 0..batch.len() {
            let moves = batch.labels(slot).len();
            batch.set(slot, &vec![1.0 / moves as f32; moves], 0.5);
        }
        Ok(())
    }
}

/// Gives pseudo-random results that depend only on the position. They are the same on every machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hashed {
    /// Different seeds give different results.
    pub seed: u64,
}

impl Evaluator for Hashed {
    fn planes(&self) -> Option<Input2> {
        None
    }

    fn evaluate(&mut self, batch: &mut Batch, _: &AtomicBool) -> Result<(), NetworkError> {
        batch.start_answers();
        for slot in 0..batch.len() {
            let seed = batch.key(slot) ^ SplitMix64::nth_bits(self.seed, 0);
            let logit = |&label: &u16| 4.0 * unit(SplitMix64::nth_bits(seed, 1 + u64::from(label)));
            let mut policy: Vec<f32> = batch.labels(slot).iter().map(logit).collect();
            softmax(&mut policy, 1.0);
            batch.set(slot, &policy, unit(SplitMix64::nth_bits(seed, 0)));
        }
        Ok(())
    }
}

/// Random bits as a number from 0 to 1, excluding 1.
fn unit(bits: u64) -> f32 {
    (bits >> 40) as f32 / (1_u32 << 24) as f32
}

/// Delays another evaluator, to simulate a device of a given speed.
///
/// The time applies to a batch of any size: a device takes as long for few positions as for many.
#[derive(Clone, Copy, Debug)]
pub struct Delayed<E> {
    inner: E,
    batch_time: Duration,
}

/// Maximum delay of a sleeping thread when it wakes up.
const LATENESS: Duration = Duration::from_millis(2);

impl<E> Delayed<E> {
    /// `batch_time` is the minimum time of a batch.
    pub const fn new(inner: E, batch_time: Duration) -> Self {
        Self { inner, batch_time }
    }
}

impl<E: Evaluator> Evaluator for Delayed<E> {
    fn planes(&self) -> Option<Input2> {
        self.inner.planes()
    }

    fn evaluate(&mut self, batch: &mut Batch, cancel: &AtomicBool) -> Result<(), NetworkError> {
        let end = Instant::now() + self.batch_time;
        self.inner.evaluate(batch, cancel)?;
        // A sleeping thread may wake up a millisecond late, so the rest is a busy wait. Drivers of devices poll, too.
        thread::sleep(end.saturating_duration_since(Instant::now() + LATENESS));
        while Instant::now() < end {
            thread::yield_now();
        }
        Ok(())
    }
}
