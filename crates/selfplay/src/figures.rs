//! How a run is going.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Counts of all threads of a run.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) simulations: AtomicU64,
    pub(crate) positions: AtomicU64,
    pub(crate) batches: AtomicU64,
    pub(crate) evaluations: AtomicU64,
    pub(crate) slots: AtomicU64,
    pub(crate) evaluating_ns: AtomicU64,
    pub(crate) waiting_ns: AtomicU64,
    pub(crate) running_ns: AtomicU64,
}

/// How a run is going, all threads together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Figures {
    /// Simulations.
    pub simulations: u64,
    /// Positions that were searched and a move of which was played.
    pub positions: u64,
    /// Batches that were evaluated.
    pub batches: u64,
    /// Positions in them.
    pub evaluations: u64,
    /// Positions that would have had room in them.
    pub slots: u64,
    /// Time in evaluators.
    pub evaluating: Duration,
    /// Time in which threads waited for an evaluator that another one had.
    pub waiting: Duration,
    /// Time of all threads that search.
    pub running: Duration,
}

impl Counters {
    pub(crate) fn add(to: &AtomicU64, more: u64) {
        to.fetch_add(more, Ordering::Relaxed);
    }

    pub(crate) fn add_time(to: &AtomicU64, more: Duration) {
        Self::add(to, u64::try_from(more.as_nanos()).unwrap_or(u64::MAX));
    }

    pub(crate) fn figures(&self) -> Figures {
        let get = |of: &AtomicU64| of.load(Ordering::Relaxed);
        let time = |of: &AtomicU64| Duration::from_nanos(get(of));
        Figures {
            simulations: get(&self.simulations),
            positions: get(&self.positions),
            batches: get(&self.batches),
            evaluations: get(&self.evaluations),
            slots: get(&self.slots),
            evaluating: time(&self.evaluating_ns),
            waiting: time(&self.waiting_ns),
            running: time(&self.running_ns),
        }
    }
}

impl Figures {
    /// How full the batches were, from 0 to 1.
    pub fn batch_fill(&self) -> f64 {
        self.evaluations as f64 / self.slots.max(1) as f64
    }
}
