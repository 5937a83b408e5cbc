//! SHA-256 of inputs and outputs, computed only if a report or manifest needs it.
//!
//! It takes a tenth of the time of a conversion between packed formats.

mod digester;

use std::fmt;
use std::io::{self, Read};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest, Sha256};

use self::digester::Digester;
use super::retry_interrupted::RetryInterrupted;

/// A SHA-256 checksum, shown as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sha256Sum([u8; Self::LEN]);

impl Sha256Sum {
    const LEN: usize = 32;

    /// The checksum of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The checksum of all bytes of a reader.
    ///
    /// # Errors
    /// Any error of the reader.
    pub fn of_reader(reader: impl Read) -> io::Result<Self> {
        let mut reader = RetryInterrupted(reader);
        let (mut digest, mut buffer) = (Sha256::new(), vec![0; 1 << 20]);
        loop {
            match reader.read(&mut buffer)? {
                0 => return Ok(Self(digest.finalize().into())),
                read => digest.update(&buffer[..read]),
            }
        }
    }

    /// The 32 bytes of the checksum.
    pub const fn bytes(&self) -> &[u8; Self::LEN] {
        &self.0
    }
}

impl From<Sha256> for Sha256Sum {
    fn from(digest: Sha256) -> Self {
        Self(digest.finalize().into())
    }
}

impl fmt::Display for Sha256Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for Sha256Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Sha256Sum {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Sha256Sum {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let byte = |at: usize| u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok();
        let mut bytes = [0; Self::LEN];
        for (at, place) in bytes.iter_mut().enumerate() {
            let expected = || de::Error::custom("expected a SHA-256 of 64 hexadecimal digits");
            *place = byte(at).filter(|_| text.len() == 2 * Self::LEN).ok_or_else(expected)?;
        }
        Ok(Self(bytes))
    }
}

/// A SHA-256 in progress. Does nothing if no checksum is needed.
#[derive(Debug)]
pub(crate) struct RunningChecksum(Option<Digester>);

impl RunningChecksum {
    pub(crate) fn new(is_needed: bool) -> Self {
        Self(is_needed.then(Digester::default))
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        if let Some(digester) = &mut self.0 {
            digester.update(bytes);
        }
    }

    /// The checksum of all bytes added until now. `None` if no checksum is needed.
    pub(crate) fn sum(&self) -> Option<Sha256Sum> {
        self.0.as_ref().map(|digester| digester.digest().into())
    }
}

/// Bytes as lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    let mut digits = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        for nibble in [byte >> 4, byte & 15] {
            digits.push(char::from_digit(nibble.into(), 16).expect("a nibble is below 16"));
        }
    }
    digits
}
