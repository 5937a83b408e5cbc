//! A random order of numbers without a list of them.

use crate::random::SplitMix64;

/// A random permutation of the numbers below a bound.
///
/// It is a Feistel network over the next power of four, repeated until the number is below the bound (Black and
/// Rogaway, "Ciphers with arbitrary finite domains", 2002).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Permutation {
    count: u64,
    half_bits: u32,
    seed: u64,
}

const ROUNDS: u64 = 6;

impl Permutation {
    /// A permutation of the numbers below `count`. Different seeds give different permutations.
    ///
    /// # Panics
    ///
    /// If `count` is 0.
    pub const fn new(count: u64, seed: u64) -> Self {
        assert!(count > 0, "a permutation needs at least one number");
        let bits = u64::BITS - (count - 1).leading_zeros();
        let half_bits = if bits < 2 { 1 } else { bits.div_ceil(2) };
        Self { count, half_bits, seed }
    }

    /// The number at an index.
    ///
    /// # Panics
    ///
    /// If the index is not below the bound.
    pub fn at(&self, index: u64) -> u64 {
        assert!(index < self.count, "index {index} of a permutation of {} numbers", self.count);
        let mut number = index;
        loop {
            number = self.encrypt(number);
            if number < self.count {
                return number;
            }
        }
    }

    fn encrypt(&self, number: u64) -> u64 {
        let mask = (1 << self.half_bits) - 1;
        let (mut left, mut right) = (number >> self.half_bits, number & mask);
        for round in 0..ROUNDS {
            let key = SplitMix64::nth_bits(self.seed, round);
            (left, right) = (right, left ^ (SplitMix64::nth_bits(key, right) & mask));
        }
        left << self.half_bits | right
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_number_occurs_once() {
        for count in [1, 2, 3, 5, 64, 1000, 4097] {
            let order = Permutation::new(count, 7);
            let numbers: BTreeSet<u64> = (0..count).map(|index| order.at(index)).collect();
            assert_eq!(numbers.len() as u64, count);
            assert_eq!(numbers.last(), Some(&(count - 1)));
        }
    }

    #[test]
    fn different_seeds_give_different_orders() {
        let [one, other] = [1, 2].map(|seed| Permutation::new(10_000, seed));
        let same = (0..10_000).filter(|&index| one.at(index) == other.at(index)).count();
        assert!(same < 20, "{same}");
        let moved: u64 = (0..10_000).map(|index| one.at(index).abs_diff(index)).sum();
        assert!((3000..3700).contains(&(moved / 10_000)), "{moved}");
        assert!(Permutation::new(u64::MAX, 1).at(u64::MAX - 1) < u64::MAX);
    }
}
