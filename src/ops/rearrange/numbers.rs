//! Sets of record numbers that may exceed the memory, read in ascending order.

use std::vec;

use super::partitioned::{KeyedItems, PartitionedItems};
use super::partitions::{MemoryShare, Partition, PartitionReader, PartitionWriter};
use super::plan::Resources;
use crate::error::Error;

/// Collects distinct record numbers, each with a value of `LEN` bytes.
pub(super) struct NumberedValues<const LEN: usize> {
    partitions: PartitionWriter,
    /// Left shift that moves the highest possible bit of a number to the highest bit of a key.
    shift: u32,
}

/// Numbers without values.
pub(super) type RecordNumbers = NumberedValues<0>;

impl NumberedValues<0> {
    /// Adds new numbers in any order.
    pub(super) fn add(&mut self, numbers: &[u64]) -> Result<(), Error> {
        self.add_values(numbers.iter().map(|&number| (number, [])))
    }
}

impl<const LEN: usize> NumberedValues<LEN> {
    /// Creates a set for numbers below `end`.
    pub(super) fn new(resources: &Resources, end: u64, share: MemoryShare) -> Self {
        let shift = end.leading_zeros().min(u64::BITS - 1);
        let partitions = PartitionWriter::new(resources, Some(LEN), share);
        Self { partitions, shift }
    }

    /// Adds new numbers with their values in any order.
    pub(super) fn add_values(
        &mut self,
        values: impl Iterator<Item = (u64, [u8; LEN])>,
    ) -> Result<(), Error> {
        let mut items = KeyedItems::default();
        for (number, value) in values {
            items.push(number << self.shift, &value, Some(LEN));
        }
        if items.keys.is_empty() {
            return Ok(());
        }
        self.partitions.add(PartitionedItems::new(&items, Some(LEN), 0))
    }

    pub(super) fn ascending(self) -> Result<AscendingValues<LEN>, Error> {
        let (partitions, shift) = (self.partitions.seal()?.partitions(), self.shift);
        Ok(AscendingValues { partitions, shift, current: Vec::new().into_iter() })
    }
}

pub(super) struct AscendingValues<const LEN: usize> {
    partitions: PartitionReader,
    shift: u32,
    current: vec::IntoIter<(u64, [u8; LEN])>,
}

impl AscendingValues<0> {
    /// Returns the first number that is at least `number`. `number` must not decrease from call to call.
    pub(super) fn from(&mut self, number: u64) -> Result<Option<u64>, Error> {
        Ok(self.value_from(number)?.map(|(number, [])| number))
    }
}

impl<const LEN: usize> AscendingValues<LEN> {
    /// Returns the first number that is at least `number`, and its value. `number` must not decrease from call to
    /// call.
    pub(super) fn value_from(&mut self, number: u64) -> Result<Option<(u64, [u8; LEN])>, Error> {
        loop {
            match self.current.as_slice().first() {
                Some(&next) if next.0 >= number => return Ok(Some(next)),
                Some(_) => drop(self.current.next()),
                None => match self.partitions.next() {
                    Some(partition) => self.current = self.sorted(&partition?)?.into_iter(),
                    None => return Ok(None),
                },
            }
        }
    }

    fn sorted(&self, partition: &Partition) -> Result<Vec<(u64, [u8; LEN])>, Error> {
        let mut items = KeyedItems::default();
        partition.read(&mut items)?;
        let starts = items.starts(Some(LEN));
        let value = |(place, &key): (usize, &u64)| {
            let mut value = [0; LEN];
            value.copy_from_slice(&items.bytes[starts.range(place)]);
            (key >> self.shift, value)
        };
        let mut values: Vec<_> = items.keys.iter().enumerate().map(value).collect();
        values.sort_unstable();
        Ok(values)
    }
}
