//! Numbers of records, more than memory holds, asked for in ascending order.

use std::vec;

use super::partitioned::{KeyedItems, PartitionedItems};
use super::partitions::{MemoryShare, Partition, PartitionReader, PartitionWriter};
use super::plan::Resources;
use crate::ops::error::OperationError;

/// Numbers are the keys of items that are nothing else.
const NO_BYTES: usize = 0;

/// Numbers while they are gathered.
pub(super) struct RecordNumbers {
    partitions: PartitionWriter,
    /// How far a number goes to the left to begin at the first bit.
    shift: u32,
}

impl RecordNumbers {
    /// For numbers below `end`.
    pub(super) fn new(resources: &Resources, end: u64, share: MemoryShare) -> Self {
        let shift = end.leading_zeros().min(u64::BITS - 1);
        let partitions = PartitionWriter::new(resources, Some(NO_BYTES), share);
        Self { partitions, shift }
    }

    /// Adds numbers in any order, none of which is there.
    pub(super) fn add(&mut self, numbers: &[u64]) -> Result<(), OperationError> {
        if numbers.is_empty() {
            return Ok(());
        }
        let keys = numbers.iter().map(|number| number << self.shift).collect();
        let items = KeyedItems { keys, ..KeyedItems::default() };
        self.partitions.add(PartitionedItems::new(&items, Some(NO_BYTES), 0))
    }

    /// All of them.
    pub(super) fn ascending(self) -> Result<AscendingNumbers, OperationError> {
        let (partitions, shift) = (self.partitions.seal()?.partitions(), self.shift);
        Ok(AscendingNumbers { partitions, shift, current: Vec::new().into_iter() })
    }
}

/// Numbers in ascending order.
pub(super) struct AscendingNumbers {
    partitions: PartitionReader,
    shift: u32,
    current: vec::IntoIter<u64>,
}

impl AscendingNumbers {
    /// The first of them from a number on, which is not smaller than any that was asked for before.
    pub(super) fn from(&mut self, number: u64) -> Result<Option<u64>, OperationError> {
        loop {
            match self.current.as_slice().first() {
                Some(&next) if next >= number => return Ok(Some(next)),
                Some(_) => drop(self.current.next()),
                None => match self.partitions.next() {
                    Some(partition) => self.current = self.sorted(&partition?)?.into_iter(),
                    None => return Ok(None),
                },
            }
        }
    }

    fn sorted(&self, partition: &Partition) -> Result<Vec<u64>, OperationError> {
        let mut keys = partition.keys()?;
        keys.sort_unstable();
        for key in &mut keys {
            *key >>= self.shift;
        }
        Ok(keys)
    }
}
