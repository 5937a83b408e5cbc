//! External distribution sort of items by their keys.
//!
//! Items are distributed to partitions by the first bits of their keys. A partition that fits into memory is sorted
//! there. A larger one is distributed again by the next bits. Nothing is written to disk if all items fit into memory.
//! See Knuth, The Art of Computer Programming, volume 3, section 5.4.9.

use std::sync::Arc;

use super::partitioned::{
    ItemLen, KEY_BITS, KeyedItems, NUMBER_MASK, PARTITION_BITS, PARTITIONS, PartitionedItems,
};
use super::plan::Resources;
use super::spill::Spill;
use crate::error::Error;

/// Share of the memory, in eighths, that items of one writer may take before they are written to disk. The remaining
/// memory is for blocks and partitions in flight.
#[derive(Clone, Copy)]
pub(super) struct MemoryShare(u64);

impl MemoryShare {
    /// For a single writer.
    pub(super) const ALL: Self = Self(7);
    /// For the first of several writers.
    pub(super) const MOST: Self = Self(4);
    /// For the second writer.
    pub(super) const REST: Self = Self(2);
    /// For every further writer.
    pub(super) const LAST: Self = Self(1);
    /// For repartitioning while other partitions are in flight.
    const REPARTITION: Self = Self(1);

    const fn apply(self, bytes: u64) -> u64 {
        bytes / 8 * self.0
    }
}

/// A partition up to this size is sorted in memory, even if the memory limit is lower.
const SMALL_PARTITION_BYTES: u64 = 1 << 16;

/// Maximum size of one write. Its items are read and repartitioned together, with 32-bit offsets.
const MAX_WRITE_BYTES: u64 = 1 << 30;

/// One write takes at most 1/8 of the memory.
const WRITE_MEMORY_DIVISOR: u64 = 8;

/// Memory for sorting a partition, in multiples of its size: the items, a sorted copy and the keys.
const COPIES: u64 = 3;

pub(super) struct PartitionWriter {
    resources: Resources,
    len: ItemLen,
    /// Selects the key bits that determine the partition. 0 selects the first [`PARTITION_BITS`] bits, 1 the next ones.
    level: u32,
    capacity_bytes: u64,
    buffered: Vec<PartitionedItems>,
    buffered_bytes: u64,
    spill: Option<Spill>,
    items: u64,
}

impl PartitionWriter {
    pub(super) fn new(resources: &Resources, len: ItemLen, share: MemoryShare) -> Self {
        Self::on_level(resources, len, 0, share)
    }

    fn on_level(resources: &Resources, len: ItemLen, level: u32, share: MemoryShare) -> Self {
        let capacity_bytes = share.apply(resources.memory.bytes());
        let (buffered, resources) = (Vec::new(), resources.clone());
        Self {
            resources,
            len,
            level,
            capacity_bytes,
            buffered,
            buffered_bytes: 0,
            spill: None,
            items: 0,
        }
    }

    /// Adds items. Items with equal keys keep the order in which they are added.
    pub(super) fn add(&mut self, partitioned: PartitionedItems) -> Result<(), Error> {
        self.buffered_bytes += partitioned.size();
        self.items += partitioned.len();
        self.buffered.push(partitioned);
        if self.buffered_bytes > self.capacity_bytes { self.spill_buffered() } else { Ok(()) }
    }

    /// Memory for sorting the largest buffered partition, in bytes.
    fn largest_bytes(&self) -> u64 {
        let partitions = (0..PARTITIONS).map(|partition| count(&self.buffered, partition));
        partitions.map(size_in_memory).max().unwrap_or_default()
    }

    pub(super) const fn items(&self) -> u64 {
        self.items
    }

    fn spill_buffered(&mut self) -> Result<(), Error> {
        let spill = match &mut self.spill {
            Some(spill) => spill,
            none => none.insert(Spill::create(&self.resources.folder())?),
        };
        let max_bytes = MAX_WRITE_BYTES.min(self.resources.memory.bytes() / WRITE_MEMORY_DIVISOR);
        let mut buffered = &self.buffered[..];
        while !buffered.is_empty() {
            let (written_together, rest) = buffered.split_at(first_write(buffered, max_bytes));
            (0..PARTITIONS).try_for_each(|partition| spill.append(partition, written_together))?;
            buffered = rest;
        }
        self.buffered.clear();
        self.buffered_bytes = 0;
        Ok(())
    }

