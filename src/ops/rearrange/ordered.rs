//! The items of a bucket in the order of their keys.

use super::buckets::Bucket;
use super::laid::{BUCKET_BITS, Items, Len, NUMBER_MASK, counted};
use crate::ops::error::OperationError;

/// One bucket after the other in the same memory.
#[derive(Default)]
pub(super) struct Ordered {
    /// The items, in the order in which they came.
    pub(super) items: Items,
    /// The length of the items, if all have the same.
    pub(super) len: Len,
    /// Their numbers, from 0, in the order of their keys; in that of the items where keys are alike.
    pub(super) order: Vec<u32>,
    /// Keys and numbers at once.
    words: Vec<u64>,
}

impl Ordered {
    /// Reads a bucket in the place of the one before.
    pub(super) fn load(&mut self, bucket: &Bucket) -> Result<(), OperationError> {
        self.items.clear();
        self.len = bucket.len();
        bucket.read(&mut self.items)?;
        self.put_in_order();
        Ok(())
    }

    fn put_in_order(&mut self) {
        let Self { items: Items { keys, .. }, order, words, .. } = self;
        order.clear();
        if keys.len() as u64 > NUMBER_MASK {
            // As many as that are alike in all that counts, or nearly.
            order.extend(0..keys.len() as u32);
            order.sort_by_key(|&number| counted(keys[number as usize]));
            return;
        }
        // The first bits, which are the bucket's, make room for the number of the item.
        let word = |(number, key): (u64, &u64)| (counted(*key) << BUCKET_BITS) | number;
        words.clear();
        words.extend((0..).zip(&*keys).map(word));
        words.sort_unstable();
        order.extend(words.iter().map(|word| (word & NUMBER_MASK) as u32));
    }
}
