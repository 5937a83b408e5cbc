//! What may surround games: white space, byte order marks, array punctuation.

use crate::lines::mark_len;

/// The number of bytes before the game.
pub(super) fn around(unit: &[u8]) -> usize {
    let mut at = 0;
    while let Some(rest) = unit.get(at..).filter(|rest| !rest.is_empty()) {
        match mark_len(rest) {
            0 if is_around(rest[0]) => at += 1,
            0 => break,
            len => at += len,
        }
    }
    at
}

/// Whether a byte is white space or array punctuation.
pub(super) const fn is_around(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b'[' | b',' | b']')
}
