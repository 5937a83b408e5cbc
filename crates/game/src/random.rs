//! Reproducible random numbers: a seed gives the same numbers on every machine and in every version.
//!
//! The generator is `SplitMix64` (Steele, Lea and Flood, OOPSLA 2014).

/// SplitMix64: a counter and a mixing function.
#[derive(Clone, Debug)]
pub struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    /// The increment of the counter: the odd number next to 2⁶⁴ divided by the golden ratio.
    pub const STEP: u64 = 0x9e3779b97f4a7c15;

    /// A generator with this seed. Every seed is valid.
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 random bits.
    pub const fn next_bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(Self::STEP);
        Self::mixed(self.state)
    }

    /// The mixing function: each bit of the argument changes about half of the bits.
    pub const fn mixed(mut bits: u64) -> u64 {
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58476d1ce4e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d049bb133111eb);
        bits ^ (bits >> 31)
    }

    /// The output with index `n` of the generator with this seed: the first one has index 0.
    pub const fn nth_bits(seed: u64, n: u64) -> u64 {
        Self::new(seed.wrapping_add(n.wrapping_mul(Self::STEP))).next_bits()
    }

    /// A random number from 0 to 1, without 1.
    pub fn unit(&mut self) -> f64 {
        (self.next_bits() >> (u64::BITS - f64::MANTISSA_DIGITS)) as f64
            / (1_u64 << f64::MANTISSA_DIGITS) as f64
    }

    /// A random number below `bound`, which must not be 0. Its bias is less than `bound` / 2⁶⁴.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next_bits()) * bound as u128) >> 64) as usize
    }

    /// A random item; `None` if there are no items.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> Option<T> {
        if items.is_empty() { None } else { Some(items[self.below(items.len())]) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of the authors' program for the seed 1234567.
    #[test]
    fn numbers_equal_the_reference_implementation() {
        let mut random = SplitMix64::new(1234567);
        let numbers = [(); 5].map(|()| random.next_bits());
        assert_eq!(
            numbers,
            [
                6457827717110365317,
                3203168211198807973,
                9817491932198370423,
                4593380528125082431,
                16408922859458223821
            ]
        );
        let mut counts = [0; 6];
        for _ in 0..6000 {
            counts[random.below(6)] += 1;
        }
        assert!(counts.iter().all(|count| (850..1150).contains(count)), "{counts:?}");
    }
}
