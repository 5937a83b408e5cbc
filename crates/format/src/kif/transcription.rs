//! Converts text chunks to the encoding of a format and, for KIF, KI2 and BOD, to its syntax and line end.

use std::borrow::Cow;

use encoding_rs::{SHIFT_JIS, UTF_8};

use super::super::error::EncodeError;
use super::super::format::Format;
use super::super::lines::Lines;
use super::super::text_encoding::{decode_as, decode_text, encoding_of, without_byte_order_mark};
use super::boundary::is_title;
use super::line::{Line, Syntax, normalised};
use super::{Style, reader};

impl Format {
    /// Appends a chunk to a file of this format. Copies its bytes if they have the syntax, encoding and line ends of
    /// the format. Otherwise transcodes the text or, if the syntax differs, writes the game again.
    ///
    /// # Errors
    /// [`EncodeError`] if the encoding lacks a character, or if the game must be written again but cannot be read.
    /// `out` is then unchanged.
    pub fn write_chunk(self, chunk: &[u8], out: &mut Vec<u8>) -> Result<(), EncodeError> {
        if self.is_kif() || self == Self::Bod {
            let start = out.len();
            return write_kif_chunk(self, chunk, out).inspect_err(|_| out.truncate(start));
        }
        let chunk = if self.is_text() { without_byte_order_mark(chunk) } else { chunk };
        if matches!(self, Self::Csa | Self::Jkf) && !chunk.is_ascii() {
            self.copy_chunk(&in_utf_8(chunk), out);
        } else {
            self.copy_chunk(chunk, out);
        }
        Ok(())
    }

    /// Detects the format of a KIF or KI2 game or a diagram by its syntax and encoding.
    pub fn of_kif_text(bytes: &[u8]) -> Self {
        variant(bytes)
    }
}

/// The kinds of lines that a text has.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "the flags are independent")]
struct TextFeatures {
    has_numbered: bool,
    has_words: bool,
    has_list: bool,
    has_diagram: bool,
}

impl TextFeatures {
    fn new(text: &str) -> Self {
        let mut found = Self::default();
        for line in text.lines() {
            match Line::parse(line, &normalised(line)) {
                title if is_title(title) => {}
                Line::Numbered { .. } => found.has_numbered = true,
                Line::Words(_) => found.has_words = true,
                Line::List => found.has_list = true,
                Line::Rank(_) => found.has_diagram = true,
                _ => {}
            }
        }
        found
    }

    const fn is_in(&self, syntax: Syntax) -> bool {
        match syntax {
            Syntax::Numbered => !self.has_words,
            Syntax::Words => !self.has_numbered,
        }
    }
}

/// The format of a text by its syntax and encoding, for files whose names do not show it.
fn variant(bytes: &[u8]) -> Format {
    let is_utf_8 = encoding_of(bytes).unwrap_or(UTF_8) == UTF_8;
    let found = TextFeatures::new(&decode_text(bytes).unwrap_or_default());
    match found {
        TextFeatures { has_numbered: false, has_words: true, .. } if is_utf_8 => Format::Ki2u,
        TextFeatures { has_numbered: false, has_words: true, .. } => Format::Ki2,
        TextFeatures { has_numbered: false, has_list: false, has_diagram: true, .. } => Format::Bod,
        _ if is_utf_8 => Format::Kifu,
        _ => Format::Kif,
    }
}

/// Appends a chunk in the style of a format. Copies it if it has that style; otherwise transcodes it or writes the game
/// again.
fn write_kif_chunk(format: Format, chunk: &[u8], out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let style = style_of(format);
    let encoding = encoding_of(chunk).map_err(|_| EncodeError::NoGame)?;
    if format != Format::Bod && !TextFeatures::new(&decode_as(encoding, chunk)).is_in(style.syntax)
    {
        let game = reader::read(chunk).ok().filter(|game| game.broken.is_none());
        return style.write(&game.ok_or(EncodeError::NoGame)?, out);
    }
    // Damaged bytes do not belong to any encoding and are unchanged.
    let has_encoding =
        chunk.is_ascii() || encoding == if style.is_utf_8 { UTF_8 } else { SHIFT_JIS };
    let has_mark = without_byte_order_mark(chunk).len() < chunk.len();
    if has_encoding && !has_mark && !chunk.contains(&b'\r') {
        format.copy_chunk(chunk, out);
        return Ok(());
    }
    let mut text = String::new();
    for line in Lines::new(chunk) {
        let line = decode_as(encoding, line.content());
        text.push_str(&with_encoding(line.trim_end_matches('\r'), style));
        text.push('\n');
    }
    let mut closed = Vec::new();
    format.copy_chunk(text.as_bytes(), &mut closed);
    style.put(&String::from_utf8_lossy(&closed), out)
}

const fn style_of(format: Format) -> Style {
    match format {
        Format::Kif => Style::KIF,
        Format::Ki2 => Style::KI2,
        Format::Ki2u => Style::KI2U,
        _ => Style::KIFU,
    }
}

/// A chunk of a UTF-8 format. Text in another encoding is transcoded.
fn in_utf_8(chunk: &[u8]) -> Cow<'_, [u8]> {
    const CSA_ENCODING: &str = "'CSA encoding=";
    match encoding_of(chunk) {
        Ok(encoding) if encoding != UTF_8 => {
            let mut text = String::new();
            for line in Lines::new(chunk) {
                let line = decode_as(encoding, line.raw());
                if line.starts_with(CSA_ENCODING) {
                    text.extend([CSA_ENCODING, "UTF-8\n"]);
                } else {
                    text.push_str(&line);
                }
            }
            Cow::Owned(text.into_bytes())
        }
        _ => Cow::Borrowed(chunk),
    }
}

/// Replaces the encoding name in a comment line such as `#KIF version=2.0 encoding=UTF-8`. Other lines are unchanged.
fn with_encoding(line: &str, style: Style) -> String {
    const NAME: &str = "encoding=";
    match line.find(NAME) {
        Some(at) if line.starts_with('#') => {
            let (before, after) = line.split_at(at + NAME.len());
            let rest = after.trim_start_matches(|c: char| !c.is_whitespace());
            let name = if style.is_utf_8 { "UTF-8" } else { "Shift_JIS" };
            format!("{before}{name}{rest}")
        }
        _ => line.to_owned(),
    }
}
