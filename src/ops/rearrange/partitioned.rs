//! Items with keys, distributed to partitions by some bits of the keys.

use std::ops::Range;

use super::copying::scatter;

/// Number of key bits that determine the partition.
pub(super) const PARTITION_BITS: u32 = 8;

/// Number of partitions of one level.
pub(super) const PARTITIONS: usize = 1 << PARTITION_BITS;

/// Number of significant bits of a key. Items with equal significant bits keep their input order.
pub(super) const KEY_BITS: u32 = 48;

const KEY_MASK: u64 = !0 << (u64::BITS - KEY_BITS);

pub(super) const fn significant_bits(key: u64) -> u64 {
    key & KEY_MASK
}

/// Mask of the bits of a sort word that contain the index of an item in its partition.
pub(super) const NUMBER_MASK: u64 = (1 << (u64::BITS - KEY_BITS + PARTITION_BITS)) - 1;

#[derive(Clone, Debug, Default)]
pub(super) struct KeyedItems {
    pub(super) keys: Vec<u64>,
    /// Empty if all items have the same length.
    pub(super) lens: Vec<u32>,
    pub(super) bytes: Vec<u8>,
}

/// Length of every item in bytes. `None` if it varies.
pub(super) type ItemLen = Option<usize>;

impl KeyedItems {
    pub(super) fn clear(&mut self) {
        self.keys.clear();
        self.lens.clear();
        self.bytes.clear();
    }

    #[inline]
    pub(super) fn push(&mut self, key: u64, bytes: &[u8], len: ItemLen) {
        self.keys.push(key);
        if len.is_none() {
            self.lens.push(bytes.len() as u32);
        }
        self.bytes.extend_from_slice(bytes);
    }

    pub(super) fn size(&self) -> usize {
        size_of_val(&*self.keys) + size_of_val(&*self.lens) + self.bytes.len()
    }

    pub(super) fn starts(&self, len: ItemLen) -> ItemOffsets {
        if let Some(len) = len {
            return ItemOffsets::Computed(len);
        }
        let ends = self.lens.iter().scan(0, |end, &len| {
            *end += len as usize;
            Some(*end)
        });
        ItemOffsets::Listed(std::iter::once(0).chain(ends).collect())
    }
}

pub(super) enum ItemOffsets {
    /// All items have this length.
    Computed(usize),
    Listed(Vec<usize>),
}

impl ItemOffsets {
    #[inline]
    pub(super) fn range(&self, number: usize) -> Range<usize> {
        match self {
            Self::Computed(len) => number * len..(number + 1) * len,
            Self::Listed(starts) => starts[number]..starts[number + 1],
        }
    }
}

/// Items grouped by partition, in input order within each partition.
pub(super) struct PartitionedItems {
    items: KeyedItems,
    /// Index of the first item of each partition, then the number of items.
    firsts: Vec<u32>,
    /// Offset of the first byte of each partition, then the number of bytes.
    starts: Vec<u32>,
}

impl PartitionedItems {
    /// Distributes items by the key bits of a level. The items may have at most 4 GiB.
    pub(super) fn new(items: &KeyedItems, len: ItemLen, level: u32) -> Self {
        if let Some(len) = len {
            return Self::row(&items.keys, &items.bytes, len, level);
        }
        let from = items.starts(None);
        let (mut firsts, mut starts) = (vec![0_u32; PARTITIONS + 1], vec![0_u32; PARTITIONS + 1]);
        for (&key, &len) in items.keys.iter().zip(&items.lens) {
            firsts[partition(key, level) + 1] += 1;
            starts[partition(key, level) + 1] += len;
        }
        add_up(&mut firsts);
        add_up(&mut starts);
        let mut partitioned = KeyedItems {
            keys: vec![0; items.keys.len()],
            lens: vec![0; items.lens.len()],
            bytes: vec![0; items.bytes.len()],
        };
        let (mut next, mut next_byte) = (firsts.clone(), starts.clone());
        for (number, &key) in items.keys.iter().enumerate() {
            let partition = partition(key, level);
            let bytes = &items.bytes[from.range(number)];
            let (to, at) = (next[partition] as usize, next_byte[partition] as usize);
            partitioned.keys[to] = key;
            partitioned.lens[to] = bytes.len() as u32;
            partitioned.bytes[at..at + bytes.len()].copy_from_slice(bytes);
            next[partition] += 1;
            next_byte[partition] += bytes.len() as u32;
        }
        Self { items: partitioned, firsts, starts }
    }

    /// Like [`Self::new`], for items of fixed length.
    pub(super) fn row(keys: &[u64], bytes: &[u8], len: usize, level: u32) -> Self {
        let mut firsts = vec![0_u32; PARTITIONS + 1];
        for &key in keys {
            firsts[partition(key, level) + 1] += 1;
        }
        add_up(&mut firsts);
        let starts = firsts.iter().map(|first| first * len as u32).collect();
        let mut partitioned =
            KeyedItems { keys: vec![0; keys.len()], lens: Vec::new(), bytes: vec![0; bytes.len()] };
        let mut next = firsts.clone();
        let places: Vec<u32> = keys
            .iter()
            .map(|&key| {
                let next = &mut next[partition(key, level)];
                partitioned.keys[*next as usize] = key;
                *next += 1;
                *next - 1
            })
            .collect();
        scatter(bytes, len, &places, &mut partitioned.bytes);
        Self { items: partitioned, firsts, starts }
    }

    pub(super) fn len(&self) -> u64 {
        self.items.keys.len() as u64
    }

    pub(super) fn size(&self) -> u64 {
        (self.items.size() + size_of_val(&*self.firsts) + size_of_val(&*self.starts)) as u64
    }

    /// Keys, lengths and bytes of a partition.
    pub(super) fn partition(&self, partition: usize) -> (&[u64], &[u32], &[u8]) {
        let items = self.firsts[partition] as usize..self.firsts[partition + 1] as usize;
        let bytes = self.starts[partition] as usize..self.starts[partition + 1] as usize;
        let lens =
            if self.items.lens.is_empty() { &[][..] } else { &self.items.lens[items.clone()] };
        (&self.items.keys[items], lens, &self.items.bytes[bytes])
    }
}

fn partition(key: u64, level: u32) -> usize {
    (key << (level * PARTITION_BITS) >> (u64::BITS - PARTITION_BITS)) as usize
}

/// Turns counts into inclusive prefix sums.
fn add_up(counts: &mut [u32]) {
    let mut sum = 0;
    for count in counts {
        sum += *count;
        *count = sum;
    }
}
