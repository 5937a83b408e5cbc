//! The items of a partition in the order of their keys; partitions are sorted on worker threads.

use std::sync::atomic::Ordering;

use super::partitioned::{ItemLen, KeyedItems, NUMBER_MASK, PARTITION_BITS, significant_bits};
use super::partitions::{Partition, SealedPartitions};
use super::pass::RunControl;
use super::plan::Resources;
use crate::engine::in_order::{Parallelism, in_order};
use crate::error::Error;
use crate::records::counts::Counts;

/// A sorted partition. Its memory is reused for the next one.
#[derive(Default)]
pub(super) struct SortedPartition {
    /// In insertion order.
    pub(super) items: KeyedItems,
    pub(super) len: ItemLen,
    /// Indices of the items by the significant bits of their keys; ties are in insertion order.
    pub(super) order: Vec<u32>,
    /// Scratch space: key bits and item index in one word.
    words: Vec<u64>,
}

impl SortedPartition {
    /// Replaces the partition before.
    pub(super) fn load(&mut self, partition: &Partition) -> Result<(), Error> {
        self.items.clear();
        self.len = partition.len();
        partition.read(&mut self.items)?;
        self.sort_by_key();
        Ok(())
    }

    fn sort_by_key(&mut self) {
        let Self { items: KeyedItems { keys, .. }, order, words, .. } = self;
        order.clear();
        if keys.len() as u64 > NUMBER_MASK {
            // As many as that are alike in all that counts, or nearly.
            order.extend(0..keys.len() as u32);
            order.sort_by_key(|&number| significant_bits(keys[number as usize]));
            return;
        }
        // The first bits, which are the partition's, make room for the number of the item.
        let word = |(number, key): (u64, &u64)| (significant_bits(*key) << PARTITION_BITS) | number;
        words.clear();
        words.extend((0..).zip(&*keys).map(word));
        words.sort_unstable();
        order.extend(words.iter().map(|word| (word & NUMBER_MASK) as u32));
    }
}

/// Sorts all partitions, runs `work` on them on worker threads, and calls `take` with the results in partition order.
/// `take` returns the number of items of a result.
pub(super) fn process_partitions<T: Send + 'static>(
    sealed: SealedPartitions,
    resources: &Resources,
    work: impl Fn(&SortedPartition) -> T + Send + Sync + 'static,
    mut take: impl FnMut(T) -> Result<u64, Error>,
    control: &mut RunControl<'_>,
) -> Result<(), Error> {
    let parallelism = Parallelism::new(resources.threads(), resources.partitions_in_flight());
    let mut shown = Counts::default();
    let work = move |sorted_partition: &mut SortedPartition,
                     partition: Result<Partition, Error>| {
        sorted_partition.load(&partition?)?;
        Ok::<T, Error>(work(sorted_partition))
    };
    in_order(
        sealed.partitions(),
        parallelism,
        || Ok(SortedPartition::default()),
        work,
        |done| {
            if control.cancel.load(Ordering::Relaxed) {
                return Err(Error::interrupted());
            }
            if let Some(done) = done {
                shown.input += take(done?)?;
                control.progress.update(&shown);
            }
            Ok(())
        },
    )
}
