//! Evaluators without a network, for tests and benchmarks.

use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use kyokumen_game::random::SplitMix64;

use crate::NetworkError;
use crate::batch::{Batch, Evaluator, softmax};
use crate::features::Input2;

/// All moves are equally probable, every position is even.
#[derive(Clone, Copy, Debug, Default)]
pub struct Uniform {
    /// Planes that are written nevertheless, for measuring what that takes.
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

/// Answers that look random and depend on the position only: the same on every machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hashed {
    /// Other seeds, other answers.
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

/// Random bits as a number from 0 to 1, without 1.
fn unit(bits: u64) -> f32 {
    (bits >> 40) as f32 / (1_u32 << 24) as f32
}

/// Another evaluator's answers, as late as a device of a given speed would have them.
///
/// The time is that of a batch, however many positions are in it: a device is as slow with few as with many.
#[derive(Clone, Copy, Debug)]
pub struct Delayed<E> {
    inner: E,
    batch_time: Duration,
}

/// How much too late a thread may wake.
const LATENESS: Duration = Duration::from_millis(2);

impl<E> Delayed<E> {
    /// `batch_time` is what a batch takes, at least.
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
        // A thread that sleeps wakes up to a millisecond late. Drivers of devices ask again and again, too.
        thread::sleep(end.saturating_duration_since(Instant::now() + LATENESS));
        while Instant::now() < end {
            thread::yield_now();
        }
        Ok(())
    }
}
