//! Amounts of memory as people say them: `512M`, `1G`.
//!
//! Chunks are powers of 1024, as those of `--hash-mb` and of the sort tool of the system.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::storage::value_error::ParseValueError;

/// A number of bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Memory(u64);

const CHUNKS: [(char, u32); 4] = [('T', 40), ('G', 30), ('M', 20), ('K', 10)];

impl Memory {
    /// This many GiB.
    pub const fn gib(gib: u64) -> Self {
        Self(gib << 30)
    }

    /// This many bytes.
    pub const fn of_bytes(bytes: u64) -> Self {
        Self(bytes)
    }

    /// The number of bytes.
    pub const fn bytes(self) -> u64 {
        self.0
    }
}

impl FromStr for Memory {
    type Err = ParseValueError;

    fn from_str(text: &str) -> Result<Self, ParseValueError> {
        let records_in_chunk = |(letter, shift): (char, u32)| {
            let number = text.strip_suffix([letter, letter.to_ascii_lowercase()])?;
            Some((number, shift))
        };
        let (number, shift) = CHUNKS.into_iter().find_map(records_in_chunk).unwrap_or((text, 0));
        let number: Option<u64> = number.parse().ok();
        number.and_then(|number| number.checked_mul(1 << shift)).map(Self).ok_or_else(|| {
            ParseValueError::new(
                text,
                "no amount of memory",
                "a number with K, M, G or T behind it, as in 512M",
            )
        })
    }
}

impl fmt::Display for Memory {
    /// In the largest chunk that leaves no fraction.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = |&(_, shift): &(char, u32)| self.0 != 0 && self.0.trailing_zeros() >= shift;
        match CHUNKS.into_iter().find(whole) {
            Some((letter, shift)) => write!(f, "{}{letter}", self.0 >> shift),
            None => write!(f, "{}", self.0),
        }
    }
}

impl Serialize for Memory {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_and_written() {
        for (text, bytes, shown) in [
            ("1G", 1 << 30, "1G"),
            ("512m", 512 << 20, "512M"),
            ("1024K", 1 << 20, "1M"),
            ("1000", 1000, "1000"),
            ("0", 0, "0"),
        ] {
            let memory: Memory = text.parse().unwrap();
            assert_eq!((memory.bytes(), &*memory.to_string()), (bytes, shown));
        }
        for text in ["", "G", "-1G", "1.5G", "1GB", "99999999999T", "ﬁ", "1ﬅ", "1Ｋ", "局"] {
            assert!(text.parse::<Memory>().is_err(), "{text}");
        }
    }
}
