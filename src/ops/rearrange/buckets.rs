//! More items than memory holds, brought into the order of their keys.
//!
//! Items are laid into buckets by the first bits of their keys; a bucket that fits into memory is put in
//! order there, a larger one is laid into buckets by the next bits. While everything fits, nothing is
//! written to disk. This is the distribution sort of Knuth, The Art of Computer Programming, volume 3, 5.4.9.

use std::sync::Arc;

use super::laid::{BUCKET_BITS, BUCKETS, Items, KEY_BITS, Laid, Len, NUMBER_MASK};
use super::plan::Means;
use super::spill::Spill;
use crate::ops::error::OperationError;

/// The share of the user's memory, in eighths, that items may take before they are written to disk. The
/// rest is for blocks and buckets under way.
#[derive(Clone, Copy)]
pub(super) struct Share(u64);

impl Share {
    /// Where there is one store.
    pub(super) const ALL: Self = Self(7);
    /// Where there are several: the first one.
    pub(super) const MOST: Self = Self(4);
    /// The second one.
    pub(super) const REST: Self = Self(2);
    /// A third one.
    pub(super) const LAST: Self = Self(1);
    /// For a bucket that is laid into buckets again, while others are under way.
    const AGAIN: Self = Self(1);

    const fn of(self, bytes: u64) -> u64 {
        bytes / 8 * self.0
    }
}

/// A bucket that takes no more than this is put in order, however little memory there is.
const SMALL_BUCKET_BYTES: u64 = 1 << 16;

/// What is written together can be read together and laid into buckets again, where places have 32 bits.
const MOST_WRITTEN_BYTES: u64 = 1 << 30;

/// Nor is it more than this part of the memory.
const MOST_WRITTEN_SHARE: u64 = 8;

/// A bucket in memory takes its size, about as much again in order, and its keys.
const COPIES: u64 = 3;

/// Buckets while items are laid into them.
pub(super) struct Buckets {
    means: Means,
    len: Len,
    /// Which bits of the keys choose the bucket: 0 for the first ones.
    level: u32,
    room_bytes: u64,
    held: Vec<Laid>,
    held_bytes: u64,
    spill: Option<Spill>,
    /// Items that were added.
    items: u64,
}

impl Buckets {
    /// For items of this length within a share of the user's memory.
    pub(super) fn new(means: &Means, len: Len, share: Share) -> Self {
        Self::on_level(means, len, 0, share)
    }

    fn on_level(means: &Means, len: Len, level: u32, share: Share) -> Self {
        let room_bytes = share.of(means.memory.bytes());
        let (held, means) = (Vec::new(), means.clone());
        Self { means, len, level, room_bytes, held, held_bytes: 0, spill: None, items: 0 }
    }

    /// Adds items behind all that came before.
    pub(super) fn add(&mut self, laid: Laid) -> Result<(), OperationError> {
        self.held_bytes += laid.size();
        self.items += laid.len();
        self.held.push(laid);
        if self.held_bytes > self.room_bytes { self.write_held() } else { Ok(()) }
    }

    /// Items and bytes of the largest bucket of what is in memory.
    fn largest(&self) -> (u64, u64) {
        (0..BUCKETS).map(|bucket| count(&self.held, bucket)).max().unwrap_or_default()
    }

    /// Number of items.
    pub(super) const fn items(&self) -> u64 {
        self.items
    }

    fn write_held(&mut self) -> Result<(), OperationError> {
        let spill = match &mut self.spill {
            Some(spill) => spill,
            none => none.insert(Spill::create(&self.means.folder())?),
        };
        let most_bytes = MOST_WRITTEN_BYTES.min(self.means.memory.bytes() / MOST_WRITTEN_SHARE);
        let mut held = &self.held[..];
        while !held.is_empty() {
            let (group, rest) = held.split_at(first_group(held, most_bytes));
            (0..BUCKETS).try_for_each(|bucket| spill.append(bucket, group))?;
            held = rest;
        }
        self.held.clear();
        self.held_bytes = 0;
        Ok(())
    }

