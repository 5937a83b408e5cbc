//! Observing a search while it runs: requests to stop, and its progress.
//!
//! A search asks and tells every thousand nodes or so; neither changes its answer unless it is stopped.

use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// An observer of a running search.
///
/// A bare [`AtomicBool`] does: a search gives up soon after it is set.
pub trait SearchObserver<M> {
    /// Whether the search should give up.
    fn wants_stop(&self) -> bool;

    /// The search has entered so many nodes and stands at the end of this line of moves from its root.
    fn progress(&self, _nodes: u64, _line: &[M]) {}

    /// So many of a thousand slots of the table are filled; said before each [`Self::progress`].
    fn table_filled(&self, _permille: u16) {}

    /// From now on, or no longer, the length of the mate that was found is measured: with searches of their own, whose
    /// progress is told as well.
    fn measures(&self, _is_measuring: bool) {}
}

impl<M> SearchObserver<M> for AtomicBool {
    fn wants_stop(&self) -> bool {
        self.load(Ordering::Relaxed)
    }
}

/// Controls one search from another thread: stops it, and reads its progress.
///
/// A search that was stopped stays so: each search takes a new one.
#[derive(Debug)]
pub struct SearchControl<M> {
    stop: AtomicBool,
    is_measuring: AtomicBool,
    nodes: AtomicU64,
    table_permille: AtomicU16,
    lines: Mutex<Lines<M>>,
}

#[derive(Clone, Debug)]
struct Lines<M> {
    now: Vec<M>,
    deepest_plies: usize,
}

/// How far a search has got.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SearchProgress<M> {
    /// Nodes entered, see [`NODE_DEFINITION`](super::NODE_DEFINITION); some hundreds may be missing.
    pub nodes: u64,
    /// Length of the longest line that was told of, in plies.
    pub depth_plies: usize,
    /// Filled slots of the table, of a thousand that there may be.
    pub table_permille: u16,
    /// From the root to the position that was being searched: at that moment the line which decides.
    pub line: Vec<M>,
    /// Whether the length of a mate is being measured; the other figures are those of the search that found it.
    pub is_measuring: bool,
}

impl<M: Copy> SearchControl<M> {
    /// For a search that is to begin.
    pub const fn new() -> Self {
        let lines = Lines { now: Vec::new(), deepest_plies: 0 };
        Self {
            stop: AtomicBool::new(false),
            is_measuring: AtomicBool::new(false),
            nodes: AtomicU64::new(0),
            table_permille: AtomicU16::new(0),
            lines: Mutex::new(lines),
        }
    }

    /// Has the search give up soon, with [`Stop::Cancelled`](super::Stop::Cancelled) unless it decides
    /// before it notices.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// How far the search has got.
    pub fn figures(&self) -> SearchProgress<M> {
        let Lines { now: line, deepest_plies: depth_plies } = self.lines().clone();
        let nodes = self.nodes.load(Ordering::Relaxed);
        let table_permille = self.table_permille.load(Ordering::Relaxed);
        let is_measuring = self.is_measuring.load(Ordering::Relaxed);
        SearchProgress { nodes, depth_plies, table_permille, line, is_measuring }
    }

    /// Nothing that holds the lock leaves them half written.
    fn lines(&self) -> MutexGuard<'_, Lines<M>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<M: Copy> Default for SearchControl<M> {
    fn default() -> Self {
        Self::new()
    }
}

impl<M: Copy> SearchObserver<M> for SearchControl<M> {
    fn wants_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn measures(&self, is_measuring: bool) {
        self.is_measuring.store(is_measuring, Ordering::Relaxed);
    }

    fn table_filled(&self, permille: u16) {
        if !self.is_measuring.load(Ordering::Relaxed) {
            self.table_permille.store(permille, Ordering::Relaxed);
        }
    }

    fn progress(&self, nodes: u64, line: &[M]) {
        if self.is_measuring.load(Ordering::Relaxed) {
            return;
        }
        self.nodes.store(nodes, Ordering::Relaxed);
        let mut lines = self.lines();
        lines.now.clear();
        lines.now.extend_from_slice(line);
        lines.deepest_plies = lines.deepest_plies.max(line.len());
    }
}
