//! Amounts of memory as users write them: `512M`, `1G`.
//!
//! Units are powers of 1024, as in `--hash-mb` and `sort`.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::storage::value_error::ParseValueError;

/// A number of bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Memory(u64);

/// The letters of the units, largest first, with the exponent of 2.
const UNITS: [(char, u32); 4] = [('T', 40), ('G', 30), ('M', 20), ('K', 10)];

impl Memory {
    /// An amount in GiB.
    pub const fn gib(gib: u64) -> Self {
        Self(gib << 30)
    }

    /// An amount in bytes.
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
        let unit = text.strip_suffix(['B', 'b']).map(|text| text.strip_suffix('i').unwrap_or(text));
        let text_in_unit = unit.unwrap_or(text);
        let number_in_unit = |(letter, shift): (char, u32)| {
            let number = text_in_unit.strip_suffix([letter, letter.to_ascii_lowercase()])?;
            Some((number, shift))
        };
        let (number, shift) =
            UNITS.into_iter().find_map(number_in_unit).unwrap_or((text_in_unit, 0));
        let number: Option<u64> = number.parse().ok();
        number.and_then(|number| number.checked_mul(1 << shift)).map(Self).ok_or_else(|| {
            ParseValueError::new(
                text,
                "not a size",
                "a number, optionally with K, M, G or T, as in 512M",
            )
        })
    }
}

impl fmt::Display for Memory {
    /// Shows the amount in the largest unit that needs no fraction.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = |&(_, shift): &(char, u32)| self.0 != 0 && self.0.trailing_zeros() >= shift;
        match UNITS.into_iter().find(whole) {
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
    fn amounts_are_parsed_and_shown_in_the_largest_whole_unit() {
        for (text, bytes, shown) in [
            ("1G", 1 << 30, "1G"),
            ("512m", 512 << 20, "512M"),
            ("2GB", 2 << 30, "2G"),
            ("3mb", 3 << 20, "3M"),
            ("1GiB", 1 << 30, "1G"),
            ("1024K", 1 << 20, "1M"),
            ("1000", 1000, "1000"),
            ("0", 0, "0"),
        ] {
            let memory: Memory = text.parse().unwrap();
            assert_eq!((memory.bytes(), &*memory.to_string()), (bytes, shown));
        }
        for text in
            ["", "G", "-1G", "1.5G", "1GG", "1Gi", "B", "99999999999T", "ﬁ", "1ﬅ", "1Ｋ", "局"]
        {
            assert!(text.parse::<Memory>().is_err(), "{text}");
        }
    }
}