    /// Nothing more is added.
    pub(super) fn seal(mut self) -> Result<Sealed, OperationError> {
        // Buckets that are under way from now on need memory, too.
        let under_way = size_in_memory(self.largest()) * self.means.buckets_under_way() as u64;
        if self.spill.is_some() || self.held_bytes + under_way > self.means.memory.bytes() {
            self.write_held()?;
        }
        let Self { means, len, level, held, spill, .. } = self;
        Ok(Sealed { means, len, level, held, spill })
    }
}

/// Items and bytes of a bucket of all these.
fn count(all: &[Laid], bucket: usize) -> (u64, u64) {
    let buckets = all.iter().map(|laid| laid.bucket(bucket));
    buckets.fold((0, 0), |(items, size), (keys, _, bytes)| {
        (items + keys.len() as u64, size + bytes.len() as u64)
    })
}

/// Memory that a bucket of so many items of so many bytes takes while it is put in order.
const fn size_in_memory((items, bytes): (u64, u64)) -> u64 {
    (bytes + items * 2 * size_of::<u64>() as u64) * COPIES
}

/// How many of these are written together: at least one, and no more than so many bytes.
fn first_group(held: &[Laid], most_bytes: u64) -> usize {
    let sizes = held.iter().scan(0, |size, laid| {
        *size += laid.size();
        Some(*size)
    });
    sizes.take_while(|&size| size <= most_bytes).count().max(1)
}

/// Buckets that are complete.
pub(super) struct Sealed {
    means: Means,
    pub(super) len: Len,
    level: u32,
    held: Vec<Laid>,
    spill: Option<Spill>,
}

impl Sealed {
    /// All buckets in the order of keys, each small enough to be handled in memory.
    pub(super) fn buckets(self) -> Emptying {
        Emptying { stores: vec![(Arc::new(self), 0)] }
    }

    fn count(&self, bucket: usize) -> (u64, u64) {
        let (mut items, mut bytes) = count(&self.held, bucket);
        if let Some(spill) = &self.spill {
            let (spilled, spilled_bytes) = spill.count(bucket);
            items += spilled;
            bytes += spilled_bytes;
        }
        (items, bytes)
    }

    /// Whether a bucket is to be laid into buckets again.
    fn is_too_large(&self, bucket: usize) -> bool {
        let (items, bytes) = self.count(bucket);
        let size = size_in_memory((items, bytes));
        let share = self.means.memory.bytes() / self.means.buckets_under_way() as u64;
        let is_large = self.spill.is_some() && size > share.max(SMALL_BUCKET_BYTES);
        let can_be_split = (self.level + 2) * BUCKET_BITS <= KEY_BITS && items > 1;
        (is_large || items > NUMBER_MASK) && can_be_split
    }

    fn read(&self, bucket: usize, items: &mut Items) -> Result<(), OperationError> {
        let (count, bytes) = self.count(bucket);
        items.keys.reserve(count as usize);
        items.bytes.reserve(bytes as usize);
        if let Some(spill) = &self.spill {
            spill.extents(bucket).try_for_each(|extent| spill.load(extent, self.len, items))?;
        }
        for laid in &self.held {
            let (keys, lens, bytes) = laid.bucket(bucket);
            items.keys.extend_from_slice(keys);
            items.lens.extend_from_slice(lens);
            items.bytes.extend_from_slice(bytes);
        }
        Ok(())
    }

    /// Lays a bucket into buckets.
    fn again(&self, bucket: usize) -> Result<Self, OperationError> {
        let level = self.level + 1;
        let mut buckets = Buckets::on_level(&self.means, self.len, level, Share::AGAIN);
        for laid in &self.held {
            let (keys, lens, bytes) = laid.bucket(bucket);
            let items = Items { keys: keys.into(), lens: lens.into(), bytes: bytes.into() };
            buckets.add(Laid::new(&items, self.len, level))?;
        }
        if let Some(spill) = &self.spill {
            for extent in spill.extents(bucket) {
                let mut items = Items::default();
                spill.load(extent, self.len, &mut items)?;
                buckets.add(Laid::new(&items, self.len, level))?;
            }
        }
        buckets.seal()
    }
}

/// A bucket that can be handled in memory.
pub(super) struct Bucket {
    store: Arc<Sealed>,
    bucket: usize,
}

