//! The path from the root to the current node, and which disproofs depend on it.
//!
//! A position that repeats an ancestor fails for the attacker on this path only; which disproofs may be
//! kept nevertheless follows Kishimoto and Müller, *A general solution to the graph history interaction
//! problem* (2004).

use std::mem;

use kyokumen_game::Hand;

/// The ancestor nearest the root on which a disproof leans because a position would repeat.
pub(super) type PathDependency = u16;
/// A disproof that holds whatever the path.
pub(super) const PATH_INDEPENDENT: PathDependency = PathDependency::MAX;

/// A disproof that depends only on its own node, or on no ancestor, is independent of the path.
pub(super) fn dependency_above(ply: u16, path_dependency: PathDependency) -> PathDependency {
    if path_dependency >= ply { PATH_INDEPENDENT } else { path_dependency }
}

const PATH_BUCKETS: usize = 1 << 12;

/// No ancestor, in the place of a ply.
const NOBODY: u16 = u16::MAX;

/// The positions from the root to the current node.
pub(super) struct Path<H> {
    nodes: Vec<PathNode<H>>,
    /// The last ancestor of those with the same low bits of the key: most positions are found new by a look at it.
    last: Box<[u16; PATH_BUCKETS]>,
}

struct PathNode<H> {
    key: u64,
    hand: H,
    /// The ancestor before this one with the same low bits of the key.
    before: u16,
}

impl<H: Hand> Path<H> {
    pub(super) fn new() -> Self {
        Self { nodes: Vec::new(), last: Box::new([NOBODY; PATH_BUCKETS]) }
    }

    pub(super) fn clear(&mut self) {
        while !self.nodes.is_empty() {
            self.pop();
        }
    }

    pub(super) fn push(&mut self, key: u64, hand: H) {
        let ply = self.plies();
        let before = mem::replace(&mut self.last[bucket(key)], ply);
        self.nodes.push(PathNode { key, hand, before });
    }

    pub(super) fn pop(&mut self) {
        if let Some(PathNode { key, before, .. }) = self.nodes.pop() {
            self.last[bucket(key)] = before;
        }
    }

    /// How many positions there are.
    pub(super) fn plies(&self) -> u16 {
        u16::try_from(self.nodes.len()).unwrap_or(NOBODY)
    }

    /// The position at this ply.
    pub(super) fn node(&self, ply: u16) -> (u64, H) {
        let node = &self.nodes[usize::from(ply)];
        (node.key, node.hand)
    }

    /// The ancestor nearest the root with this board and at least this hand. A shortest proof never
    /// comes back to a board without having gained, so the attacker loses nothing by not trying.
    #[inline]
    pub(super) fn repeats(&self, key: u64, hand: H) -> Option<PathDependency> {
        let mut nearest_the_root = None;
        let mut ply = self.last[bucket(key)];
        while let Some(node) = self.nodes.get(usize::from(ply)) {
            if node.key == key && node.hand.dominates(hand) {
                nearest_the_root = Some(ply);
            }
            ply = node.before;
        }
        nearest_the_root
    }
}

const fn bucket(key: u64) -> usize {
    key as usize & (PATH_BUCKETS - 1)
}
