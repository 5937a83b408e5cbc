//! Progress figures of a run.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Counts of all threads of a run.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) simulations: AtomicU64,
    pub(crate) positions: AtomicU64,
    pub(crate) games: AtomicU64,
    pub(crate) moves: AtomicU64,
    pub(crate) finished_games: AtomicU64,
    pub(crate) finished_moves: AtomicU64,
    pub(crate) batches: AtomicU64,
    pub(crate) evaluations: AtomicU64,
    pub(crate) cached: AtomicU64,
    pub(crate) slots: AtomicU64,
    pub(crate) evaluating_ns: AtomicU64,
    pub(crate) waiting_ns: AtomicU64,
    pub(crate) running_ns: AtomicU64,
}

/// Progress figures of a run, summed over all threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Figures {
    /// Number of simulations.
    pub simulations: u64,
    /// Number of searched positions where a move was played.
    pub positions: u64,
    /// Number of games that have begun.
    pub games: u64,
    /// Number of moves of these games.
    pub moves: u64,
    /// Number of games that have ended, including games that wait for an earlier one.
    pub finished_games: u64,
    /// Number of moves of the games that have ended.
    pub finished_moves: u64,
    /// Number of evaluated batches.
    pub batches: u64,
    /// Number of positions in these batches.
    pub evaluations: u64,
    /// Number of positions whose evaluation was in the cache.
    pub cached: u64,
    /// Maximum number of positions in these batches.
    pub slots: u64,
    /// Time spent in evaluators.
    pub evaluating: Duration,
    /// Time that threads waited for an evaluator while another thread used it.
    pub waiting: Duration,
    /// Time of all search threads.
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
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let time = |counter: &AtomicU64| Duration::from_nanos(get(counter));
        Figures {
            simulations: get(&self.simulations),
            positions: get(&self.positions),
            games: get(&self.games),
            moves: get(&self.moves),
            finished_games: get(&self.finished_games),
            finished_moves: get(&self.finished_moves),
            batches: get(&self.batches),
            evaluations: get(&self.evaluations),
            cached: get(&self.cached),
            slots: get(&self.slots),
            evaluating: time(&self.evaluating_ns),
            waiting: time(&self.waiting_ns),
            running: time(&self.running_ns),
        }
    }
}

impl Figures {
    /// Mean fill of the batches, from 0 to 1.
    pub fn batch_fill(&self) -> f64 {
        self.evaluations as f64 / self.slots.max(1) as f64
    }
}
