//! The path from the root to the current node, and which disproofs depend on it.
//!
//! A position that repeats an ancestor fails for the attacker on this path only; which disproofs may be
//! kept nevertheless follows Kishimoto and Müller, *A general solution to the graph history interaction
//! problem* (2004).

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

/// The positions from the root to the current node.
pub(super) struct Path<H> {
    nodes: Vec<(u64, H)>,
    /// Ancestors per low bits of the key: most positions are found new without a walk.
    counts: Box<[u8; PATH_BUCKETS]>,
    /// A count has been as high as it can be.
    is_saturated: bool,
}

impl<H: Hand> Path<H> {
    pub(super) fn new() -> Self {
        Self { nodes: Vec::new(), counts: Box::new([0; PATH_BUCKETS]), is_saturated: false }
    }

    pub(super) fn clear(&mut self) {
        while !self.nodes.is_empty() {
            self.pop();
        }
        if self.is_saturated {
            self.counts.fill(0);
            self.is_saturated = false;
        }
    }

    pub(super) fn push(&mut self, key: u64, hand: H) {
        self.nodes.push((key, hand));
        let count = &mut self.counts[bucket(key)];
        *count = count.saturating_add(1);
    }

    pub(super) fn pop(&mut self) {
        if let Some((key, _)) = self.nodes.pop() {
            let count = &mut self.counts[bucket(key)];
            // A saturated count stays: it only costs a walk.
            if *count < u8::MAX {
                *count -= 1;
            } else {
                self.is_saturated = true;
            }
        }
    }

    /// How many positions there are.
    pub(super) fn plies(&self) -> u16 {
        u16::try_from(self.nodes.len()).unwrap_or(u16::MAX)
    }

    /// The position at this ply.
    pub(super) fn node(&self, ply: u16) -> (u64, H) {
        self.nodes[usize::from(ply)]
    }

    /// The ancestor nearest the root with this board and at least this hand. A shortest proof never
    /// comes back to a board without having gained, so the attacker loses nothing by not trying.
    pub(super) fn repeats(&self, key: u64, hand: H) -> Option<PathDependency> {
        if self.counts[bucket(key)] == 0 {
            return None;
        }
        let index = self.nodes.iter().position(|&(k, h)| k == key && h.dominates(hand))?;
        PathDependency::try_from(index).ok()
    }
}

const fn bucket(key: u64) -> usize {
    key as usize & (PATH_BUCKETS - 1)
}
