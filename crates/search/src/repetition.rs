//! Disproofs that depend on the path, kept for other paths whose last positions are the same.
//!
//! A disproof by repetition holds on every path that contains the ancestors to which its lines return. All of them lie
//! between the one nearest the root and the node. So it also holds on a path whose last positions are the same, in any
//! order. Without this cache, the search disproves a position again for each path, and cycles create too many paths.
//! After Kishimoto and Müller, *A general solution to the graph history interaction problem* (2004).

use kyokumen_game::Hand;

use super::path::{Path, PathDependency, position_hash};

/// Number of buckets. They take 256 KiB.
const BUCKETS: usize = 1 << 12;

/// Some disproofs, the newest first. A bucket takes one cache line of the processor.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct Bucket([Disproof; 4]);

#[derive(Clone, Copy, Default)]
struct Disproof {
    /// A hash of the position and of the last positions of the path. It does not depend on their order. Different
    /// contents have the same hash with probability 2⁻⁶⁴, as two boards have the same key.
    hash: u64,
    /// The upper half of the hash of the position alone. If it differs, the path need not be read.
    position: u32,
    /// Number of last positions of the path in `hash`. 0 if there is no disproof.
    plies: u16,
}

/// A cache of disproofs that depend on the path. It is inactive until [`Self::begin`].
pub(super) struct PathDisproofs {
    buckets: Vec<Bucket>,
}

impl PathDisproofs {
    pub(super) const fn new() -> Self {
        Self { buckets: Vec::new() }
    }

    /// Empties and deactivates the cache.
    pub(super) fn clear(&mut self) {
        self.buckets.clear();
    }

    /// Activates the cache, unless there is not enough memory.
    #[cold]
    pub(super) fn begin(&mut self) {
        if self.buckets.is_empty() && self.buckets.try_reserve_exact(BUCKETS).is_ok() {
            self.buckets.resize(BUCKETS, Bucket::default());
        }
    }

    /// The dependency of a kept disproof of the position reached by this path. `None` if there is none.
    #[inline]
    pub(super) fn find<H: Hand>(
        &self,
        path: &Path<H>,
        key: u64,
        hand: H,
    ) -> Option<PathDependency> {
        if self.buckets.is_empty() {
            return None;
        }
        let position = position_hash(key, hand);
        let holds = |disproof: &&Disproof| {
            let plies = disproof.plies;
            disproof.position == upper_half(position)
                && (1..=path.plies()).contains(&plies)
                && disproof.hash == hash(position, path, plies)
        };
        let Bucket(disproofs) = &self.buckets[bucket(position)];
        disproofs.iter().find(holds).map(|disproof| path.plies() - disproof.plies)
    }

    /// Keeps a disproof, with this dependency, of the position reached by this path. If its bucket is full, the oldest
    /// one there is dropped.
    #[inline]
    pub(super) fn insert<H: Hand>(
        &mut self,
        path: &Path<H>,
        key: u64,
        hand: H,
        path_dependency: PathDependency,
    ) {
        if self.buckets.is_empty() {
            return;
        }
        let position = position_hash(key, hand);
        let plies = path.plies() - path_dependency;
        let hash = hash(position, path, plies);
        let Bucket(disproofs) = &mut self.buckets[bucket(position)];
        disproofs.rotate_right(1);
        disproofs[0] = Disproof { hash, position: upper_half(position), plies };
    }
}

const fn bucket(position: u64) -> usize {
    position as usize % BUCKETS
}

const fn upper_half(position: u64) -> u32 {
    (position >> 32) as u32
}

fn hash<H: Hand>(position: u64, path: &Path<H>, plies: u16) -> u64 {
    position.rotate_left(32) ^ path.hash_of_last(plies)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(keys: &[u64]) -> Path<()> {
        let mut path = Path::new();
        for &key in keys {
            path.push(key, ());
        }
        path
    }

    #[test]
    fn a_disproof_holds_on_paths_that_end_in_the_same_positions() {
        let mut disproofs = PathDisproofs::new();
        disproofs.insert(&path(&[1, 2, 3]), 9, (), 1);
        assert_eq!(disproofs.find(&path(&[1, 2, 3]), 9, ()), None, "not begun");
        disproofs.begin();
        disproofs.insert(&path(&[1, 2, 3]), 9, (), 1);
        let find = |keys: &[u64], key| disproofs.find(&path(keys), key, ());
        assert_eq!(find(&[1, 2, 3], 9), Some(1));
        assert_eq!(find(&[4, 5, 1, 3, 2], 9), Some(3), "in any order, after any other positions");
        assert_eq!(find(&[2, 3], 9), Some(0));
        for other in [&[1, 2, 3, 4][..], &[2, 4, 3], &[3], &[]] {
            assert_eq!(find(other, 9), None, "{other:?}");
        }
        assert_eq!(find(&[1, 2, 3], 8), None, "another position");
        disproofs.clear();
        assert_eq!(disproofs.find(&path(&[1, 2, 3]), 9, ()), None);
    }
}
