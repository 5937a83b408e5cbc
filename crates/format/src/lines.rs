//! Text as lines, with and without line ends.
//!
//! Lines end with LF or CRLF, or with several CR and LF. The last line may lack its end.

use std::borrow::Cow;

use encoding_rs::SHIFT_JIS;
use memchr::memchr;

/// A line of a text buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Line<'a> {
    raw: &'a [u8],
}

impl<'a> Line<'a> {
    /// The line with its end, unchanged.
    pub const fn raw(&self) -> &'a [u8] {
        self.raw
    }

    /// The line without its end: the bytes of a [`RecordRef`](super::RecordRef).
    pub fn content(&self) -> &'a [u8] {
        content(self.raw)
    }

    /// Whether the line is a comment and not a record: it begins with `#`, possibly after a byte order mark.
    pub fn is_comment(&self) -> bool {
        is_comment(self.raw)
    }
}

/// The start of a line with a position, in formats where a chunk has several lines.
pub(super) const POSITION: &[u8] = b"sfen ";

/// A chunk of lines without an end is cut at this length, before the line that exceeds it. Records are much shorter.
pub(super) const MAX_LINES_BYTES: usize = 1 << 16;

/// The end of the first chunk: after the line that `is_last` accepts, or before the second line with a position. `None`
/// if the chunk does not end within `bytes`.
pub(super) fn chunk_end(bytes: &[u8], is_last: impl Fn(&[u8]) -> bool) -> Option<usize> {
    let window = &bytes[..bytes.len().min(MAX_LINES_BYTES)];
    let (mut at, mut has_position) = (0, false);
    for line in Lines::new(window) {
        let says_position = without_mark(line.raw).starts_with(POSITION);
        if says_position && has_position {
            return Some(at);
        }
        if !line.raw.ends_with(b"\n") {
            break;
        }
        has_position |= says_position;
        at += line.raw.len();
        if is_last(line.content()) {
            return Some(at);
        }
    }
    let is_full = window.len() == MAX_LINES_BYTES;
    is_full.then_some(if at == 0 { window.len() } else { at })
}

/// The lines of a chunk with their offsets, without surrounding white space. Empty lines are skipped.
pub(super) fn in_chunk(chunk: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let lines = Lines::new(chunk).scan(0, |next, Line { raw }| {
        let text = without_mark(raw).trim_ascii_start();
        let at = *next + raw.len() - text.len();
        *next += raw.len();
        Some((at, text.trim_ascii_end()))
    });
    lines.filter(|(_, text)| !text.is_empty())
}

/// A line without its end. Text that was converted twice has several carriage returns before the line feed.
#[inline]
pub(super) fn content(line: &[u8]) -> &[u8] {
    let Some(mut line) = line.strip_suffix(b"\n") else { return line };
    while let [rest @ .., b'\r'] = line {
        line = rest;
    }
    line
}

pub(super) fn is_comment(line: &[u8]) -> bool {
    without_mark(line).first() == Some(&b'#')
}

/// The UTF-8 byte order mark. It occurs at the start of a file, and at line starts where files were joined.
pub(super) const MARK: &[u8] = "\u{feff}".as_bytes();

/// The length of the byte order marks at the start of a line. Some programs add a mark to a file that already has one.
pub(super) fn mark_len(line: &[u8]) -> usize {
    line.len() - without_mark(line).len()
}

/// A line without the byte order marks at its start.
#[inline]
pub(crate) fn without_mark(mut line: &[u8]) -> &[u8] {
    while let Some(rest) = line.strip_prefix(MARK) {
        line = rest;
    }
    line
}

/// The lines of a buffer. Their [raw](Line::raw) bytes joined are the buffer.
///
/// ```
/// use kyokumen_format::Lines;
/// let lines: Vec<&[u8]> = Lines::new(b"a\r\n\nb").map(|line| line.content()).collect();
/// assert_eq!(lines, [&b"a"[..], b"", b"b"]);
/// ```
#[derive(Clone, Debug)]
pub struct Lines<'a> {
    rest: &'a [u8],
}

impl<'a> Lines<'a> {
    /// Lines of a buffer that begins at the start of a line.
    pub const fn new(buffer: &'a [u8]) -> Self {
        Self { rest: buffer }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let len = memchr(b'\n', self.rest).map_or(self.rest.len(), |at| at + 1);
        let (raw, rest) = self.rest.split_at(len);
        self.rest = rest;
        Some(Line { raw })
    }
}

/// Decodes a line as UTF-8, or as `Shift_JIS` if it is not valid UTF-8. Invalid bytes become replacement characters.
pub(super) fn decode(line: &[u8]) -> Cow<'_, str> {
    let line = without_mark(line);
    match str::from_utf8(line) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => SHIFT_JIS.decode_without_bom_handling(line).0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(bytes: &[u8]) -> Option<usize> {
        chunk_end(bytes, |line| line == b"e")
    }

    #[test]
    fn chunks_end_after_their_last_line_or_before_the_next_position() {
        assert_eq!(ends(b"sfen x\nmove y\ne\nsfen"), Some(16));
        assert_eq!(ends(b"\r\nsfen x\r\ne\r\n"), Some(13));
        assert_eq!(ends(b"sfen x\nmove y\nsfen "), Some(14));
        assert_eq!(ends(b"sfen x\nmove y\nsfen"), None);
        assert_eq!(ends(b"sfen x\ne"), None);
    }

    #[test]
    fn chunks_without_an_end_are_cut_between_lines() {
        let mut garbage = b"garbage\n".repeat(MAX_LINES_BYTES / 8 - 1);
        assert_eq!(ends(&garbage), None);
        let whole = garbage.len();
        garbage.extend(b"this line goes beyond\n");
        assert_eq!(ends(&garbage), Some(whole));
        assert_eq!(ends(&vec![b'x'; MAX_LINES_BYTES + 9]), Some(MAX_LINES_BYTES));
    }
}
