//! A bucket of the memo with a few results. The result with the least worth is evicted.
//!
//! The GreedyDual algorithm (Young 1994): the worth of a result is the number of nodes of its search, plus an inflation
//! that grows with each eviction. So expensive results stay longer, but none stays forever unless it is recalled.

use super::super::judge::MateResult;
use crate::format::PositionKey;
use crate::shogi::{Move, Position};

/// Maximum number of results in a bucket. Their fingerprints fill one cache line.
pub(super) const WAYS: usize = 16;

/// Maximum total length of the lines in a bucket, in moves. A result with a longer line is not remembered.
const MAX_MOVES: usize = 128;

/// Estimated overhead of an allocation.
const ALLOCATION_BYTES: usize = 16;

/// Entries and their fingerprints, at the same indices.
pub(super) struct Bucket<V> {
    fingerprints: [u32; WAYS],
    entries: Vec<Entry<V>>,
    /// Worth of the last entry that was evicted or rejected.
    inflation: u64,
}

struct Entry<V> {
    key: PositionKey,
    value: V,
    /// Nodes of the search, plus the inflation when the entry was stored or last recalled.
    worth: u64,
}

impl<V> Bucket<V> {
    /// Maximum memory of a bucket with its lock.
    pub(super) const MAX_BYTES: usize = size_of::<std::sync::Mutex<Self>>()
        + WAYS * (size_of::<Entry<V>>() + ALLOCATION_BYTES)
        + ALLOCATION_BYTES
        + MAX_MOVES * size_of::<Move>();
}

impl<V> Default for Bucket<V> {
    fn default() -> Self {
        Self { fingerprints: [0; WAYS], entries: Vec::new(), inflation: 0 }
    }
}

impl<V: Memorable> Bucket<V> {
    pub(super) fn recall(&mut self, fingerprint: u32, position: &Position) -> Option<V> {
        if !self.fingerprints[..self.entries.len()].contains(&fingerprint) {
            return None;
        }
        let index = self.find(fingerprint, &PositionKey::of(&position.setup()))?;
        let entry = &mut self.entries[index];
        entry.worth = worth(self.inflation, entry.value.mate_result());
        Some(entry.value.clone())
    }

    pub(super) fn remember(&mut self, fingerprint: u32, key: PositionKey, value: V) {
        // Two threads may have searched the same position at the same time.
        if self.find(fingerprint, &key).is_some() {
            return;
        }
        let worth = worth(self.inflation, value.mate_result());
        if self.make_space(value.mate_result().line.len(), worth) {
            self.fingerprints[self.entries.len()] = fingerprint;
            self.entries.push(Entry { key, value, worth });
        }
    }

    fn find(&self, fingerprint: u32, key: &PositionKey) -> Option<usize> {
        let entries = self.fingerprints.iter().zip(&self.entries);
        let is_match =
            |(&other, entry): (&u32, &Entry<V>)| other == fingerprint && entry.key == *key;
        entries.map(is_match).position(|is_match| is_match)
    }

    /// Evicts entries until a new entry with this line length fits. Returns `false` if only entries of greater worth
    /// are left, or if the line is too long.
    fn make_space(&mut self, line_len: usize, worth: u64) -> bool {
        if line_len > MAX_MOVES {
            return false;
        }
        while self.entries.len() == WAYS || self.moves() + line_len > MAX_MOVES {
            let least = (0..self.entries.len()).min_by_key(|&i| self.entries[i].worth);
            let least = least.expect("a line of at most MAX_MOVES moves fits into an empty bucket");
            self.inflation = worth.min(self.entries[least].worth);
            if worth < self.entries[least].worth {
                return false;
            }
            self.evict(least);
        }
        true
    }

    fn moves(&self) -> usize {
        self.entries.iter().map(|entry| entry.value.mate_result().line.len()).sum()
    }

    fn evict(&mut self, index: usize) {
        self.entries.swap_remove(index);
        self.fingerprints[index] = self.fingerprints[self.entries.len()];
    }
}

fn worth(inflation: u64, mate_result: &MateResult) -> u64 {
    inflation.saturating_add(mate_result.nodes)
}

/// A value that a memo can hold: a [`MateResult`], possibly with further results of the same search.
///
/// The value must depend only on board, hands and side to move, except for parts that no caller relies on.
pub trait Memorable: Clone {
    /// The result of the search.
    fn mate_result(&self) -> &MateResult;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::mate::memo::tests::positions;
    use crate::records::position_verdict::PositionVerdict;

