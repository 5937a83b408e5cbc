//! What may surround games: white space, byte order marks, array punctuation.

/// The number of bytes before the game.
pub(super) fn around(unit: &[u8]) -> usize {
    let mut at = 0;
    while let Some(rest) = unit.get(at..).filter(|rest| !rest.is_empty()) {
        match rest {
            [0xef, 0xbb, 0xbf, ..] => at += 3,
            [byte, ..] if is_around(*byte) => at += 1,
            _ => break,
        }
    }
    at
}

/// Whether a byte is white space or array punctuation.
pub(super) const fn is_around(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b'[' | b',' | b']')
}
