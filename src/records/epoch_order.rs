//! The order of archive records for training: random, different in every epoch, and computed without a list of all
//! records. It depends on the seed, not on the number of threads.
//!
//! A segment is a range of consecutive records of an archive. Segments are read in random order. A fixed number of
//! segments forms a window, whose records are shuffled. Neighbouring records of an archive are far apart in this order,
//! and only one window is in memory.

use crate::game::Permutation;
use crate::random::SplitMix64;

/// The order of segments, and of the records in each window, for one epoch and one rank of a distributed training.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EpochOrder {
    segments: u64,
    window_segments: u64,
    rank: u64,
    world_size: u64,
    /// Seed of this epoch. `None` for the order of the archive.
    shuffle: Option<u64>,
}

impl EpochOrder {
    /// `segments` segments in archive order, in windows of `window_segments` segments.
    ///
    /// # Panics
    /// If `window_segments` is 0.
    pub const fn sequential(segments: u64, window_segments: u64) -> Self {
        assert!(window_segments > 0, "a window has at least one segment");
        Self { segments, window_segments, rank: 0, world_size: 1, shuffle: None }
    }

    /// The same segments in random order. Each seed and epoch has a different order.
    #[must_use]
    pub const fn shuffled(self, seed: u64, epoch: u64) -> Self {
        Self { shuffle: Some(SplitMix64::nth_bits(SplitMix64::nth_bits(seed, 0), epoch)), ..self }
    }

    /// The share of one of `world_size` ranks. Ranks read equal numbers of segments, and no segment is read by two
    /// ranks.
    ///
    /// # Panics
    /// If `rank` is not below `world_size`.
    #[must_use]
    pub const fn for_rank(self, rank: u64, world_size: u64) -> Self {
        assert!(rank < world_size, "the rank is below the number of ranks");
        Self { rank, world_size, ..self }
    }

    /// Number of segments that each rank reads. The remainder of the division by the number of ranks is not read.
    pub const fn segments(&self) -> u64 {
        self.segments / self.world_size
    }

    /// Number of windows.
    pub const fn windows(&self) -> u64 {
        self.segments().div_ceil(self.window_segments)
    }

    /// The segments of a window, in reading order.
    pub fn window(&self, window: u64) -> impl Iterator<Item = u64> {
        let all = self.segments();
        let from = window.saturating_mul(self.window_segments).min(all);
        let to = from.saturating_add(self.window_segments).min(all);
        let Self { segments, rank, world_size, shuffle, .. } = *self;
        let permutation =
            shuffle.filter(|_| segments > 0).map(|seed| Permutation::new(segments, seed));
        (from..to).map(move |place| {
            let slot = place * world_size + rank;
            permutation.map_or(slot, |permutation| permutation.at(slot))
        })
    }

    /// The order of the `records` records of a window, as indices into the records of its segments.
    pub fn records(&self, window: u64, records: u32) -> Vec<u32> {
        let mut order: Vec<u32> = (0..records).collect();
        if let Some(seed) = self.shuffle {
            // Each rank has a different seed.
            let window_seed = SplitMix64::nth_bits(seed, window * self.world_size + self.rank);
            let mut random = SplitMix64::new(window_seed);
            for place in (1..order.len()).rev() {
                order.swap(place, random.below(place + 1));
            }
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ranks_read_every_segment_once_except_the_remainder() {
        for (segments, ranks) in [(100, 1), (100, 3), (7, 8), (0, 1), (1, 1)] {
            let order = EpochOrder::sequential(segments, 4).shuffled(7, 2);
            let mut read = BTreeSet::new();
            for rank in 0..ranks {
                let order = order.for_rank(rank, ranks);
                let segments: Vec<u64> =
                    (0..order.windows()).flat_map(|w| order.window(w)).collect();
                assert_eq!(segments.len() as u64, order.segments());
                assert!(segments.into_iter().all(|segment| read.insert(segment)));
            }
            assert_eq!(read.len() as u64, segments / ranks * ranks);
            assert!(read.iter().all(|&segment| segment < segments));
        }
    }

    #[test]
    fn records_of_a_window_are_shuffled_and_none_is_lost() {
        let order = EpochOrder::sequential(10, 10).shuffled(1, 0);
        let shuffled = order.records(0, 1000);
        assert_eq!(shuffled.iter().collect::<BTreeSet<_>>().len(), 1000);
        let unmoved =
            shuffled.iter().enumerate().filter(|&(place, &record)| place == record as usize);
        assert!(unmoved.count() < 10);
        assert_ne!(shuffled, order.records(1, 1000));
        assert_ne!(shuffled, order.for_rank(1, 2).records(0, 1000));
    }

    #[test]
    fn every_seed_and_epoch_has_a_different_order() {
        let sequential = EpochOrder::sequential(50, 50);
        let segments = |order: EpochOrder| order.window(0).collect::<Vec<_>>();
        assert_eq!(segments(sequential), (0..50).collect::<Vec<_>>());
        assert_eq!(sequential.records(0, 3), [0, 1, 2]);
        let orders = [(1, 0), (1, 1), (2, 0)]
            .map(|(seed, epoch)| segments(sequential.shuffled(seed, epoch)));
        assert_eq!(orders.iter().collect::<BTreeSet<_>>().len(), 3);
        assert_eq!(orders[0], segments(sequential.shuffled(1, 0)));
    }
}
