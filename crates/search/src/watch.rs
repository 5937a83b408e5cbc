//! Looking on while a search runs: the wish that it stop, and how far it has got.
//!
//! A search asks and tells every thousand nodes or so; neither changes its answer unless it is stopped.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Somebody who looks on while a search runs.
///
/// A bare [`AtomicBool`] does: a search gives up soon after it is set.
pub trait Watch<M> {
    /// Whether the search should give up.
    fn wants_stop(&self) -> bool;

    /// The search has entered so many nodes and stands at the end of this line of moves from its root.
    fn progress(&self, _nodes: u64, _line: &[M]) {}
}

impl<M> Watch<M> for AtomicBool {
    fn wants_stop(&self) -> bool {
        self.load(Ordering::Relaxed)
    }
}

/// A hand on one search from another thread: to stop it, and to read how far it has got.
///
/// A search that was stopped stays so: each search takes a new one.
#[derive(Debug)]
pub struct Control<M> {
    stop: AtomicBool,
    nodes: AtomicU64,
    lines: Mutex<Lines<M>>,
}

#[derive(Clone, Debug)]
struct Lines<M> {
    now: Vec<M>,
    deepest_plies: usize,
}

/// How far a search has got.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Figures<M> {
    /// Nodes entered, see [`NODE_DEFINITION`](super::NODE_DEFINITION); some hundreds may be missing.
    pub nodes: u64,
    /// Length of the longest line that was told of, in plies.
    pub depth_plies: usize,
    /// From the root to the position that was being searched: at that moment the line which decides.
    pub line: Vec<M>,
}

impl<M: Copy> Control<M> {
    /// For a search that is to begin.
    pub const fn new() -> Self {
        let lines = Lines { now: Vec::new(), deepest_plies: 0 };
        Self { stop: AtomicBool::new(false), nodes: AtomicU64::new(0), lines: Mutex::new(lines) }
    }

    /// Has the search give up soon, with [`Stop::Cancelled`](super::Stop::Cancelled) unless it decides
    /// before it notices.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// How far the search has got.
    pub fn figures(&self) -> Figures<M> {
        let Lines { now: line, deepest_plies: depth_plies } = self.lines().clone();
        Figures { nodes: self.nodes.load(Ordering::Relaxed), depth_plies, line }
    }

    /// Nothing that holds the lock leaves them half written.
    fn lines(&self) -> MutexGuard<'_, Lines<M>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<M: Copy> Default for Control<M> {
    fn default() -> Self {
        Self::new()
    }
}

impl<M: Copy> Watch<M> for Control<M> {
    fn wants_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn progress(&self, nodes: u64, line: &[M]) {
        self.nodes.store(nodes, Ordering::Relaxed);
        let mut lines = self.lines();
        lines.now.clear();
        lines.now.extend_from_slice(line);
        lines.deepest_plies = lines.deepest_plies.max(line.len());
    }
}
