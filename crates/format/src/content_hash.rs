//! A hash that is equal for equal positions in any format.
//!
//! It is specific to this project. `docs/formats/packed.md` describes how to compute it.

use std::fmt;

use kyokumen_shogi::Setup;
use sha2::{Digest, Sha256};

use super::error::DecodeError;
use super::packed;
use crate::packed::family::Family;
use crate::packed::words::LEN;

/// The first 16 bytes of the SHA-256 of the canonical `hcp` bytes of a position. `hcp` cannot express a missing king,
/// so such a position is hashed as its canonical SFEN without the move number.
///
/// The move number is not hashed: equal positions of different games have equal hashes.
///
/// ```
/// use kyokumen_format::ContentHash;
/// use kyokumen_shogi::Position;
/// let key = ContentHash::of(&Position::start().setup());
/// assert_eq!(key.to_string(), "3b45a485c44f2fea723ce26c5376d45d");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ContentHash(pub [u8; 16]);

impl ContentHash {
    /// The hash of a position.
    pub fn of(setup: &Setup) -> Self {
        match packed::encode(Family::Apery, setup) {
            Ok(hcp) => Self::of_bytes(&hcp),
            Err(_) => Self::of_bytes(sfen_without_ply(setup).as_bytes()),
        }
    }

    /// The hash of a packed position. The order of its pieces in hand does not matter.
    ///
    /// # Errors
    /// The errors of [`packed::decode`].
    pub fn of_packed(family: Family, bytes: &[u8; LEN]) -> Result<Self, DecodeError> {
        let hcp = match family {
            Family::Apery => packed::canonical(family, bytes),
            Family::YaneuraOu => packed::transcode(family, bytes),
        };
        Ok(Self::of_bytes(&hcp?))
    }

    fn of_bytes(bytes: &[u8]) -> Self {
        let digest: [u8; 32] = Sha256::digest(bytes).into();
        let mut key = [0; 16];
        key.copy_from_slice(&digest[..16]);
        Self(key)
    }
}

fn sfen_without_ply(setup: &Setup) -> String {
    let mut sfen = setup.to_string();
    sfen.truncate(sfen.rfind(' ').unwrap_or(sfen.len()));
    sfen
}

impl fmt::Display for ContentHash {
    /// 32 hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
