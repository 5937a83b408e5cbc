//! A cache of evaluations, shared by the games of a device.

use std::sync::Arc;

use kyokumen_format::PositionKey;
use kyokumen_shogi::Position;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

/// Bytes of an entry without its numbers: the key, the pointer and the bookkeeping of the cache.
const ENTRY_BYTES: usize = size_of::<PositionKey>() + 64;

/// Bytes of an entry with the moves of an ordinary position.
const TYPICAL_BYTES: usize = ENTRY_BYTES + 100 * size_of::<f32>();

/// Evaluations by position. Equal keys belong to equal positions only, so a hit gives the bits that the network would
/// give. When the memory is full, entries that were not used again are removed first.
pub(crate) struct EvaluationCache(Cache<PositionKey, Arc<[f32]>, NumberBytes>);

#[derive(Clone)]
struct NumberBytes;

impl Weighter<PositionKey, Arc<[f32]>> for NumberBytes {
    fn weight(&self, _: &PositionKey, numbers: &Arc<[f32]>) -> u64 {
        (ENTRY_BYTES + size_of_val(&**numbers)) as u64
    }
}

/// The result of the network for a position.
pub(crate) struct CachedEvaluation(Arc<[f32]>);

impl EvaluationCache {
    /// Creates a cache that uses about this number of bytes.
    pub(crate) fn new(bytes: usize) -> Self {
        Self(Cache::with_weighter(bytes / TYPICAL_BYTES, bytes as u64, NumberBytes))
    }

    /// What a network sees of a position: board, hands and side to move.
    pub(crate) fn key(position: &Position) -> PositionKey {
        PositionKey::of(&position.setup())
    }

    pub(crate) fn get(&self, key: &PositionKey) -> Option<CachedEvaluation> {
        self.0.get(key).map(CachedEvaluation)
    }

    pub(crate) fn insert(&self, key: PositionKey, policy: &[f32], value: f32) {
        self.0.insert(key, policy.iter().copied().chain([value]).collect());
    }
}

impl CachedEvaluation {
    /// Probabilities of the legal moves, and of a win.
    pub(crate) fn policy_and_value(&self) -> (&[f32], f32) {
        let (value, policy) = self.0.split_last().expect("the value is the last number");
        (policy, *value)
    }
}

#[cfg(test)]
mod tests {
    use kyokumen_shogi::random_play::RandomPlay;

    use super::*;

    #[test]
    fn entries_are_found_until_the_memory_is_full() {
        let cache = EvaluationCache::new(100 << 10);
        let mut positions = Vec::new();
        for game in RandomPlay::new(5, 60).take(20) {
            let mut position = Position::start();
            for m in game.moves {
                position.make(m);
                positions.push(position.clone());
            }
        }
        let mut found = 0;
        for (number, position) in positions.iter().enumerate() {
            let key = EvaluationCache::key(position);
            let policy: Vec<f32> = (0..position.legal_moves().len()).map(|i| i as f32).collect();
            cache.insert(key, &policy, number as f32);
            let cached = cache.get(&key).expect("the entry that was just added");
            assert_eq!(cached.policy_and_value(), (&*policy, number as f32));
        }
        for position in &positions {
            found += usize::from(cache.get(&EvaluationCache::key(position)).is_some());
        }
        assert!(found > 50 && found < positions.len() / 2, "{found} of {}", positions.len());
        assert!(cache.0.weight() <= 100 << 10);
    }

    #[test]
    fn the_side_to_move_and_the_hands_are_part_of_the_key() {
        let key = |sfen: &str| EvaluationCache::key(&sfen.parse::<Position>().unwrap());
        let black = key("4k4/9/9/9/9/9/9/9/4K4 b P 1");
        assert_eq!(black, key("4k4/9/9/9/9/9/9/9/4K4 b P 41"));
        for other in ["4k4/9/9/9/9/9/9/9/4K4 w P 1", "4k4/9/9/9/9/9/9/9/4K4 b 2P 1"] {
            assert_ne!(black, key(other));
        }
    }
}
