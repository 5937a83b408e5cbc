//! Text encodings: UTF-8, `Shift_JIS` (code page 932) and EUC-JP are read; UTF-16 and ISO-2022-JP are errors.
//!
//! Files of games rarely name their encoding. A line feed is the same byte in these encodings, so bytes are split into
//! lines before they are decoded.

use std::borrow::Cow;
use std::cmp::Ordering;

use encoding_rs::{EUC_JP, Encoding, SHIFT_JIS, UTF_8};
use memchr::{memchr, memchr2};

use super::error::{DecodeErrorKind, EncodeError};
use super::lines;
pub(crate) use super::lines::without_mark as without_byte_order_mark;

/// Number of bytes that are searched for the zeros of UTF-16 without a byte order mark.
const UTF_16_SAMPLE: usize = 256;

/// Decodes a whole text without its byte order mark. Invalid bytes become replacement characters.
///
/// # Errors
/// [`DecodeErrorKind::Encoding`] if the text is UTF-16.
pub(crate) fn decode_text(bytes: &[u8]) -> Result<Cow<'_, str>, DecodeErrorKind> {
    Ok(decode_as(encoding_of(bytes)?, bytes))
}

/// Detects the encoding of lines of text.
///
/// # Errors
/// [`DecodeErrorKind::Encoding`] for UTF-16, or if CR is the only line end.
pub(crate) fn encoding_of(bytes: &[u8]) -> Result<&'static Encoding, DecodeErrorKind> {
    let encoding = detect(bytes)?;
    if is_cr_only(bytes) {
        let expected = "lines that end with LF or CRLF (convert the line ends first)";
        return Err(DecodeErrorKind::Encoding { expected, found: "CR alone" });
    }
    Ok(encoding)
}

/// The error for a text in ISO-2022-JP (JIS), which has only ASCII bytes. As ASCII such a text may be readable, so this
/// is used only for texts that are not.
pub(crate) fn iso_2022_jp(bytes: &[u8]) -> Option<DecodeErrorKind> {
    let escapes = [b"\x1b$B", b"\x1b$@"];
    let has_escape = escapes.iter().any(|escape| memchr::memmem::find(bytes, *escape).is_some());
    (bytes.is_ascii() && has_escape)
        .then_some(DecodeErrorKind::Encoding { expected: SUPPORTED, found: "ISO-2022-JP" })
}

const SUPPORTED: &str = "text in UTF-8, Shift_JIS or EUC-JP (convert the file to UTF-8 first)";

/// Whether lines end with CR, as on old Macs.
fn is_cr_only(bytes: &[u8]) -> bool {
    let end = memchr2(b'\r', b'\n', lines::content(bytes));
    end.is_some_and(|at| bytes[at] == b'\r') && memchr(b'\n', bytes).is_none()
}

/// Detects the encoding of any text, with any line ends.
///
/// # Errors
/// [`DecodeErrorKind::Encoding`] for UTF-16.
pub(crate) fn detect(bytes: &[u8]) -> Result<&'static Encoding, DecodeErrorKind> {
    if let Some(found) = utf_16(bytes) {
        return Err(DecodeErrorKind::Encoding { expected: SUPPORTED, found });
    }
    if is_utf_8(bytes) {
        return Ok(UTF_8);
    }
    Ok(if is_euc_jp(bytes) { EUC_JP } else { SHIFT_JIS })
}

/// Decodes a line or a text of a known encoding. Single lines may be UTF-8 in a text of another encoding, or the other
/// way round.
pub(crate) fn decode_as<'a>(encoding: &'static Encoding, bytes: &'a [u8]) -> Cow<'a, str> {
    let bytes = without_byte_order_mark(bytes);
    let encoding = match str::from_utf8(bytes) {
        Ok(text) if encoding == UTF_8 || is_japanese(text) => {
            return without_zeros(Cow::Borrowed(text));
        }
        Err(_) if encoding == UTF_8 && !is_utf_8(bytes) => SHIFT_JIS,
        _ => encoding,
    };
    without_zeros(encoding.decode_without_bom_handling(bytes).0)
}

