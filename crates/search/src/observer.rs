//! Observers of a running search: they read its progress and can stop it.
//!
//! A search calls its observer about every thousand nodes. An observer that does not stop the search does not change
//! its result.

use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// An observer of a running search.
///
/// A plain [`AtomicBool`] is an observer: the search stops soon after it is set.
pub trait SearchObserver<M> {
    /// Whether the search must stop.
    fn wants_stop(&self) -> bool;

    /// Reports the nodes entered and the line from the root to the current position.
    fn progress(&self, _nodes: u64, _line: &[M]) {}

    /// Reports the filled slots of the table in per mille. Called before each [`Self::progress`].
    fn table_filled(&self, _permille: u16) {}

    /// Reports the start (`true`) or end (`false`) of the measurement of a mate's length. The measurement includes
    /// searches, which report their progress as well.
    fn measures(&self, _is_measuring: bool) {}
}

impl<M> SearchObserver<M> for AtomicBool {
    fn wants_stop(&self) -> bool {
        self.load(Ordering::Relaxed)
    }
}

/// Controls one search from another thread: stops it and reads its progress.
///
/// Use a new control for each search. A stop request cannot be withdrawn.
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
    current: Vec<M>,
    deepest_plies: usize,
}

/// The progress of a search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SearchProgress<M> {
    /// Nodes entered, see [`NODE_DEFINITION`](super::NODE_DEFINITION). Up to about a thousand may be missing.
    pub nodes: u64,
    /// Length of the longest reported line, in plies.
    pub depth_plies: usize,
    /// Filled slots of the table in per mille of its largest size.
    pub table_permille: u16,
    /// The line from the root to the position that was being searched: the main line at that moment.
    pub line: Vec<M>,
    /// Whether the length of a mate is being measured. The other fields then describe the search that found the mate.
    pub is_measuring: bool,
}

impl<M: Copy> SearchControl<M> {
    /// A control for a search that has not started.
    pub const fn new() -> Self {
        let lines = Lines { current: Vec::new(), deepest_plies: 0 };
        Self {
            stop: AtomicBool::new(false),
            is_measuring: AtomicBool::new(false),
            nodes: AtomicU64::new(0),
            table_permille: AtomicU16::new(0),
            lines: Mutex::new(lines),
        }
    }

    /// Stops the search soon. Its verdict is unknown with [`Stop::Cancelled`](super::Stop::Cancelled), unless it ends
    /// before it polls the control.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// The progress of the search.
    pub fn figures(&self) -> SearchProgress<M> {
        let Lines { current: line, deepest_plies: depth_plies } = self.lines().clone();
        let nodes = self.nodes.load(Ordering::Relaxed);
        let table_permille = self.table_permille.load(Ordering::Relaxed);
        let is_measuring = self.is_measuring.load(Ordering::Relaxed);
        SearchProgress { nodes, depth_plies, table_permille, line, is_measuring }
    }

    /// A poisoned lock is harmless: a panic cannot leave the lines half written.
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
        lines.current.clear();
        lines.current.extend_from_slice(line);
        lines.deepest_plies = lines.deepest_plies.max(line.len());
    }
}
