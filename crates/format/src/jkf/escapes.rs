//! Distinguishes escapes in strings from `Shift_JIS` characters whose second byte is a backslash, such as 表.
//!
//! The end of a game is searched before its encoding is known, and must not depend on later bytes. Therefore only the
//! strings read before are considered.

use encoding_rs::EUC_JP;

/// Evidence of the encoding of a game, from its strings.
#[derive(Default)]
pub(super) struct Escapes {
    /// Start of the text that [`Escapes::take`] has not seen yet.
    pub(super) from: usize,
    /// Number of non-ASCII UTF-8 characters, and of invalid byte sequences.
    characters: usize,
    faults: usize,
    /// Whether some text is not valid EUC-JP.
    is_not_euc_jp: bool,
}

impl Escapes {
    /// Takes text of a string up to a backslash or the closing quote. Returns whether a backslash after it is an
    /// escape.
    pub(super) fn take(&mut self, text: &[u8]) -> bool {
        if text.is_ascii() {
            return true;
        }
        for chunk in text.utf8_chunks() {
            self.characters += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
            self.faults += usize::from(!chunk.invalid().is_empty());
        }
        self.is_not_euc_jp = self.is_not_euc_jp
            || EUC_JP.decode_without_bom_handling_and_without_replacement(text).is_none();
        // Damaged UTF-8 still counts as UTF-8, as in `text_encoding`.
        let is_utf_8 = self.faults == 0 || self.characters > 2 * self.faults;
        is_utf_8 || !self.is_not_euc_jp || !ends_within_character(text)
    }
}

/// Whether `Shift_JIS` text ends with the first byte of a character.
fn ends_within_character(text: &[u8]) -> bool {
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        at += if matches!(byte, 0x81..=0x9f | 0xe0..=0xfc) { 2 } else { 1 };
    }
    at > text.len()
}
