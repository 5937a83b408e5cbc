//! A cache of the children of open nodes, so that moves are generated and get their first numbers once and not at every
//! visit.
//!
//! A full cache is cleared as a whole. Missing children are generated again.

use std::collections::TryReserveError;

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
}

/// A cache of bounded size.
pub(super) struct ChildCache<H, C> {
    nodes: Vec<CachedNode<H>>,
    children: Vec<C>,
}

/// Expected average of children per node. It decides how the memory is divided.
const CHILDREN_PER_NODE: usize = 4;

impl<H: Copy + Eq, C: Copy> ChildCache<H, C> {
    /// A cache of about `bytes`, with space for at least 256 nodes.
    pub(super) fn new(bytes: usize) -> Result<Self, TryReserveError> {
        let node_bytes = size_of::<CachedNode<H>>() + CHILDREN_PER_NODE * size_of::<C>();
        let count = (bytes / node_bytes).clamp(256, NO_HANDLE as usize / CHILDREN_PER_NODE);
        let (mut nodes, mut children) = (Vec::new(), Vec::new());
        nodes.try_reserve_exact(count)?;
        children.try_reserve_exact(count * CHILDREN_PER_NODE)?;
        Ok(Self { nodes, children })
    }

    pub(super) fn clear(&mut self) {
        self.nodes.clear();
        self.children.clear();
    }

    fn index(&self, handle: CacheHandle, key: u64, hand: H) -> Option<usize> {
        let index = handle as usize;
        let node = self.nodes.get(index)?;
        (node.key == key && node.hand == hand).then_some(index)
    }

    /// The children of a node, and the plies that were left when they were inserted. `None` if they are not in the
    /// cache.
    #[inline]
    pub(super) fn find(&self, handle: CacheHandle, key: u64, hand: H) -> Option<(&[C], u16)> {
        let node = &self.nodes[self.index(handle, key, hand)?];
        let first = node.first as usize;
        Some((&self.children[first..first + usize::from(node.count)], node.plies_left))
    }

    /// Inserts the children of a node and returns their handle. If `handle` is still valid for the node and the number
    /// of children is the same, they replace the old ones.
    #[inline]
    pub(super) fn insert(
        &mut self,
        handle: CacheHandle,
        key: u64,
        hand: H,
        plies_left: u16,
        children: &[C],
    ) -> CacheHandle {
        let Ok(count) = u16::try_from(children.len()) else { return NO_HANDLE };
        if let Some(index) = self.index(handle, key, hand)
            && self.nodes[index].count == count
        {
            self.nodes[index].plies_left = plies_left;
            let first = self.nodes[index].first as usize;
            self.children[first..first + children.len()].copy_from_slice(children);
            return handle;
        }
        let is_full = self.nodes.len() == self.nodes.capacity()
            || self.children.len() + children.len() > self.children.capacity();
        if is_full {
            self.clear();
        }
        if children.len() > self.children.capacity() {
            return NO_HANDLE;
        }
        let (Ok(handle), Ok(first)) =
            (CacheHandle::try_from(self.nodes.len()), u32::try_from(self.children.len()))
        else {
            return NO_HANDLE;
        };
        self.nodes.push(CachedNode { key, hand, plies_left, count, first });
        self.children.extend_from_slice(children);
        handle
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_are_found_until_the_cache_is_full() {
        let mut child_cache: ChildCache<u32, u64> = ChildCache::new(0).unwrap();
        let handle = child_cache.insert(NO_HANDLE, 7, 1, 20, &[1, 2, 3]);
        assert_eq!(child_cache.find(handle, 7, 1), Some((&[1, 2, 3][..], 20)));
        assert_eq!(child_cache.find(handle, 7, 2), None, "another hand");
        assert_eq!(child_cache.find(NO_HANDLE, 7, 1), None);
        assert_eq!(child_cache.insert(handle, 7, 1, 18, &[4, 5, 6]), handle);
        assert_eq!(child_cache.find(handle, 7, 1), Some((&[4, 5, 6][..], 18)));
        for key in 8..400 {
            child_cache.insert(NO_HANDLE, key, 1, 20, &[key; 4]);
        }
        assert_eq!(child_cache.find(handle, 7, 1), None, "the cache was cleared");
    }
}
