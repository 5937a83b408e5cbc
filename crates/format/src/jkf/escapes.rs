//! Tells escapes in strings from characters of `Shift_JIS` whose second byte is a backslash, such as 表.
//!
//! The end of a game is searched before its encoding is known, and must not depend on what follows. So only the strings
//! read so far are considered.

use encoding_rs::EUC_JP;

/// What the strings of a game so far show about its encoding.
#[derive(Default)]
pub(super) struct Escapes {
    /// Where the text begins that [`Escapes::take`] has not seen.
    pub(super) from: usize,
    /// Characters of UTF-8 beyond ASCII, and bytes that are none.
    characters: usize,
    faults: usize,
    /// Whether there is text that is not EUC-JP.
    is_not_euc_jp: bool,
}

impl Escapes {
    /// Takes text of a string, from a quote or the last backslash to the next. Returns whether a backslash behind it is
    /// an escape.
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
        // As in `text_encoding`, damaged UTF-8 is still UTF-8.
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
