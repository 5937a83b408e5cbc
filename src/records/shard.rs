//! Shards of the whole work, one for each machine or job.

use std::fmt;
use std::str::FromStr;

use crate::storage::value_error::ParseValueError;

/// One of several contiguous ranges of all records, with equal sizes. Numbered from 1, as in `3/10`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shard {
    index: u32,
    count: u32,
}

impl Shard {
    /// Shard `index` of `count`; `None` unless 1 ≤ `index` ≤ `count`.
    pub const fn new(index: u32, count: u32) -> Option<Self> {
        if 1 <= index && index <= count { Some(Self { index, count }) } else { None }
    }

    /// Number of the shard, from 1.
    pub const fn index(self) -> u32 {
        self.index
    }

    /// Number of shards.
    pub const fn count(self) -> u32 {
        self.count
    }

    /// The records of this shard out of `records`. The sizes of shards differ by at most one record.
    ///
    /// ```
    /// use kyokumen::records::shard::Shard;
    /// assert_eq!(Shard::new(1, 3).unwrap().range(10), 0..3);
    /// assert_eq!(Shard::new(2, 3).unwrap().range(10), 3..6);
    /// assert_eq!(Shard::new(3, 3).unwrap().range(10), 6..10);
    /// ```
    pub const fn range(self, records: u64) -> std::ops::Range<u64> {
        bound(records, self.index - 1, self.count)..bound(records, self.index, self.count)
    }
}

/// The first record of shard `index` (from 0) of `count`. The product needs more than 64 bits.
const fn bound(records: u64, index: u32, count: u32) -> u64 {
    (records as u128 * index as u128 / count as u128) as u64
}

/// The shards that are not in `present`, which is in ascending order. Returns the first and the last shard of each
/// range of missing shards, because there may be billions.
pub fn missing(present: impl IntoIterator<Item = u32>, count: u32) -> Vec<(Shard, Shard)> {
    let mut missing = Vec::new();
    let mut next = 1;
    for index in present.into_iter().map(u64::from).chain([u64::from(count) + 1]) {
        let shard = |index| Shard::new(u32::try_from(index).ok()?, count);
        missing.extend(shard(next).zip(shard(index - 1)).filter(|_| next < index));
        next = index + 1;
    }
    missing
}

pub(crate) fn shard_error(text: &str) -> ParseValueError {
    ParseValueError::new(text, "not a shard", "I/N with 1 ≤ I ≤ N, as in 3/10")
}

impl FromStr for Shard {
    type Err = ParseValueError;

    fn from_str(text: &str) -> Result<Self, ParseValueError> {
        text.split_once('/')
            .and_then(|(index, count)| Self::new(index.parse().ok()?, count.parse().ok()?))
            .ok_or_else(|| shard_error(text))
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn shards_are_counted_from_one() {
        assert_eq!("3/10".parse(), Ok(Shard { index: 3, count: 10 }));
        for text in ["", "3", "0/3", "4/3", "0/0", "a/b", "1/", "-1/3", "1/2/3"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }

    #[test]
    fn missing_shards_are_returned_as_ranges() {
        let missing = |present: &[u32], count| -> Vec<(u32, u32)> {
            let ranges = missing(present.iter().copied(), count).into_iter();
            ranges.map(|(first, last)| (first.index, last.index)).collect()
        };
        assert_eq!(missing(&[], 3), [(1, 3)]);
        assert_eq!(missing(&[1, 2, 3], 3), []);
        assert_eq!(missing(&[2], 3), [(1, 1), (3, 3)]);
        assert_eq!(missing(&[1], u32::MAX), [(2, u32::MAX)]);
        assert_eq!(missing(&[1, u32::MAX], u32::MAX), [(2, u32::MAX - 1)]);
        assert_eq!(
            missing(&[5, u32::MAX - 1], u32::MAX),
            [(1, 4), (6, u32::MAX - 2), (u32::MAX, u32::MAX)]
        );
    }

    proptest! {
        #[test]
        fn shards_cover_all_records_evenly(records in any::<u64>(), count in 1u32..200) {
            let mut next = 0;
            for index in 1..=count {
                let range = Shard::new(index, count).unwrap().range(records);
                prop_assert_eq!(range.start, next);
                let size = range.end - range.start;
                let even = records / u64::from(count);
                prop_assert!(size == even || size == even + 1);
                next = range.end;
            }
            prop_assert_eq!(next, records);
        }
    }
}
