//! The items of a partition in the order of their keys.

use super::partitioned::{ItemLen, KeyedItems, NUMBER_MASK, PARTITION_BITS, significant_bits};
use super::partitions::Partition;
use crate::error::Error;

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
