//! Bounds of a search, and of the memory that it may take.

use std::fmt;
use std::num::NonZero;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Largest depth of a search and length of a proof, in plies; longer proofs are not checked.
pub const MAX_PLIES: u16 = 4096;

/// Stack of a thread that searches, in bytes: the search and the proof check descend a call a ply.
pub const STACK_BYTES: usize = 16 << 20;

/// Bounds of one search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// How many plies the search goes below the root, at most [`MAX_PLIES`].
    pub depth_plies: u16,
    /// How many positions it may enter.
    pub nodes: u64,
    /// What to do once it looks as if that is not enough.
    pub when_hopeless: WhenHopeless,
}

impl Limits {
    /// As deep as a proof is checked, and for as long as it takes.
    pub const NONE: Self =
        Self { depth_plies: MAX_PLIES, nodes: u64::MAX, when_hopeless: WhenHopeless::GoOn };

    /// Limits of a search that gives up when it looks hopeless.
    pub const fn new(depth_plies: u16, nodes: u64) -> Self {
        Self { depth_plies, nodes, when_hopeless: WhenHopeless::GiveUp }
    }

    /// The nodes of a search and of the check of its proof, which searches again what the table has lost.
    pub(super) const fn nodes_with_check(self) -> u64 {
        self.nodes.saturating_mul(2)
    }
}

/// What a search does once its proof and disproof numbers are larger than the node limit is likely to
/// bring down.
///
/// Most of the time of a bulk run goes into positions that hit the limit. Giving up on them early and
/// allowing the others more nodes decides more positions in the same time; `docs/search-log.md` has
/// the figures. A single problem is better searched to the end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhenHopeless {
    /// It ends, with [`Stop::Nodes`](crate::Stop::Nodes).
    #[default]
    GiveUp,
    /// It goes on to the limit.
    GoOn,
}

/// On how many threads one position is searched.
///
/// ```
/// use std::num::NonZero;
/// use kyokumen_search::Threads;
///
/// let threads = Threads::new(NonZero::new(8).unwrap());
/// assert_eq!(Threads::ONE.count.get(), 1);
/// assert!(threads.nodes_alone > 0, "a short search is that of one thread");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Threads {
    /// Threads, the calling one among them.
    pub count: NonZero<usize>,
    /// Nodes that one of them searches, about, before it calls the others. As long as it is alone the answer is a
    /// function of position, limits and table size.
    pub nodes_alone: u64,
}

/// Some milliseconds.
const NODES_ALONE: u64 = 1 << 14;

impl Threads {
    /// One: every answer is a function of position, limits and table size.
    pub const ONE: Self = Self::new(NonZero::<usize>::MIN);

    /// So many; most positions are decided before it would pay to call the others.
    pub const fn new(count: NonZero<usize>) -> Self {
        Self { count, nodes_alone: NODES_ALONE }
    }
}

/// How much memory the table of a search may take; a small one takes some tens of KiB all the same.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct TableSize {
    bytes: usize,
}

impl TableSize {
    /// So many MiB, as far as this machine can count.
    pub const fn from_mib(mib: usize) -> Self {
        Self { bytes: mib.saturating_mul(1 << 20) }
    }

    pub(super) const fn from_bytes(bytes: usize) -> Self {
        Self { bytes }
    }

    /// Bytes.
    pub const fn bytes(self) -> usize {
        self.bytes
    }
}

impl fmt::Display for TableSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} MiB", self.bytes >> 20)
    }
}

/// There is no memory for a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("there is no memory for a table of {0}")]
pub struct TableError(pub TableSize);