    pub(super) fn seal(mut self) -> Result<SealedPartitions, Error> {
        // From here on, partitions in flight also need memory, so the buffered items may no longer fit.
        let in_flight = self.largest_bytes() * self.resources.partitions_in_flight() as u64;
        if self.spill.is_some() || self.buffered_bytes + in_flight > self.resources.memory.bytes() {
            self.spill_buffered()?;
        }
        let Self { resources, len, level, buffered, spill, .. } = self;
        Ok(SealedPartitions { resources, len, level, buffered, spill })
    }
}

/// Number of items and bytes of a partition.
fn count(all: &[PartitionedItems], partition: usize) -> (u64, u64) {
    let partitions = all.iter().map(|partitioned| partitioned.partition(partition));
    partitions.fold((0, 0), |(items, size), (keys, _, bytes)| {
        (items + keys.len() as u64, size + bytes.len() as u64)
    })
}

/// Memory for sorting a partition, in bytes.
const fn size_in_memory((items, bytes): (u64, u64)) -> u64 {
    (bytes + items * 2 * size_of::<u64>() as u64) * COPIES
}

/// Number of leading elements to write together: as many as fit into `max_bytes`, but at least one.
fn first_write(buffered: &[PartitionedItems], max_bytes: u64) -> usize {
    let sizes = buffered.iter().scan(0, |size, partitioned| {
        *size += partitioned.size();
        Some(*size)
    });
    sizes.take_while(|&size| size <= max_bytes).count().max(1)
}

pub(super) struct SealedPartitions {
    resources: Resources,
    pub(super) len: ItemLen,
    level: u32,
    buffered: Vec<PartitionedItems>,
    spill: Option<Spill>,
}

impl SealedPartitions {
    /// Returns all partitions in key order. Each fits into memory.
    pub(super) fn partitions(self) -> PartitionReader {
        PartitionReader { stores: vec![(Arc::new(self), 0)] }
    }

    fn count(&self, partition: usize) -> (u64, u64) {
        let (mut items, mut bytes) = count(&self.buffered, partition);
        if let Some(spill) = &self.spill {
            let (spilled, spilled_bytes) = spill.count(partition);
            items += spilled;
            bytes += spilled_bytes;
        }
        (items, bytes)
    }

    fn is_too_large(&self, partition: usize) -> bool {
        let (items, bytes) = self.count(partition);
        let size = size_in_memory((items, bytes));
        let share = self.resources.memory.bytes() / self.resources.partitions_in_flight() as u64;
        let is_large = self.spill.is_some() && size > share.max(SMALL_PARTITION_BYTES);
        let can_be_split = (self.level + 2) * PARTITION_BITS <= KEY_BITS && items > 1;
        (is_large || items > NUMBER_MASK) && can_be_split
    }

    fn read(&self, partition: usize, items: &mut KeyedItems) -> Result<(), Error> {
        let (count, bytes) = self.count(partition);
        items.keys.reserve(count as usize);
        items.bytes.reserve(bytes as usize);
        if let Some(spill) = &self.spill {
            spill.extents(partition).try_for_each(|extent| spill.load(extent, self.len, items))?;
        }
        for partitioned in &self.buffered {
            let (keys, lens, bytes) = partitioned.partition(partition);
            items.keys.extend_from_slice(keys);
            items.lens.extend_from_slice(lens);
            items.bytes.extend_from_slice(bytes);
        }
        Ok(())
    }

    fn repartition(&self, partition: usize) -> Result<Self, Error> {
        let level = self.level + 1;
        let mut partitions =
            PartitionWriter::on_level(&self.resources, self.len, level, MemoryShare::REPARTITION);
        for partitioned in &self.buffered {
            let (keys, lens, bytes) = partitioned.partition(partition);
            let items = KeyedItems { keys: keys.into(), lens: lens.into(), bytes: bytes.into() };
            partitions.add(PartitionedItems::new(&items, self.len, level))?;
        }
        if let Some(spill) = &self.spill {
            for extent in spill.extents(partition) {
                let mut items = KeyedItems::default();
                spill.load(extent, self.len, &mut items)?;
                partitions.add(PartitionedItems::new(&items, self.len, level))?;
            }
        }
        partitions.seal()
    }
}

