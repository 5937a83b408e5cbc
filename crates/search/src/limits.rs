//! Limits of a search: depth, nodes, threads and memory.

use std::fmt;
use std::num::NonZero;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Largest depth of a search and largest length of a proof, in plies. Longer proofs are not checked.
pub const MAX_PLIES: u16 = 4096;

/// Stack size of a search thread, in bytes. Search and proof check recurse once for each ply.
pub const STACK_BYTES: usize = 16 << 20;

/// Limits of one search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Maximum depth below the root in plies, at most [`MAX_PLIES`].
    pub depth_plies: u16,
    /// Maximum number of nodes, see [`NODE_DEFINITION`](crate::NODE_DEFINITION).
    pub nodes: u64,
    /// What to do if the nodes will probably not be enough.
    pub when_hopeless: WhenHopeless,
}

impl Limits {
    /// No limits, except that the depth is at most [`MAX_PLIES`].
    pub const NONE: Self =
        Self { depth_plies: MAX_PLIES, nodes: u64::MAX, when_hopeless: WhenHopeless::GoOn };

    /// Limits of a search that gives up if it is hopeless.
    pub const fn new(depth_plies: u16, nodes: u64) -> Self {
        Self { depth_plies, nodes, when_hopeless: WhenHopeless::GiveUp }
    }

    /// The node limit of a search and the check of its proof together. The check searches again what the table has
    /// lost.
    pub(super) const fn nodes_with_check(self) -> u64 {
        self.nodes.saturating_mul(2)
    }
}

/// What a search does if its proof and disproof numbers are so large that the node limit will probably not be enough.
///
/// A bulk run spends most of its time on positions that reach the limit. Giving up on them early and allowing the
/// others more nodes decides more positions in the same time (`docs/search-log.md` has the figures). A single problem
/// is better searched to the end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhenHopeless {
    /// Stops with [`Stop::Nodes`](crate::Stop::Nodes).
    #[default]
    GiveUp,
    /// Continues to the limit.
    GoOn,
}

/// The number of threads that search one position.
///
/// ```
/// use std::num::NonZero;
/// use kyokumen_search::Threads;
///
/// let threads = Threads::new(NonZero::new(8).unwrap());
/// assert_eq!(Threads::ONE.count.get(), 1);
/// assert!(threads.nodes_alone > 0, "a short search uses one thread");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Threads {
    /// Number of threads, including the calling one.
    pub count: NonZero<usize>,
    /// Approximate number of nodes that the calling thread searches before the others join. A search that ends earlier
    /// is deterministic: position, limits and table size determine the result.
    pub nodes_alone: u64,
}

/// Default of [`Threads::nodes_alone`]. The search of this many nodes takes a few milliseconds.
const NODES_ALONE: u64 = 1 << 14;

impl Threads {
    /// One thread. Position, limits and table size determine the result.
    pub const ONE: Self = Self::new(NonZero::<usize>::MIN);

    /// This many threads. Most positions are decided before the others join.
    pub const fn new(count: NonZero<usize>) -> Self {
        Self { count, nodes_alone: NODES_ALONE }
    }
}

/// Maximum memory of a search's table. The smallest table takes some tens of KiB.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct TableSize {
    bytes: usize,
}

impl TableSize {
    /// A size in MiB. Sizes beyond `usize` bytes are capped.
    pub const fn from_mib(mib: usize) -> Self {
        Self { bytes: mib.saturating_mul(1 << 20) }
    }

    pub(super) const fn from_bytes(bytes: usize) -> Self {
        Self { bytes }
    }

    /// The size in bytes.
    pub const fn bytes(self) -> usize {
        self.bytes
    }

    /// The part for the transposition table.
    pub(super) const fn entries_bytes(self) -> usize {
        self.bytes - self.children_bytes()
    }

    /// The part for the children of open nodes. It is the larger one, because a node takes 32 bytes in the table, but
    /// its children about 160.
    pub(super) const fn children_bytes(self) -> usize {
        self.bytes / 3 * 2
    }
}

impl fmt::Display for TableSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} MiB", self.bytes >> 20)
    }
}

/// A table could not be allocated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("not enough memory for a table of {0}")]
pub struct TableError(pub TableSize);