impl Bucket {
    /// Puts what is in it behind other items, in the order in which it came.
    pub(super) fn read(&self, items: &mut Items) -> Result<(), OperationError> {
        self.store.read(self.bucket, items)
    }

    /// The keys of what is in it, in the order in which it came.
    pub(super) fn keys(&self) -> Result<Vec<u64>, OperationError> {
        let mut items = Items::default();
        self.read(&mut items)?;
        Ok(items.keys)
    }

    /// The length of the items, if all have the same.
    pub(super) fn len(&self) -> Len {
        self.store.len
    }
}

/// The iterator of [`Sealed::buckets`].
pub(super) struct Emptying {
    /// The levels that are being emptied, with the next bucket of each.
    stores: Vec<(Arc<Sealed>, usize)>,
}

impl Iterator for Emptying {
    type Item = Result<Bucket, OperationError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (store, next) = self.stores.last_mut()?;
            let bucket = *next;
            if bucket == BUCKETS {
                self.stores.pop();
                continue;
            }
            *next += 1;
            if !store.is_too_large(bucket) {
                return Some(Ok(Bucket { store: Arc::clone(store), bucket }));
            }
            match store.again(bucket) {
                Ok(store) => self.stores.push((Arc::new(store), 0)),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::laid::counted;
    use super::super::ordered::Ordered;
    use super::*;
    use crate::random::SplitMix64;

    fn means(memory: &str) -> Means {
        Means { memory: memory.parse().unwrap(), threads: 1, tmp_dir: None }
    }

    /// Keys and bytes of all items as they come out, within so much memory.
    fn ordered(blocks: &[Items], len: Len, memory: &str) -> Vec<(u64, Vec<u8>)> {
        let mut buckets = Buckets::new(&means(memory), len, Share::ALL);
        for items in blocks {
            buckets.add(Laid::new(items, len, 0)).unwrap();
        }
        let (mut ordered, mut bucket_ordered) = (Vec::new(), Ordered::default());
        for bucket in buckets.seal().unwrap().buckets() {
            bucket_ordered.load(&bucket.unwrap()).unwrap();
            let Ordered { items, order, .. } = &bucket_ordered;
            let starts = items.starts(len);
            for &item in order {
                let item = item as usize;
                ordered.push((items.keys[item], items.bytes[starts.range(item)].to_vec()));
            }
        }
        ordered
    }

    /// Blocks of items whose bytes are their numbers, some of them longer than that.
    fn blocks(keys: &[u64], len: Len) -> Vec<Items> {
        let numbers: Vec<u64> = (0..keys.len() as u64).collect();
        let chunks = keys.chunks(700).zip(numbers.chunks(700));
        let block = |(keys, numbers): (&[u64], &[u64])| {
            let mut items = Items::default();
            for (&key, number) in keys.iter().zip(numbers) {
                let more = if len.is_some() { 0 } else { (number % 5) as usize };
                items.push(key, &[&number.to_le_bytes()[..], &[7; 5][..more]].concat(), len);
            }
            items
        };
        chunks.map(block).collect()
    }

    #[test]
    fn items_come_out_in_the_order_of_their_keys_whatever_the_memory() {
        let mut random = SplitMix64::new(4);
        let spread: Vec<u64> = (0..5000).map(|_| random.next_bits()).collect();
        // Many agree in the first bits, some in all that count, and some in nothing else.
        let alike = |key: &u64| (key % 3) << 60 | (key % 1000) << 20 | (key % 2);
        let alike: Vec<u64> = spread.iter().map(alike).collect();
        for keys in [&spread, &alike, &vec![5; 3000], &vec![]] {
            for len in [Some(8), None] {
                let blocks = blocks(keys, len);
                let mut expected: Vec<(u64, u64)> = keys.iter().copied().zip(0..).collect();
                expected.sort_by_key(|&(key, _)| counted(key));
                for memory in ["1G", "100K", "4K", "1"] {
                    let ordered = ordered(&blocks, len, memory);
                    let numbered = ordered.iter().map(|(key, bytes)| {
                        (*key, u64::from_le_bytes(bytes[..8].try_into().unwrap()))
                    });
                    assert!(numbered.eq(expected.iter().copied()), "{len:?} {memory}");
                }
            }
        }
    }
}
