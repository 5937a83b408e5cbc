//! The number of distinct positions: exact while they fit into memory, estimated otherwise.
//!
//! The estimate is `HyperLogLog` (Flajolet, Fusy, Gandouet, Meunier 2007) with 64-bit hashes.

use serde::Serialize;

use crate::format::PositionKey;
use crate::records::position_set::{PositionSet, hash};
use crate::storage::memory::Memory;

/// The number of distinct positions.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct DistinctPositions {
    /// The exact or estimated number.
    pub positions: u64,
    /// Whether the number is exact. Otherwise it is an estimate.
    pub is_exact: bool,
    /// The standard error of the estimate in per cent. 0 if the number is exact.
    pub error_percent: f64,
}

pub(super) enum Distinct {
    Counted(PositionSet),
    /// Used once the set is full.
    Estimated(Sketch),
}

impl Distinct {
    pub(super) const fn within(memory: Memory) -> Self {
        Self::Counted(PositionSet::within(memory))
    }

    pub(super) fn insert(&mut self, position: &PositionKey) {
        match self {
            Self::Estimated(sketch) => sketch.insert(hash(position)),
            Self::Counted(set) => {
                if set.insert(position).is_err() {
                    let mut sketch = Sketch::new();
                    let positions = set.iter().chain([position]);
                    positions.for_each(|position| sketch.insert(hash(position)));
                    *self = Self::Estimated(sketch);
                }
            }
        }
    }

    pub(super) fn count(&self) -> DistinctPositions {
        match self {
            Self::Counted(set) => DistinctPositions {
                positions: set.len() as u64,
                is_exact: true,
                error_percent: 0.0,
            },
            Self::Estimated(sketch) => DistinctPositions {
                positions: sketch.estimate(),
                is_exact: false,
                error_percent: Sketch::ERROR_PERCENT,
            },
        }
    }
}

/// Registers of `HyperLogLog`. Each contains the longest run of leading zeros of its hashes plus 1.
pub(super) struct Sketch {
    registers: Vec<u8>,
}

/// Bits of a hash that choose its register.
const REGISTER_BITS: u32 = 16;
const REGISTERS: usize = 1 << REGISTER_BITS;

impl Sketch {
    /// 1.04 divided by the square root of the number of registers.
    const ERROR_PERCENT: f64 = 104.0 / 256.0;

    fn new() -> Self {
        Self { registers: vec![0; REGISTERS] }
    }

    fn insert(&mut self, hash: u64) {
        let register = (hash >> (u64::BITS - REGISTER_BITS)) as usize;
        // Leading zeros plus 1. The added bit limits the zeros to the remaining bits of the hash.
        let rank = ((hash << REGISTER_BITS) | (1 << (REGISTER_BITS - 1))).leading_zeros() + 1;
        self.registers[register] = self.registers[register].max(rank as u8);
    }

    #[expect(clippy::cast_sign_loss, reason = "a number of positions is not negative")]
    fn estimate(&self) -> u64 {
        let registers = REGISTERS as f64;
        let sum: f64 = self.registers.iter().map(|&rank| (-f64::from(rank)).exp2()).sum();
        let estimate = 0.7213 / (1.0 + 1.079 / registers) * registers * registers / sum;
        let empty = memchr::memchr_iter(0, &self.registers).count();
        if estimate <= 2.5 * registers && empty > 0 {
            // For few positions the number of empty registers is more accurate ("linear counting").
            return (registers * (registers / empty as f64).ln()).round() as u64;
        }
        estimate.round() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;
    use crate::shogi::Position;
    use crate::shogi::random_play::RandomPlay;

    #[test]
    fn estimates_are_within_four_standard_errors() {
        for count in [10_u64, 1000, 100_000, 1_000_000] {
            let mut sketch = Sketch::new();
            let mut random = SplitMix64::new(count);
            let hashes: Vec<u64> = (0..count).map(|_| random.next_bits()).collect();
            // Each hash twice: repeated positions must not change the estimate.
            hashes.iter().chain(&hashes).for_each(|&hash| sketch.insert(hash));
            let error = (sketch.estimate() as f64 / count as f64 - 1.0).abs() * 100.0;
            assert!(error < 4.0 * Sketch::ERROR_PERCENT, "{count}: {error} %");
        }
    }

    #[test]
    fn count_is_exact_until_memory_is_full() {
        let mut keys = Vec::new();
        for game in RandomPlay::new(3, 80).take(250) {
            let mut position = Position::start();
            for m in game.moves {
                position.make(m);
                keys.push(PositionKey::of(&position.setup()));
            }
        }
        let counted = |memory: &str| {
            let mut distinct = Distinct::within(memory.parse().unwrap());
            for key in &keys {
                distinct.insert(key);
            }
            distinct.count()
        };
        let expected = keys.iter().collect::<std::collections::HashSet<_>>().len() as u64;
        let exact = counted("10M");
        assert_eq!((exact.positions, exact.is_exact), (expected, true));
        let estimate = counted("100K");
        assert!(!estimate.is_exact);
        let error = (estimate.positions as f64 / expected as f64 - 1.0).abs();
        assert!(error < 0.02, "{} of {expected}", estimate.positions);
    }
}
