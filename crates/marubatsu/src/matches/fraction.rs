//! Probabilities as fractions in lowest terms.
//!
//! Reduced by Euclid's algorithm.

use std::fmt;
use std::ops::Add;

use serde::{Serialize, Serializer};

/// A non-negative fraction in lowest terms.
///
/// Sums of products of at most nine factors 1/n with n ≤ 9 have denominators that divide 9!, far below the limit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Fraction {
    numerator: u64,
    denominator: u64,
}

impl Fraction {
    /// The number 0.
    pub const ZERO: Self = Self { numerator: 0, denominator: 1 };
    /// The number 1.
    pub const ONE: Self = Self { numerator: 1, denominator: 1 };

    /// A fraction. The denominator must not be 0.
    pub const fn new(numerator: u64, denominator: u64) -> Self {
        let divisor = greatest_common_divisor(numerator, denominator);
        Self { numerator: numerator / divisor, denominator: denominator / divisor }
    }

    /// The fraction divided by `parts`, which must not be 0.
    #[must_use]
    pub const fn part(self, parts: u64) -> Self {
        Self::new(self.numerator, self.denominator * parts)
    }

    /// Approximate value.
    pub fn value(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }
}

const fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

impl Add for Fraction {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let common = self.denominator
            / greatest_common_divisor(self.denominator, other.denominator)
            * other.denominator;
        let widened = |fraction: Self| fraction.numerator * (common / fraction.denominator);
        Self::new(widened(self) + widened(other), common)
    }
}

impl fmt::Display for Fraction {
    /// `737/1260`. Whole numbers have no denominator.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.numerator)?;
        if self.denominator == 1 { Ok(()) } else { write!(f, "/{}", self.denominator) }
    }
}

impl Serialize for Fraction {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_in_lowest_terms() {
        let sum =
            Fraction::new(1, 6) + Fraction::new(2, 12) + Fraction::ONE.part(3) + Fraction::ZERO;
        assert_eq!(sum, Fraction::new(2, 3));
        assert_eq!(sum.to_string(), "2/3");
        assert_eq!((sum + Fraction::new(1, 3)).to_string(), "1");
    }
}
