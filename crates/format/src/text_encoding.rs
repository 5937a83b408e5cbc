//! Text encodings: UTF-8, `Shift_JIS` (code page 932) and EUC-JP are read; UTF-16 is an error.
//!
//! Files of games rarely name their encoding. A line feed is the same byte in these three, so bytes are split into
//! lines before they are decoded.

use std::borrow::Cow;

use encoding_rs::{EUC_JP, Encoding, SHIFT_JIS, UTF_8};

use super::error::{DecodeErrorKind, EncodeError};

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Bytes that are searched for the zeros of UTF-16 without a byte order mark.
const UTF_16_SAMPLE: usize = 256;

/// The bytes without the byte order mark of UTF-8, if they begin with one.
pub(crate) fn without_byte_order_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes)
}

/// Decodes a whole text without its byte order mark. Invalid bytes become replacement characters.
///
/// # Errors
/// [`DecodeErrorKind::Syntax`] if the text is UTF-16.
pub(crate) fn decode_text(bytes: &[u8]) -> Result<Cow<'_, str>, DecodeErrorKind> {
    Ok(decode_as(encoding_of(bytes)?, bytes))
}

/// Detects the encoding of a text.
///
/// # Errors
/// [`DecodeErrorKind::Syntax`] that names UTF-16.
pub(crate) fn encoding_of(bytes: &[u8]) -> Result<&'static Encoding, DecodeErrorKind> {
    if let Some(name) = utf_16(bytes) {
        let expected = "text in UTF-8, Shift_JIS or EUC-JP (convert the file to UTF-8 first)";
        return Err(DecodeErrorKind::syntax(expected, name.as_bytes()));
    }
    if is_utf_8(bytes) {
        return Ok(UTF_8);
    }
    Ok(if is_euc_jp(bytes) { EUC_JP } else { SHIFT_JIS })
}

/// A line, or a whole text, of a known encoding. A line in UTF-8 may stand among others of another encoding.
pub(crate) fn decode_as<'a>(encoding: &'static Encoding, bytes: &'a [u8]) -> Cow<'a, str> {
    let bytes = without_byte_order_mark(bytes);
    if encoding == UTF_8 && str::from_utf8(bytes).is_err() && !is_utf_8(bytes) {
        return SHIFT_JIS.decode_without_bom_handling(bytes).0;
    }
    encoding.decode_without_bom_handling(bytes).0
}

/// Detects UTF-16 by its byte order mark, or by zeros in every other byte.
fn utf_16(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0xff, 0xfe, ..] => return Some("UTF-16LE"),
        [0xfe, 0xff, ..] => return Some("UTF-16BE"),
        _ => {}
    }
    let sample = &bytes[..bytes.len().min(UTF_16_SAMPLE) & !1];
    let zeros = |at: usize| sample.iter().skip(at).step_by(2).filter(|&&byte| byte == 0).count();
    match (zeros(0), zeros(1)) {
        (0, zeros) if zeros * 8 > sample.len() => Some("UTF-16LE"),
        (zeros, 0) if zeros * 8 > sample.len() => Some("UTF-16BE"),
        _ => None,
    }
}

/// Whether bytes are UTF-8, possibly damaged: most non-ASCII characters are valid.
fn is_utf_8(bytes: &[u8]) -> bool {
    let (mut characters, mut faults) = (0, 0);
    for chunk in bytes.utf8_chunks() {
        characters += chunk.valid().bytes().filter(|byte| *byte >= 0xc0).count();
        faults += usize::from(!chunk.invalid().is_empty());
    }
    faults == 0 || characters > 2 * faults
}

/// Whether bytes that are not UTF-8 are EUC-JP. Most EUC-JP text is also valid `Shift_JIS`, but then consists of
/// half-width katakana.
fn is_euc_jp(bytes: &[u8]) -> bool {
    if EUC_JP.decode_without_bom_handling(bytes).1 {
        return false;
    }
    let (text, has_faults) = SHIFT_JIS.decode_without_bom_handling(bytes);
    let wide = text.chars().filter(|c| !c.is_ascii()).count();
    let half_width = text.chars().filter(|c| matches!(c, '｡'..='ﾟ')).count();
    has_faults || 2 * half_width > wide
}