/// Replaces U+0000 like an invalid byte. Otherwise a written text could be read back as UTF-16.
pub(crate) fn without_zeros(text: Cow<'_, str>) -> Cow<'_, str> {
    if memchr(0, text.as_bytes()).is_none() {
        return text;
    }
    Cow::Owned(text.replace('\0', "\u{fffd}"))
}

/// Whether valid UTF-8 is unlikely to be text of another encoding: all non-ASCII characters have at least three bytes.
/// ASCII is the same text in all encodings.
fn is_japanese(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii() || c >= '\u{800}')
}

/// Detects UTF-16 by its byte order mark, or by zero bytes and line ends. Text of other encodings has no zeros.
fn utf_16(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0xff, 0xfe, ..] => return Some("UTF-16LE"),
        [0xfe, 0xff, ..] => return Some("UTF-16BE"),
        _ => {}
    }
    let sample = &bytes[..bytes.len().min(UTF_16_SAMPLE) & !1];
    let zeros = |at: usize| sample.iter().skip(at).step_by(2).filter(|&&byte| byte == 0).count();
    // Characters such as U+3000 and U+4E00 have a zero in the other byte. Line ends decide.
    let line_ends =
        |is_end: fn(&[u8]) -> bool| sample.chunks(2).filter(|unit| is_end(unit)).count();
    let little = (line_ends(|unit| matches!(unit, [b'\r' | b'\n', 0])), zeros(1));
    let big = (line_ends(|unit| matches!(unit, [0, b'\r' | b'\n'])), zeros(0));
    if (little.1 + big.1) * 16 <= sample.len() || sample.chunks(2).any(|unit| unit == [0, 0]) {
        return None;
    }
    // The first line must end in UTF-16, too. Otherwise a line of another encoding that is written above damaged text
    // could turn it into UTF-16.
    let first_end = bytes.chunks(2).find(|unit| unit.contains(&b'\n'));
    match little.cmp(&big) {
        Ordering::Greater if first_end.is_none_or(|unit| unit == [b'\n', 0]) => Some("UTF-16LE"),
        Ordering::Less if first_end.is_none_or(|unit| unit == [0, b'\n']) => Some("UTF-16BE"),
        _ => None,
    }
}

/// Whether bytes are UTF-8, possibly damaged: most non-ASCII characters are valid.
pub(crate) fn is_utf_8(bytes: &[u8]) -> bool {
    let (mut characters, mut faults) = (0, 0);
    for chunk in bytes.utf8_chunks() {
        characters += chunk.valid().bytes().filter(|byte| *byte >= 0xc0).count();
        faults += usize::from(!chunk.invalid().is_empty());
    }
    faults == 0 || characters > 2 * faults
}

/// Whether bytes that are not UTF-8 are EUC-JP. Most EUC-JP text is also valid `Shift_JIS`, but consists of half-width
/// katakana that do not form words.
fn is_euc_jp(bytes: &[u8]) -> bool {
    if EUC_JP.decode_without_bom_handling_and_without_replacement(bytes).is_none() {
        return false;
    }
    let (text, has_faults) = SHIFT_JIS.decode_without_bom_handling(bytes);
    let wide = text.chars().filter(|c| !c.is_ascii()).count();
    let half_width = text.chars().filter(|c| is_half_width(*c)).count();
    has_faults || (2 * half_width > wide && !(half_width == wide && has_words(&text)))
}

const fn is_half_width(c: char) -> bool {
    matches!(c, '｡'..='ﾟ')
}

/// Whether half-width katakana in a text can be words. Words have no punctuation except the middle dot. Small letters
/// and the signs ｰ, ﾞ and ﾟ occur only after letters that take them.
fn has_words(text: &str) -> bool {
    let mut before = ' ';
    text.chars().all(|c| {
        let is_after = |letters: &str| letters.contains(before);
        let can_follow = match c {
            '｡' | '｢' | '｣' | '､' => false,
            'ﾞ' => is_after("ｳｶｷｸｹｺｻｼｽｾｿﾀﾁﾂﾃﾄﾊﾋﾌﾍﾎ"),
            'ﾟ' => is_after("ﾊﾋﾌﾍﾎ"),
            'ｬ' | 'ｭ' | 'ｮ' => is_after("ｷｼﾁﾃﾄﾆﾋﾌﾐﾘﾞﾟｳ"),
            'ｧ' | 'ｨ' | 'ｩ' | 'ｪ' | 'ｫ' => is_after("ｳｸｼﾁﾂﾃﾄﾌﾞ"),
            'ｯ' | 'ｰ' => is_half_width(before) && !is_after("･ｯｰ"),
            _ => true,
        };
        before = c;
        can_follow
    })
}

