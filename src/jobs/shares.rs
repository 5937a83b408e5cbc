//! Divides the rows of a dataset into training, validation and test data by a hash of the position.
//!
//! Because equal positions have equal hashes, copies of a position never end up in different splits.

use std::fmt;
use std::str::FromStr;

use crate::format::ContentHash;
use crate::storage::value_error::ParseValueError;

/// The use of a row.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Split {
    /// Training.
    Train,
    /// Validation: comparing training runs with each other.
    Valid,
    /// The final test.
    Test,
}

impl Split {
    /// `train`, `valid` or `test`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Valid => "valid",
            Self::Test => "test",
        }
    }
}

/// The proportions of the splits. Only the ratios count: `90,5,5` and `18,1,1` assign the same rows.
///
/// ```
/// use kyokumen::format::ContentHash;
/// use kyokumen::jobs::shares::{Shares, Split};
///
/// let shares: Shares = "50,25,25".parse()?;
/// let key = |first| ContentHash([first, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
/// assert_eq!(shares.split(key(0x7f)), Split::Train);
/// assert_eq!(shares.split(key(0x80)), Split::Valid);
/// assert_eq!(shares.split(key(0xc0)), Split::Test);
/// # Ok::<(), kyokumen::storage::value_error::ParseValueError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shares {
    train: u32,
    valid: u32,
    test: u32,
}

impl Default for Shares {
    fn default() -> Self {
        Self { train: 90, valid: 5, test: 5 }
    }
}

impl Shares {
    /// The split of a position. The range of all hashes is divided in proportion to the shares, and the hash of the
    /// position selects the split.
    pub fn split(self, ContentHash(key): ContentHash) -> Split {
        let [train, valid, test] = [self.train, self.valid, self.test].map(u128::from);
        let first = key.first_chunk().map_or(0, |first| u64::from_be_bytes(*first));
        let place = (u128::from(first) * (train + valid + test)) >> u64::BITS;
        match place {
            _ if place < train => Split::Train,
            _ if place < train + valid => Split::Valid,
            _ => Split::Test,
        }
    }
}

impl FromStr for Shares {
    type Err = ParseValueError;

    fn from_str(text: &str) -> Result<Self, ParseValueError> {
        let shares: Result<Vec<u32>, _> = text.split(',').map(str::parse).collect();
        match shares.as_deref() {
            Ok(&[train, valid, test]) if train != 0 || valid != 0 || test != 0 => {
                Ok(Self { train, valid, test })
            }
            _ => {
                let expected =
                    format!("three numbers, not all of them 0, such as {}", Self::default());
                Err(ParseValueError::new(text, "not a list of shares", expected))
            }
        }
    }
}

impl fmt::Display for Shares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{},{}", self.train, self.valid, self.test)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_three_numbers_and_not_all_zero() {
        for text in ["90,5,5", "1,0,0", "0,0,1"] {
            assert_eq!(text.parse::<Shares>().unwrap().to_string(), text);
        }
        for text in ["", "90", "90,5", "90,5,5,0", "0,0,0", "-1,1,1", "a,b,c", "90, 5, 5"] {
            assert!(text.parse::<Shares>().is_err(), "{text}");
        }
    }

    /// `90,5,5` and `18,1,1` have the same boundaries.
    #[test]
    fn shares_with_equal_ratios_give_equal_splits() {
        let (one, other): (Shares, Shares) = ("90,5,5".parse().unwrap(), "18,1,1".parse().unwrap());
        for first in 0..=u16::MAX {
            let mut key = [0; 16];
            key[..2].copy_from_slice(&first.to_be_bytes());
            assert_eq!(one.split(ContentHash(key)), other.split(ContentHash(key)), "{first:#x}");
        }
    }

    #[test]
    fn a_split_with_share_zero_gets_no_rows() {
        for (shares, split) in [("1,0,0", Split::Train), ("0,1,0", Split::Valid)] {
            let shares: Shares = shares.parse().unwrap();
            for key in [[0; 16], [0x80; 16], [0xff; 16]] {
                assert_eq!(shares.split(ContentHash(key)), split);
            }
        }
    }
}