/// Appends text in `Shift_JIS`. Characters with another code point in code page 932 are replaced by that.
///
/// # Errors
/// [`EncodeError::NotInShiftJis`] for the first character that it lacks.
pub(crate) fn put_shift_jis(text: &str, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    for line in text.split_inclusive('\n') {
        let mapped: String = line.chars().map(of_code_page).collect();
        let (bytes, _, has_faults) = SHIFT_JIS.encode(&mapped);
        if has_faults {
            let lacks = |c: &char| SHIFT_JIS.encode(c.encode_utf8(&mut [0; 4])).2;
            let character = mapped.chars().find(lacks).unwrap_or(char::REPLACEMENT_CHARACTER);
            return Err(EncodeError::NotInShiftJis { character, text: kind_of_text(line) });
        }
        out.extend_from_slice(&bytes);
    }
    Ok(())
}

/// What a line of a game file holds, for messages.
fn kind_of_text(line: &str) -> &'static str {
    match line.chars().next() {
        Some('*') => "a comment",
        Some('&') => "a bookmark",
        Some('#') => "a remark",
        _ => "the head",
    }
}

/// The character that code page 932 has in place of a similar one of Unicode.
const fn of_code_page(c: char) -> char {
    match c {
        '\u{301c}' => '～',
        '\u{2016}' => '∥',
        '\u{2212}' => '－',
        '\u{2014}' => '―',
        '\u{a2}' => '￠',
        '\u{a3}' => '￡',
        '\u{a5}' => '￥',
        '\u{ac}' => '￢',
        '\u{203e}' => '￣',
        '☗' | '⛊' => '▲',
        '☖' | '⛉' => '△',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "手合割：平手\n先手：あいう\n   1 ７六歩(77)\n";

    #[test]
    fn encodings_are_told_apart() {
        for (encoding, bytes) in [
            (UTF_8, TEXT.as_bytes().to_vec()),
            (UTF_8, format!("\u{feff}{TEXT}").into_bytes()),
            (UTF_8, TEXT.as_bytes()[..TEXT.len() - 18].to_vec()),
            (SHIFT_JIS, SHIFT_JIS.encode(TEXT).0.into_owned()),
            (EUC_JP, EUC_JP.encode(TEXT).0.into_owned()),
            (UTF_8, b"ASCII".to_vec()),
            (UTF_8, Vec::new()),
        ] {
            assert_eq!(encoding_of(&bytes), Ok(encoding));
            let text = decode_text(&bytes).unwrap();
            assert!(
                TEXT.starts_with(text.trim_end_matches(char::REPLACEMENT_CHARACTER))
                    || text == "ASCII"
            );
        }
    }

    #[test]
    fn utf_16_is_refused_by_its_name() {
        let text = "\u{feff}手合割：平手\n   1 ７六歩(77)   ( 0:00/00:00:00)\n";
        for skipped in [0, 1] {
            let units = || text.encode_utf16().skip(skipped);
            let little: Vec<u8> = units().flat_map(u16::to_le_bytes).collect();
            let big: Vec<u8> = units().flat_map(u16::to_be_bytes).collect();
            for (bytes, name) in [(little, "UTF-16LE"), (big, "UTF-16BE")] {
                let error = decode_text(&bytes).unwrap_err().to_string();
                assert!(error.contains(name), "{error}");
            }
        }
    }

    #[test]
    fn what_shift_jis_lacks_is_mapped_or_named() {
        let mut bytes = Vec::new();
        put_shift_jis("〜−☗☖¥髙①\n", &mut bytes).unwrap();
        assert_eq!(SHIFT_JIS.decode_without_bom_handling(&bytes).0, "～－▲△￥髙①\n");
        let error = put_shift_jis("先手：A\n*👍\n", &mut bytes).unwrap_err();
        assert_eq!(error, EncodeError::NotInShiftJis { character: '👍', text: "a comment" });
    }
}