/// Appends text in `Shift_JIS`. Characters that have another code point in code page 932 are replaced by it.
///
/// # Errors
/// [`EncodeError::NotInShiftJis`] for the first character that `Shift_JIS` cannot encode.
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

/// The kind of a line of a game file, for messages.
fn kind_of_text(line: &str) -> &'static str {
    match line.chars().next() {
        Some('*') => "a comment",
        Some('&') => "a bookmark",
        Some('#') => "a # line",
        _ => "the header",
    }
}

/// The character of code page 932 that corresponds to a similar Unicode character.
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
    fn encodings_are_detected() {
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
    fn utf_16_is_an_error_that_names_it() {
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

    /// Their codes have the zero in the other byte than the codes of ASCII characters.
    #[test]
    fn characters_with_a_zero_byte_do_not_hide_utf_16() {
        for text in [
            "手合割：平手　　\r\n先手：一\r\n   1 ７六歩(77)\r\n",
            "先手：Ａ　　　　　　　　\r\n後手：一二三　　　　\r\n",
            "V2.2\nN+一\nPI\n+\n+7776FU\n",
        ] {
            let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
            let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
            for (bytes, name) in [(little, "UTF-16LE"), (big, "UTF-16BE")] {
                let error = encoding_of(&bytes).unwrap_err().to_string();
                assert!(error.contains(name), "{error}");
            }
            // Zeros of a damaged disk are not UTF-16.
            let damaged = [text.as_bytes(), &[0; 51]].concat();
            assert_eq!(encoding_of(&damaged), Ok(UTF_8));
        }
    }

    /// A copy of the text has a line above it. In UTF-16 the first line would end with a zero, too.
    #[test]
    fn a_line_above_zeros_does_not_make_utf_16() {
        let damaged = b"\x81G\x00\x00O\x00G\x00F\n";
        for above in ["", "\n", "V2.2\n", "手合割：平手\n"] {
            let copy = [&SHIFT_JIS.encode(above).0, &damaged[..]].concat();
            assert!(encoding_of(&copy).is_ok(), "{above}");
        }
    }

    #[test]
    fn zeros_are_replaced_like_invalid_bytes() {
        for encoding in [UTF_8, SHIFT_JIS, EUC_JP] {
            let bytes = encoding.encode("先手：\0表\0").0;
            assert_eq!(decode_as(encoding, &bytes), "先手：\u{fffd}表\u{fffd}");
        }
    }

    #[test]
    fn a_line_in_utf_8_is_read_in_a_text_of_another_encoding() {
        for encoding in [SHIFT_JIS, EUC_JP] {
            assert_eq!(decode_as(encoding, "後手：表太郎".as_bytes()), "後手：表太郎");
            for text in ["先手：表太郎", "ﾂｧ", "N+é", "ASCII"] {
                assert_eq!(
                    decode_as(encoding, &encoding.encode(text).0),
                    encoding.decode(&encoding.encode(text).0).0
                );
            }
        }
        assert_eq!(decode_as(UTF_8, &SHIFT_JIS.encode("先手：表太郎").0), "先手：表太郎");
    }

    #[test]
    fn characters_that_shift_jis_lacks_are_mapped_or_an_error() {
        let mut bytes = Vec::new();
        put_shift_jis("〜−☗☖¥髙①\n", &mut bytes).unwrap();
        assert_eq!(SHIFT_JIS.decode_without_bom_handling(&bytes).0, "～－▲△￥髙①\n");
        let error = put_shift_jis("先手：A\n*👍\n", &mut bytes).unwrap_err();
        assert_eq!(error, EncodeError::NotInShiftJis { character: '👍', text: "a comment" });
    }
}
