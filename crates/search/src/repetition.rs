//! Disproofs that depend on the path, kept for other paths that end in the same positions.
//!
//! A disproof by repetition holds on every path with the ancestors that it repeats. They are all on the part of the path
//! from the ancestor nearest the root to the node, so it also holds on a path that ends in the same positions, in any
//! order. Without this, a search must disprove a position again for each path. Where positions form many cycles, there
//! are too many paths. After Kishimoto and Müller, *A general solution to the graph history interaction problem* (2004).

use kyokumen_game::Hand;

use super::path::{Path, PathDependency, position_hash};

/// Disproofs in one bucket. Four take one cache line of the processor.
const WAYS: usize = 4;
/// 256 KiB in all.
const BUCKETS: usize = 1 << 12;

#[derive(Clone, Copy)]
struct Disproof {
    /// A hash of the position and of the last positions of the path, in any order. As for two boards, the probability
    /// that two different pairs have the same hash is 2⁻⁶⁴.
    hash: u64,
    /// A part of the hash of the position alone. It saves the access to the path for most other positions.
    position: u32,
    /// Number of these last positions. 0 if there is no disproof.
    plies: u16,
}

/// A cache of disproofs that depend on the path. It is empty and without effect until [`Self::begin`].
pub(super) struct PathDisproofs {
    buckets: Vec<[Disproof; WAYS]>,
}

impl PathDisproofs {
    pub(super) const fn new() -> Self {
        Self { buckets: Vec::new() }
    }

    /// Forgets all disproofs, and keeps none from now on.
    pub(super) fn clear(&mut self) {
        self.buckets.clear();
    }

    /// Keeps disproofs from now on.
    #[cold]
    pub(super) fn begin(&mut self) {
        self.buckets.resize(BUCKETS, [Disproof { hash: 0, position: 0, plies: 0 }; WAYS]);
    }

    /// The dependency of a known disproof that holds after this path.
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
            disproof.position == tag(position)
                && (1..=path.plies()).contains(&plies)
                && disproof.hash == hash(position, path, plies)
        };
        let disproof = self.buckets[bucket(position)].iter().find(holds)?;
        Some(path.plies() - disproof.plies)
    }

    /// Keeps a disproof with this dependency, which was found after this path. The oldest one of its bucket is dropped.
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
        let bucket = &mut self.buckets[bucket(position)];
        bucket.rotate_right(1);
        bucket[0] = Disproof { hash: hash(position, path, plies), position: tag(position), plies };
    }
}

const fn bucket(position: u64) -> usize {
    position as usize % BUCKETS
}

const fn tag(position: u64) -> u32 {
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
        keys.iter().for_each(|&key| path.push(key, ()));
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
