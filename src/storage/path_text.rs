//! Reversible conversion of file names to text, for manifests, lists and messages.
//!
//! On Unix a file name may contain any bytes. Each byte that is not valid UTF-8 becomes an escape such as `\xE9`. All
//! other text is unchanged, except that a backslash becomes `\x5C` if it would start such an escape.

use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

const ESCAPE_LEN: usize = 4;

/// A file name as text. On Unix [`path_of`] is the inverse, so two names never have the same text. On other systems,
/// invalid Unicode is replaced.
pub(crate) fn text_of(name: impl AsRef<OsStr>) -> String {
    let name = name.as_ref();
    if !cfg!(unix) {
        return name.to_string_lossy().into_owned();
    }
    let mut text = String::new();
    for chunk in name.as_encoded_bytes().utf8_chunks() {
        for (at, character) in chunk.valid().char_indices() {
            match escaped(&chunk.valid().as_bytes()[at..]) {
                Some(_) => text.push_str("\\x5C"),
                None => text.push(character),
            }
        }
        text.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02X}")));
    }
    text
}

/// Why Windows would not create a file under this path. Windows writes to a device such as `aux` whatever the extension
/// of the name is, so nothing would be left of `aux.sfen`. `NUL` and `CON` alone may be meant.
pub(crate) fn windows_refusal(path: &Path) -> Option<String> {
    let mut names = path.components().rev().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_string_lossy()),
        _ => None,
    });
    let is_meant = |name: &str| ["NUL", "CON"].iter().any(|it| it.eq_ignore_ascii_case(name));
    let mut is_last = true;
    names.find_map(|name| {
        if std::mem::take(&mut is_last) && is_meant(&name) {
            return None;
        }
        if let Some(wrong) = name.chars().find(|c| c.is_control() || "<>:\"|?*".contains(*c)) {
            return Some(format!("Windows does not allow {wrong} in file names"));
        }
        let stem = name.split('.').next()?.trim_end().to_ascii_uppercase();
        let number = stem.strip_prefix("COM").or_else(|| stem.strip_prefix("LPT"));
        let is_port = number.is_some_and(|number| matches!(number.as_bytes(), [b'1'..=b'9']));
        let is_device = is_port || ["AUX", "CON", "NUL", "PRN"].contains(&&*stem);
        is_device.then(|| format!("{stem} is a device name of Windows"))
    })
}

/// The name of an input in messages.
pub(crate) fn input_name(name: &str) -> &str {
    if name == "-" { "standard input" } else { name }
}

/// The part of a path after the last separator.
pub(crate) fn file_name_of(path: &str) -> &str {
    path.rsplit(std::path::is_separator).next().unwrap_or_default()
}

/// The inverse of [`text_of`].
pub(crate) fn path_of(text: &str) -> PathBuf {
    if !cfg!(unix) {
        return PathBuf::from(text);
    }
    let (mut name, mut rest) = (Vec::with_capacity(text.len()), text.as_bytes());
    while let Some(&first) = rest.first() {
        let byte = escaped(rest);
        name.push(byte.unwrap_or(first));
        rest = &rest[if byte.is_some() { ESCAPE_LEN } else { 1 }..];
    }
    name_of_bytes(name).into()
}

#[cfg(unix)]
fn name_of_bytes(bytes: Vec<u8>) -> OsString {
    std::os::unix::ffi::OsStringExt::from_vec(bytes)
}

#[cfg(not(unix))]
fn name_of_bytes(bytes: Vec<u8>) -> OsString {
    String::from_utf8_lossy(&bytes).into_owned().into()
}

/// The byte of an escape at the start of `text`. Only backslashes and non-ASCII bytes have escapes, so a name without a
/// slash in its text has no slash in its bytes.
fn escaped(text: &[u8]) -> Option<u8> {
    let digits = text.get(..ESCAPE_LEN)?.strip_prefix(b"\\x")?;
    let digit = |digit: u8| char::from(digit).to_digit(16);
    let byte = u8::try_from(digit(digits[0])? * 16 + digit(digits[1])?).ok();
    byte.filter(|&byte| byte == b'\\' || !byte.is_ascii())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn device_names_and_characters_of_windows_are_refused() {
        for (path, why) in [
            ("NUL", ""),
            ("out/nul", ""),
            ("con", ""),
            ("auxiliary.sfen", ""),
            ("com10.sfen", ""),
            ("局面.sfen", ""),
            ("aux", "AUX is a device name of Windows"),
            ("out/aux.sfen", "AUX is a device name of Windows"),
            ("Com1.sfen", "COM1 is a device name of Windows"),
            ("lpt1", "LPT1 is a device name of Windows"),
            ("prn .sfen.zst", "PRN is a device name of Windows"),
            ("nul.kif", "NUL is a device name of Windows"),
            ("con/a.kif", "CON is a device name of Windows"),
            ("a?b.sfen", "Windows does not allow ? in file names"),
            ("out:1/b.sfen", "Windows does not allow : in file names"),
        ] {
            assert_eq!(windows_refusal(Path::new(path)).unwrap_or_default(), why, "{path}");
        }
    }

    #[test]
    fn invalid_bytes_of_names_are_escaped() {
        for (name, text) in [
            (&b"a.hcp"[..], "a.hcp"),
            ("局面.hcp".as_bytes(), "局面.hcp"),
            (b"\xE9.hcp", "\\xE9.hcp"),
            (b"\\xE9.hcp", "\\x5CxE9.hcp"),
            (b"a\\b", "a\\b"),
            (b"..\\x2Fa", "..\\x2Fa"),
            (b"\\x\xE9\\xE\xFF", "\\x\\xE9\\xE\\xFF"),
            (b"", ""),
        ] {
            assert_eq!(text_of(OsStr::from_bytes(name)), text);
            assert_eq!(path_of(text).as_os_str().as_bytes(), name);
        }
    }

    proptest! {
        #[test]
        fn every_name_survives_a_round_trip(name in proptest::collection::vec(prop_oneof![
            any::<u8>(), Just(b'\\'), Just(b'x'), Just(b'5'), Just(b'C'), Just(0xE5), Just(0xB1), Just(0x80),
        ], 0..40)) {
            let name = OsString::from_vec(name);
            prop_assert_eq!(path_of(&text_of(&name)).into_os_string(), name);
        }
    }
}
