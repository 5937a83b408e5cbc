//! How many different positions there are: counted as long as memory lasts, estimated beyond.
//!
//! The estimate is `HyperLogLog` (Flajolet, Fusy, Gandouet, Meunier 2007) with hashes of 64 bits.

use serde::Serialize;

use crate::format::PositionKey;
use crate::records::position_set::{PositionSet, hash};
use crate::storage::memory::Memory;

/// How many different positions were met.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct DistinctPositions {
    /// So many.
    pub positions: u64,
    /// Whether they were counted; estimated otherwise.
    pub is_exact: bool,
    /// The standard error of an estimate, in per cent; 0 where they were counted.
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
                    let met = set.iter().chain([position]);
                    met.for_each(|position| sketch.insert(hash(position)));
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

/// Registers of `HyperLogLog`: for each part of the hashes, the longest run of leading zeros plus 1.
pub(super) struct Sketch {
    registers: Vec<u8>,
}

/// Bits of a hash that choose its register.
const REGISTER_BITS: u32 = 16;
const REGISTERS: usize = 1 << REGISTER_BITS;

impl Sketch {
    /// 1.04 divided by the root of the number of registers.
    const ERROR_PERCENT: f64 = 104.0 / 256.0;

    fn new() -> Self {
        Self { registers: vec![0; REGISTERS] }
    }

    fn insert(&mut self, hash: u64) {
        let register = (hash >> (u64::BITS - REGISTER_BITS)) as usize;
        // One more than the zeros, which cannot be more than the bits that are left.
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
            // Of few positions the empty registers tell more ("linear counting").
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
    fn an_estimate_is_as_good_as_it_says() {
        for count in [10_u64, 1000, 100_000, 1_000_000] {
            let mut sketch = Sketch::new();
            let mut random = SplitMix64::new(count);
            let hashes: Vec<u64> = (0..count).map(|_| random.next_bits()).collect();
            // Each twice: what was met before changes nothing.
            hashes.iter().chain(&hashes).for_each(|&hash| sketch.insert(hash));
            let error = (sketch.estimate() as f64 / count as f64 - 1.0).abs() * 100.0;
            assert!(error < 4.0 * Sketch::ERROR_PERCENT, "{count}: {error} %");
        }
    }

    #[test]
    fn positions_are_counted_while_memory_lasts() {
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
