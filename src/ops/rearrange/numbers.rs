//! Numbers of records, more than memory holds, asked for in ascending order.

use std::vec;

use super::buckets::{Bucket, Buckets, Emptying, Share};
use super::laid::{Items, Laid};
use super::plan::Means;
use crate::ops::error::OperationError;

/// Numbers are the keys of items that are nothing else.
const NO_BYTES: usize = 0;

/// Numbers while they are gathered.
pub(super) struct Numbers {
    buckets: Buckets,
    /// How far a number goes to the left to begin at the first bit.
    shift: u32,
}

impl Numbers {
    /// For numbers below `end`.
    pub(super) fn new(means: &Means, end: u64, share: Share) -> Self {
        let shift = end.leading_zeros().min(u64::BITS - 1);
        let buckets = Buckets::new(means, Some(NO_BYTES), share);
        Self { buckets, shift }
    }

    /// Adds numbers in any order, none of which is there.
    pub(super) fn add(&mut self, numbers: &[u64]) -> Result<(), OperationError> {
        if numbers.is_empty() {
            return Ok(());
        }
        let keys = numbers.iter().map(|number| number << self.shift).collect();
        let items = Items { keys, ..Items::default() };
        self.buckets.add(Laid::new(&items, Some(NO_BYTES), 0))
    }

    /// All of them.
    pub(super) fn ascending(self) -> Result<Ascending, OperationError> {
        let (buckets, shift) = (self.buckets.seal()?.buckets(), self.shift);
        Ok(Ascending { buckets, shift, current: Vec::new().into_iter() })
    }
}

/// Numbers in ascending order.
pub(super) struct Ascending {
    buckets: Emptying,
    shift: u32,
    current: vec::IntoIter<u64>,
}

impl Ascending {
    /// The first of them from a number on, which is not smaller than any that was asked for before.
    pub(super) fn from(&mut self, number: u64) -> Result<Option<u64>, OperationError> {
        loop {
            match self.current.as_slice().first() {
                Some(&next) if next >= number => return Ok(Some(next)),
                Some(_) => drop(self.current.next()),
                None => match self.buckets.next() {
                    Some(bucket) => self.current = self.sorted(&bucket?)?.into_iter(),
                    None => return Ok(None),
                },
            }
        }
    }

    fn sorted(&self, bucket: &Bucket) -> Result<Vec<u64>, OperationError> {
        let mut keys = bucket.keys()?;
        keys.sort_unstable();
        for key in &mut keys {
            *key >>= self.shift;
        }
        Ok(keys)
    }
}
