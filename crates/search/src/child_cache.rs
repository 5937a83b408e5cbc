//! A cache of the children of open nodes, so that moves are generated and get their first numbers once and not at every
//! visit.
//!
//! A full cache drops about half: the nodes not visited since the other half began to fill. Missing children are
//! generated again.

use std::collections::TryReserveError;

use super::huge_pages;

/// Refers to the children of a node. It may be out of date.
pub(super) type CacheHandle = u32;
/// The node has no cached children.
pub(super) const NO_HANDLE: CacheHandle = CacheHandle::MAX;

struct CachedNode<H> {
    key: u64,
    hand: H,
    /// Plies that were left below the node. Disproofs by depth depend on them.
    plies_left: u16,
    /// Number of children.
    count: u16,
    /// Index of the first child.
    first: u32,
    /// Board key and hand of the node from which this one was first reached.
    parent: (u64, H),
}

/// A cache of bounded size.
///
/// Children are inserted into one half, and moved there when they are inserted again. When this half is full, the other
/// one is cleared and takes its place.
pub(super) struct ChildCache<H, C> {
    halves: [Half<H, C>; 2],
    /// Index of the half into which children are inserted.
    current: usize,
}

struct Half<H, C> {
    nodes: Vec<CachedNode<H>>,
    children: Vec<C>,
}

/// Expected average of children per node. It decides how the memory is divided.
const CHILDREN_PER_NODE: usize = 4;
/// Handles of the second half have this bit. The others are the index of a node in its half.
const SECOND_HALF: CacheHandle = 1 << 31;
/// Largest number of nodes in a half. Indices of nodes stay below [`SECOND_HALF`], and indices of children fit into 32
/// bits.
const MAX_NODES: usize = u32::MAX as usize / CHILDREN_PER_NODE;

impl<H, C> Half<H, C> {
    fn with_capacity(nodes_capacity: usize) -> Result<Self, TryReserveError> {
        let (mut nodes, mut children) = (Vec::new(), Vec::new());
        nodes.try_reserve_exact(nodes_capacity)?;
        children.try_reserve_exact(nodes_capacity * CHILDREN_PER_NODE)?;
        huge_pages::request(&mut nodes);
        huge_pages::request(&mut children);
        Ok(Self { nodes, children })
    }

    fn clear(&mut self) {
        self.nodes.clear();
        self.children.clear();
    }

    fn has_room_for(&self, children: usize) -> bool {
        self.nodes.len() < self.nodes.capacity()
            && self.children.len() + children <= self.children.capacity()
    }
}

impl<H: Copy + Eq, C: Copy> ChildCache<H, C> {
    /// A cache of about `bytes`, with space for at least 256 nodes.
    pub(super) fn new(bytes: usize) -> Result<Self, TryReserveError> {
        let node_bytes = size_of::<CachedNode<H>>() + CHILDREN_PER_NODE * size_of::<C>();
        let nodes = (bytes / 2 / node_bytes).clamp(128, MAX_NODES);
        Ok(Self { halves: [Half::with_capacity(nodes)?, Half::with_capacity(nodes)?], current: 0 })
    }

    pub(super) fn clear(&mut self) {
        self.halves.iter_mut().for_each(Half::clear);
    }

    /// The half of a node and its index there.
    #[inline]
    fn place(&self, handle: CacheHandle, key: u64, hand: H) -> Option<(usize, usize)> {
        let half = usize::from(handle >= SECOND_HALF);
        let index = (handle & !SECOND_HALF) as usize;
        let node = self.halves[half].nodes.get(index)?;
        (node.key == key && node.hand == hand).then_some((half, index))
    }

    /// The children of a node, and the plies that were left when they were inserted. `None` if they are not in the
    /// cache.
    #[inline]
    pub(super) fn find(&self, handle: CacheHandle, key: u64, hand: H) -> Option<(&[C], u16)> {
        let (half, index) = self.place(handle, key, hand)?;
        let Half { nodes, children } = &self.halves[half];
        let CachedNode { first, count, plies_left, .. } = nodes[index];
        let first = first as usize;
        Some((&children[first..first + usize::from(count)], plies_left))
    }

    /// Board key and hand of the node from which this one was first reached. `None` if the node is not in the cache.
    #[inline]
    pub(super) fn parent(&self, handle: CacheHandle, key: u64, hand: H) -> Option<(u64, H)> {
        let (half, index) = self.place(handle, key, hand)?;
        Some(self.halves[half].nodes[index].parent)
    }

    /// Inserts the children of a node and returns their handle. `parent` is the node from which it was reached; the
    /// cache keeps the first one. If `handle` is still valid for the node and the number of children is the same, they
    /// may replace the old ones.
    #[inline]
    pub(super) fn insert(
        &mut self,
        handle: CacheHandle,
        (key, hand): (u64, H),
        plies_left: u16,
        parent: (u64, H),
        children: &[C],
    ) -> CacheHandle {
        let Ok(count) = u16::try_from(children.len()) else { return NO_HANDLE };
        let mut parent = parent;
        if let Some((half, index)) = self.place(handle, key, hand) {
            let Half { nodes, children: cached } = &mut self.halves[half];
            let node = &mut nodes[index];
            if half == self.current && node.count == count {
                node.plies_left = plies_left;
                let first = node.first as usize;
                cached[first..first + children.len()].copy_from_slice(children);
                return handle;
            }
            parent = node.parent;
        }
        if !self.halves[self.current].has_room_for(children.len()) {
            self.current = 1 - self.current;
            self.halves[self.current].clear();
        }
        let half = &mut self.halves[self.current];
        if children.len() > half.children.capacity() {
            return NO_HANDLE;
        }
        let (Ok(handle), Ok(first)) =
            (CacheHandle::try_from(half.nodes.len()), u32::try_from(half.children.len()))
        else {
            return NO_HANDLE;
        };
        half.nodes.push(CachedNode { key, hand, plies_left, count, first, parent });
        half.children.extend_from_slice(children);
        if self.current == 0 { handle } else { handle | SECOND_HALF }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_that_are_inserted_again_stay_in_the_cache() {
        let mut child_cache: ChildCache<u32, u64> = ChildCache::new(0).unwrap();
        let mut kept = child_cache.insert(NO_HANDLE, (7, 1), 20, (6, 2), &[1, 2, 3]);
        let dropped = child_cache.insert(NO_HANDLE, (8, 1), 20, (7, 1), &[9]);
        assert_eq!(child_cache.find(kept, 7, 1), Some((&[1, 2, 3][..], 20)));
        assert_eq!(child_cache.find(kept, 7, 2), None, "another hand");
        assert_eq!(child_cache.find(NO_HANDLE, 7, 1), None);
        assert_eq!(child_cache.insert(kept, (7, 1), 18, (5, 1), &[4, 5, 6]), kept);
        assert_eq!(child_cache.find(kept, 7, 1), Some((&[4, 5, 6][..], 18)));
        for key in 9..1_000 {
            child_cache.insert(NO_HANDLE, (key, 1), 20, (8, 1), &[key; 4]);
            kept = child_cache.insert(kept, (7, 1), 18, (4, 1), &[4, 5, 6]);
            assert_eq!(child_cache.find(kept, 7, 1), Some((&[4, 5, 6][..], 18)));
        }
        assert_eq!(child_cache.parent(kept, 7, 1), Some((6, 2)), "the first parent");
        assert_eq!(child_cache.find(dropped, 8, 1), None);
        assert_eq!(child_cache.parent(dropped, 8, 1), None);
    }
}
