//! Sorts the items of partitions by key, on worker threads.

use std::sync::atomic::Ordering;

use super::partitioned::{ItemLen, KeyedItems, NUMBER_MASK, PARTITION_BITS, significant_bits};
use super::partitions::{Partition, SealedPartitions};
use super::pass::RunControl;
use super::plan::Resources;
use crate::engine::in_order::{Parallelism, process_in_order};
use crate::error::Error;
use crate::records::counts::Counts;

/// A sorted partition. Its memory is reused for the next one.
#[derive(Default)]
pub(super) struct SortedPartition {
    /// In insertion order.
    pub(super) items: KeyedItems,
    pub(super) len: ItemLen,
    /// Indices of the items, sorted by the significant bits of their keys. Items with equal bits stay in insertion
    /// order.
    pub(super) order: Vec<u32>,
    /// Scratch space for sorting: each word contains key bits and an item index.
    words: Vec<u64>,
}

impl SortedPartition {
    /// Loads and sorts a partition, replacing the previous one.
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
            // A partition of this size remains only if almost all significant bits of its keys are equal.
            order.extend(0..keys.len() as u32);
            order.sort_by_key(|&number| significant_bits(keys[number as usize]));
            return;
        }
        // All keys of a partition have the same first bits. Shift them out to make space for the item index.
        let word = |(number, key): (u64, &u64)| (significant_bits(*key) << PARTITION_BITS) | number;
        words.clear();
        words.extend((0..).zip(&*keys).map(word));
        words.sort_unstable();
        order.extend(words.iter().map(|word| (word & NUMBER_MASK) as u32));
    }
}

/// Sorts all partitions and runs `work` on them on worker threads. Calls `on_result` with the results in partition
/// order. `on_result` returns the number of items of a result.
pub(super) fn process_partitions<T: Send + 'static>(
    sealed: SealedPartitions,
    resources: &Resources,
    work: impl Fn(&SortedPartition) -> T + Send + Sync + 'static,
    mut on_result: impl FnMut(T) -> Result<u64, Error>,
    control: &mut RunControl<'_>,
) -> Result<(), Error> {
    let parallelism = Parallelism::new(resources.threads(), resources.partitions_in_flight());
    let mut shown = Counts::default();
    let work = move |sorted_partition: &mut SortedPartition,
                     partition: Result<Partition, Error>| {
        sorted_partition.load(&partition?)?;
        Ok::<T, Error>(work(sorted_partition))
    };
    process_in_order(
        sealed.partitions(),
        parallelism,
        || Ok(SortedPartition::default()),
        work,
        |done| {
            if control.cancel.load(Ordering::Relaxed) {
                return Err(Error::interrupted());
            }
            if let Some(done) = done {
                shown.input += on_result(done?)?;
                control.progress.update(&shown);
            }
            Ok(())
        },
    )
}