    fn mate_result(nodes: u64, line_len: usize) -> MateResult {
        let line = vec![Move::from_usi("7g7f").unwrap(); line_len];
        MateResult::new(PositionVerdict::Win, line, nodes)
    }

    fn remember(bucket: &mut Bucket<MateResult>, position: &Position, value: MateResult) {
        bucket.remember(7, PositionKey::of(&position.setup()), value);
    }

    /// Steps of a test: index of a position, its nodes, the length of its line.
    fn steps() -> impl Strategy<Value = Vec<(usize, u64, usize)>> {
        prop::collection::vec((0usize..60, 8u64..5000, 0usize..40), 1..400)
    }

    proptest! {
        #[test]
        fn a_recalled_result_belongs_to_its_position_even_if_fingerprints_collide(steps in steps()) {
            let positions = positions(60);
            let mut bucket = Bucket::default();
            let mut stored = vec![None; positions.len()];
            for (i, nodes, line_len) in steps {
                if let Some(known) = bucket.recall(7, &positions[i]) {
                    prop_assert_eq!(Some(&known), stored[i].as_ref());
                } else {
                    let value = mate_result(nodes, line_len);
                    remember(&mut bucket, &positions[i], value.clone());
                    stored[i] = Some(value);
                }
                prop_assert!(bucket.entries.len() <= WAYS && bucket.moves() <= MAX_MOVES);
                prop_assert!(bucket.entries.capacity() <= WAYS);
            }
            let mut recalled = 0;
            for (position, stored) in positions.iter().zip(&stored) {
                let known = bucket.recall(7, position);
                prop_assert!(known.is_none() || known == *stored);
                recalled += usize::from(known.is_some());
            }
            prop_assert!(recalled > 0 && recalled == bucket.entries.len());
        }
    }

    #[test]
    fn an_expensive_result_outlasts_cheap_ones_but_not_forever() {
        let positions = positions(60);
        let mut bucket = Bucket::default();
        remember(&mut bucket, &positions[0], mate_result(1000, 0));
        let mut cheap = positions[1..].iter().cycle();
        let mut pass = |bucket: &mut Bucket<MateResult>, count: usize| {
            for position in cheap.by_ref().take(count) {
                if bucket.recall(7, position).is_none() {
                    remember(bucket, position, mate_result(10, 0));
                }
            }
        };
        pass(&mut bucket, 200);
        assert_eq!(bucket.find(7, &PositionKey::of(&positions[0].setup())), Some(0));
        // A recalled result is as valuable as a new one.
        assert!(bucket.recall(7, &positions[0]).is_some());
        pass(&mut bucket, 5000);
        assert_eq!(bucket.recall(7, &positions[0]), None);
        assert!(positions[1..].iter().any(|position| bucket.recall(7, position).is_some()));
    }

    #[test]
    fn the_lines_of_a_bucket_never_exceed_their_maximum() {
        let positions = positions(3);
        let mut bucket = Bucket::default();
        remember(&mut bucket, &positions[0], mate_result(10, MAX_MOVES + 1));
        assert_eq!(bucket.recall(7, &positions[0]), None);
        remember(&mut bucket, &positions[0], mate_result(10, MAX_MOVES));
        assert_eq!(bucket.recall(7, &positions[0]), Some(mate_result(10, MAX_MOVES)));
        // The entry with less worth is dropped, whether it is the new one or the old one.
        remember(&mut bucket, &positions[1], mate_result(9, 1));
        assert_eq!(bucket.recall(7, &positions[1]), None);
        remember(&mut bucket, &positions[1], mate_result(90, 1));
        assert_eq!(bucket.recall(7, &positions[1]), Some(mate_result(90, 1)));
        assert_eq!(bucket.recall(7, &positions[0]), None);
    }

    #[test]
    fn a_result_that_is_remembered_twice_is_stored_once() {
        let positions = positions(1);
        let mut bucket = Bucket::default();
        remember(&mut bucket, &positions[0], mate_result(10, 3));
        remember(&mut bucket, &positions[0], mate_result(10, 3));
        assert_eq!((bucket.entries.len(), bucket.moves()), (1, 3));
    }
}
