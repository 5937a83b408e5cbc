//! The choice of records to show: the first ones, a range, or a random sample.

use std::collections::BinaryHeap;
use std::fmt;
use std::str::FromStr;

use crate::random::SplitMix64;
use crate::storage::value_error::ParseValueError;

/// The records to show.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RecordChoice {
    /// This number of records from the start, or all if there are fewer.
    First(u64),
    /// The records of a range. They must exist.
    Range(RecordRange),
    /// A random sample, the same as that of `sample --count`.
    Sample {
        /// Number of records. All records if there are fewer.
        count: usize,
        /// Seed of the sample.
        seed: u64,
    },
}

/// A range of record numbers, from 0: `5`, `5..8`, `5..` or `..8`. The end is exclusive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecordRange {
    /// The first record.
    pub from: u64,
    /// The first record after the range. `None`: up to the end.
    pub to: Option<u64>,
}

impl FromStr for RecordRange {
    type Err = ParseValueError;

    fn from_str(text: &str) -> Result<Self, ParseValueError> {
        let number = |text: &str| match text {
            "" => Some(None),
            _ => text.parse::<u64>().ok().map(Some),
        };
        let range = match text.split_once("..") {
            Some((from, to)) => {
                number(from).zip(number(to)).map(|(from, to)| Self { from: from.unwrap_or(0), to })
            }
            None => text.parse().ok().map(|from: u64| Self { from, to: from.checked_add(1) }),
        };
        range.filter(|range| range.to.is_none_or(|to| range.from < to)).ok_or_else(|| {
            ParseValueError::new(
                text,
                "not a range of records",
                "A..B with A < B, A.., ..B or a single number A; records are numbered from 0",
            )
        })
    }
}

impl fmt::Display for RecordRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to {
            Some(to) => write!(f, "{}..{to}", self.from),
            None => write!(f, "{}..", self.from),
        }
    }
}

/// Returns the numbers of the sampled records in ascending order: the records with the smallest keys, as in
/// [`ops::rearrange::sample`](crate::ops::rearrange::sample).
pub(super) fn sampled(records: u64, count: usize, seed: u64) -> Vec<u64> {
    let mut smallest = BinaryHeap::new();
    for number in 0..records {
        let keyed = (SplitMix64::nth_bits(seed, number), number);
        if smallest.len() < count {
            smallest.push(keyed);
        } else if smallest.peek().is_some_and(|largest| keyed < *largest) {
            smallest.pop();
            smallest.push(keyed);
        }
    }
    let mut numbers: Vec<u64> = smallest.into_iter().map(|(_, number)| number).collect();
    numbers.sort_unstable();
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sample_contains_the_smallest_keys() {
        let key = |number: &u64| SplitMix64::nth_bits(7, *number);
        let numbers = sampled(1000, 20, 7);
        assert!(numbers.len() == 20 && numbers.is_sorted());
        let largest = numbers.iter().map(key).max();
        let others = (0..1000).filter(|number| !numbers.contains(number));
        assert!(others.map(|number| key(&number)).min() > largest);
        assert_eq!(sampled(3, 20, 7), [0, 1, 2]);
        assert!(sampled(3, 0, 7).is_empty() && sampled(0, 3, 7).is_empty());
    }

    #[test]
    fn ranges_start_at_zero_and_exclude_their_end() {
        let range = |from, to| Ok(RecordRange { from, to });
        assert_eq!("5..8".parse(), range(5, Some(8)));
        assert_eq!("5..".parse(), range(5, None));
        assert_eq!("..8".parse(), range(0, Some(8)));
        assert_eq!("..".parse(), range(0, None));
        assert_eq!("5".parse(), range(5, Some(6)));
        for text in ["", "8..5", "5..5", "a..b", "-1", "1..2..3", "1-2"] {
            assert!(text.parse::<RecordRange>().is_err(), "{text}");
        }
    }
}
