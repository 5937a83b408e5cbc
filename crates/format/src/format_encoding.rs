//! Text encodings of formats that exist in several encodings.

use serde::{Deserialize, Serialize};

use crate::Format;

/// A text encoding.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum TextEncoding {
    /// UTF-8.
    #[serde(rename = "utf-8")]
    Utf8,
    /// `Shift_JIS`, with the extensions of code page 932.
    #[serde(rename = "shift_jis")]
    ShiftJis,
}

impl TextEncoding {
    /// Parses a name, ignoring case: `utf-8` or `utf8`, `shift_jis`, `shift-jis`, `sjis` or `cp932`.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match &*name.to_ascii_lowercase() {
            "utf-8" | "utf8" => Self::Utf8,
            "shift_jis" | "shift-jis" | "sjis" | "cp932" => Self::ShiftJis,
            _ => return None,
        })
    }
}

impl Format {
    /// The format with the same syntax in this encoding. `None` if the format exists in only one encoding.
    pub const fn in_encoding(self, encoding: TextEncoding) -> Option<Self> {
        Some(match (self, encoding) {
            (Self::Kif | Self::Kifu, TextEncoding::Utf8) => Self::Kifu,
            (Self::Kif | Self::Kifu, TextEncoding::ShiftJis) => Self::Kif,
            (Self::Ki2 | Self::Ki2u, TextEncoding::Utf8) => Self::Ki2u,
            (Self::Ki2 | Self::Ki2u, TextEncoding::ShiftJis) => Self::Ki2,
            _ => return None,
        })
    }

    /// Whether [`Format::write_chunk`] can write chunks of the other format: the two are equal or differ only in
    /// encoding.
    pub fn takes_chunks_of(self, other: Self) -> bool {
        let in_utf8 = |format: Self| format.in_encoding(TextEncoding::Utf8);
        self == other || (in_utf8(self).is_some() && in_utf8(self) == in_utf8(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encoding_selects_the_format_with_the_same_syntax() {
        let encoded = |name| Format::Kif.in_encoding(TextEncoding::from_name(name)?);
        for name in ["utf-8", "UTF8"] {
            assert_eq!(encoded(name), Some(Format::Kifu));
        }
        for name in ["shift_jis", "Shift-JIS", "sjis", "CP932"] {
            assert_eq!(encoded(name), Some(Format::Kif));
        }
        assert_eq!(encoded("euc-jp"), None);
        assert_eq!(Format::Csa.in_encoding(TextEncoding::Utf8), None);
        assert!(Format::Ki2.takes_chunks_of(Format::Ki2u));
        assert!(!Format::Ki2.takes_chunks_of(Format::Kif));
        assert!(!Format::Csa.takes_chunks_of(Format::Usi));
    }
}
