//! The order in which records of archives come to a training: random, different in every epoch, and the same for a seed
//! whatever the threads, without a list of all records.
//!
//! Records are read in segments, stretches of an archive; segments come in random order, and the records of so many segments
//! after each other, a window, are mixed. What is near each other in an archive is far from each other in the order,
//! and only a window is in memory.

use crate::game::Permutation;
use crate::random::SplitMix64;

/// The order of segments and of the records in windows, in one epoch and for one of the ranks of a distributed training.
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
    /// All of so many segments, windows of `window_segments`, in the order in which they are.
    ///
    /// # Panics
    /// If `window_segments` is 0.
    pub const fn sequential(segments: u64, window_segments: u64) -> Self {
        assert!(window_segments > 0, "a window of nothing");
        Self { segments, window_segments, rank: 0, world_size: 1, shuffle: None }
    }

    /// The same in random order: another one for each seed and each epoch.
    #[must_use]
    pub const fn shuffled(self, seed: u64, epoch: u64) -> Self {
        Self { shuffle: Some(SplitMix64::nth_bits(SplitMix64::nth_bits(seed, 0), epoch)), ..self }
    }

    /// The part of one of `world_size` ranks: every segment that all but a rest have as many of goes to exactly one.
    ///
    /// # Panics
    /// If `rank` is not below `world_size`.
    #[must_use]
    pub const fn of_rank(self, rank: u64, world_size: u64) -> Self {
        assert!(rank < world_size, "a rank is below the number of ranks");
        Self { rank, world_size, ..self }
    }

    /// How many segments this rank reads: each rank as many. A rest of fewer than there are ranks is read by none.
    pub const fn segments(&self) -> u64 {
        self.segments / self.world_size
    }

    /// How many windows they make.
    pub const fn windows(&self) -> u64 {
        self.segments().div_ceil(self.window_segments)
    }

    /// The segments of a window, in the order in which they are read.
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

    /// The order of the records of a window, of which there are so many: their places in the order of its segments.
    pub fn records(&self, window: u64, records: u32) -> Vec<u32> {
        let mut order: Vec<u32> = (0..records).collect();
        if let Some(seed) = self.shuffle {
            // Of each rank its own.
            let of_window = SplitMix64::nth_bits(seed, window * self.world_size + self.rank);
            let mut random = SplitMix64::new(of_window);
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
    fn every_segment_comes_once_but_for_a_rest() {
        for (segments, ranks) in [(100, 1), (100, 3), (7, 8), (0, 1), (1, 1)] {
            let order = EpochOrder::sequential(segments, 4).shuffled(7, 2);
            let mut read = BTreeSet::new();
            for rank in 0..ranks {
                let order = order.of_rank(rank, ranks);
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
    fn records_of_a_window_are_mixed_and_none_is_lost() {
        let order = EpochOrder::sequential(10, 10).shuffled(1, 0);
        let mixed = order.records(0, 1000);
        assert_eq!(mixed.iter().collect::<BTreeSet<_>>().len(), 1000);
        let stay = mixed.iter().enumerate().filter(|&(place, &record)| place == record as usize);
        assert!(stay.count() < 10);
        assert_ne!(mixed, order.records(1, 1000));
        assert_ne!(mixed, order.of_rank(1, 2).records(0, 1000));
    }

    #[test]
    fn seeds_and_epochs_have_orders_of_their_own() {
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