/// A partition that fits into memory.
pub(super) struct Partition {
    store: Arc<SealedPartitions>,
    partition: usize,
}

impl Partition {
    /// Appends the items of the partition in insertion order.
    pub(super) fn read(&self, items: &mut KeyedItems) -> Result<(), Error> {
        self.store.read(self.partition, items)
    }

    /// Returns the keys in insertion order.
    pub(super) fn keys(&self) -> Result<Vec<u64>, Error> {
        let mut items = KeyedItems::default();
        self.read(&mut items)?;
        Ok(items.keys)
    }

    pub(super) fn len(&self) -> ItemLen {
        self.store.len
    }
}

pub(super) struct PartitionReader {
    /// The open levels, each with its next partition.
    stores: Vec<(Arc<SealedPartitions>, usize)>,
}

impl Iterator for PartitionReader {
    type Item = Result<Partition, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (store, next) = self.stores.last_mut()?;
            let partition = *next;
            if partition == PARTITIONS {
                self.stores.pop();
                continue;
            }
            *next += 1;
            if !store.is_too_large(partition) {
                return Some(Ok(Partition { store: Arc::clone(store), partition }));
            }
            match store.repartition(partition) {
                Ok(store) => self.stores.push((Arc::new(store), 0)),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::partitioned::significant_bits;
    use super::super::sorted_partition::SortedPartition;
    use super::*;
    use crate::random::SplitMix64;

    fn resources(memory: &str) -> Resources {
        Resources { memory: memory.parse().unwrap(), threads: 1, tmp_dir: None }
    }

    /// Keys and bytes of all items, sorted with this memory limit.
    fn sorted(blocks: &[KeyedItems], len: ItemLen, memory: &str) -> Vec<(u64, Vec<u8>)> {
        let mut partitions = PartitionWriter::new(&resources(memory), len, MemoryShare::ALL);
        for items in blocks {
            partitions.add(PartitionedItems::new(items, len, 0)).unwrap();
        }
        let (mut sorted, mut sorted_partition) = (Vec::new(), SortedPartition::default());
        for partition in partitions.seal().unwrap().partitions() {
            sorted_partition.load(&partition.unwrap()).unwrap();
            let SortedPartition { items, order, .. } = &sorted_partition;
            let starts = items.starts(len);
            for &item in order {
                let item = item as usize;
                sorted.push((items.keys[item], items.bytes[starts.range(item)].to_vec()));
            }
        }
        sorted
    }

    /// Blocks of items whose bytes start with their number. Without `len`, some have additional bytes.
    fn blocks(keys: &[u64], len: ItemLen) -> Vec<KeyedItems> {
        let numbers: Vec<u64> = (0..keys.len() as u64).collect();
        let chunks = keys.chunks(700).zip(numbers.chunks(700));
        let block = |(keys, numbers): (&[u64], &[u64])| {
            let mut items = KeyedItems::default();
            for (&key, number) in keys.iter().zip(numbers) {
                let more = if len.is_some() { 0 } else { (number % 5) as usize };
                items.push(key, &[&number.to_le_bytes()[..], &[7; 5][..more]].concat(), len);
            }
            items
        };
        chunks.map(block).collect()
    }

    #[test]
    fn items_are_sorted_by_key_for_any_memory_limit() {
        let mut random = SplitMix64::new(4);
        let spread: Vec<u64> = (0..5000).map(|_| random.next_bits()).collect();
        // Many keys have equal first bits, some have equal significant bits, and some differ only in the other bits.
        let collide = |key: &u64| (key % 3) << 60 | (key % 1000) << 20 | (key % 2);
        let colliding: Vec<u64> = spread.iter().map(collide).collect();
        for keys in [&spread, &colliding, &vec![5; 3000], &vec![]] {
            for len in [Some(8), None] {
                let blocks = blocks(keys, len);
                let mut expected: Vec<(u64, u64)> = keys.iter().copied().zip(0..).collect();
                expected.sort_by_key(|&(key, _)| significant_bits(key));
                for memory in ["1G", "100K", "4K", "1"] {
                    let sorted = sorted(&blocks, len, memory);
                    let numbered = sorted.iter().map(|(key, bytes)| {
                        (*key, u64::from_le_bytes(bytes[..8].try_into().unwrap()))
                    });
                    assert!(numbered.eq(expected.iter().copied()), "{len:?} {memory}");
                }
            }
        }
    }
}
