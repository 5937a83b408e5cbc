//! A set of positions with a memory limit.
//!
//! It stores whole positions instead of hashes, so different positions are never taken as equal. The table uses open
//! addressing with linear probing (Knuth, The Art of Computer Programming, volume 3, 6.4).

use crate::error::{Error, ErrorKind};
use crate::format::PositionKey;
use crate::random::SplitMix64;
use crate::storage::memory::Memory;

/// Positions per allocation. Chunks are never reallocated, so positions are never copied.
const CHUNK: usize = 1 << 11;

const MIN_SLOTS: usize = 1 << 10;

/// The table grows when more than this many of four slots are taken.
const MAX_QUARTERS_FULL: usize = 3;

#[derive(Debug)]
pub(crate) struct PositionSet {
    chunks: Vec<Vec<PositionKey>>,
    /// Numbers of positions from 1 on; 0 is an empty slot. The length is a power of two.
    slots: Vec<u32>,
    len: usize,
    most: Memory,
}

impl PositionSet {
    pub(crate) const fn within(memory: Memory) -> Self {
        Self { chunks: Vec::new(), slots: Vec::new(), len: 0, most: memory }
    }

    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// In insertion order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &PositionKey> {
        self.chunks.iter().flatten()
    }

    /// Returns whether the position is new. Fails if it is new and the memory is full.
    pub(crate) fn insert(&mut self, key: &PositionKey) -> Result<bool, Error> {
        if self.slots.is_empty() {
            self.grow()?;
        }
        let mut slot = self.slot_of(key);
        if self.slots[slot] != 0 {
            return Ok(false);
        }
        if (self.len + 1) * 4 > self.slots.len() * MAX_QUARTERS_FULL {
            self.grow()?;
            slot = self.slot_of(key);
        }
        self.push(key)?;
        self.slots[slot] = self.len as u32;
        Ok(true)
    }

    /// The slot with this position, or the empty slot for it.
    fn slot_of(&self, key: &PositionKey) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = hash(key) as usize & mask;
        loop {
            match self.slots[slot] {
                0 => return slot,
                number if self.position(number as usize - 1) == key => return slot,
                _ => slot = (slot + 1) & mask,
            }
        }
    }

    fn position(&self, index: usize) -> &PositionKey {
        &self.chunks[index / CHUNK][index % CHUNK]
    }

    fn push(&mut self, key: &PositionKey) -> Result<(), Error> {
        if self.len.is_multiple_of(CHUNK) {
            self.check(self.slots.len(), self.chunks.len() + 1)?;
            self.chunks.push(Vec::with_capacity(CHUNK));
        }
        if let Some(chunk) = self.chunks.last_mut() {
            chunk.push(*key);
        }
        self.len += 1;
        Ok(())
    }

    fn grow(&mut self) -> Result<(), Error> {
        let more = (2 * self.slots.len()).max(MIN_SLOTS);
        // The old and the new table exist at the same time.
        self.check(self.slots.len() + more, self.chunks.len())?;
        self.slots = vec![0; more];
        for index in 0..self.len {
            let slot = self.slot_of(self.position(index));
            self.slots[slot] = index as u32 + 1;
        }
        Ok(())
    }

    fn check(&self, slots: usize, chunks: usize) -> Result<(), Error> {
        let bytes = slots * size_of::<u32>() + chunks * CHUNK * size_of::<PositionKey>();
        if bytes as u64 > self.most.bytes() || self.len >= u32::MAX as usize {
            return Err(Error::new(
                ErrorKind::Resources,
                format!(
                    "--memory {} is full with {} positions; increase it, or use `kyokumen dedup`, which does not keep \
                     positions in memory",
                    self.most, self.len
                ),
            ));
        }
        Ok(())
    }
}

/// Mixes all bits of a position, word by word as SplitMix64 mixes its counter.
pub(crate) fn hash(key: &PositionKey) -> u64 {
    let (words, _) = key.bytes().as_chunks::<8>();
    words.iter().fold(0, |hash, word| SplitMix64::new(hash ^ u64::from_le_bytes(*word)).next_bits())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shogi::Position;
    use crate::shogi::random_play::RandomPlay;
    use std::collections::HashSet;

    /// Positions of some games, with openings that repeat.
    fn keys(games: usize) -> Vec<PositionKey> {
        let mut keys = Vec::new();
        for game in RandomPlay::new(9, 60).take(games) {
            let mut position = Position::start();
            for m in game.moves {
                keys.push(PositionKey::of(&position.setup()));
                position.make(m);
            }
        }
        keys
    }

    #[test]
    fn each_position_is_new_once() {
        let mut set = PositionSet::within("1M".parse().unwrap());
        let mut expected = HashSet::new();
        for key in keys(200) {
            assert_eq!(set.insert(&key).unwrap(), expected.insert(key));
        }
        assert_eq!(set.len(), expected.len());
        assert!(set.len() > 5000, "the table has grown");
    }

    #[test]
    fn a_full_set_still_finds_its_positions() {
        let memory: Memory = "200K".parse().unwrap();
        let mut set = PositionSet::within(memory);
        let keys = keys(200);
        let full = keys.iter().find_map(|key| set.insert(key).err());
        let message = format!("--memory {memory} is full with {} positions", set.len());
        assert!(full.unwrap().to_string().starts_with(&message));
        assert!((1000..6400).contains(&set.len()), "{}", set.len());
        assert!(!set.insert(&keys[0]).unwrap());
    }
}
