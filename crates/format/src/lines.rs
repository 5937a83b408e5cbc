//! Text as lines: the record between two line ends, and the bytes as they stood in the file.
//!
//! LF and CRLF end a line, also with several CR; the last line may lack its end.

use std::borrow::Cow;

use encoding_rs::SHIFT_JIS;
use memchr::memchr;

/// A line of a text buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Line<'a> {
    raw: &'a [u8],
}

impl<'a> Line<'a> {
    /// The line with its end, as it is to be written where records pass untouched.
    pub const fn raw(&self) -> &'a [u8] {
        self.raw
    }

    /// The line without its end: the bytes of a [`RecordRef`](super::RecordRef).
    pub fn content(&self) -> &'a [u8] {
        content(self.raw)
    }

    /// Whether the line is a comment, which is no record: it begins with `#`, perhaps after a byte order mark.
    pub fn is_comment(&self) -> bool {
        is_comment(self.raw)
    }
}

/// What begins a line that says a position, in formats whose records are groups of lines.
pub(super) const POSITION: &[u8] = b"sfen ";

/// A group of lines without an end is cut here, before the line that goes beyond. Records are much
/// shorter.
pub(super) const LONGEST_GROUP: usize = 1 << 16;

/// Where the first group of lines ends: behind the line that `is_last` accepts, or before the second one
/// that says a position. `None` if the bytes end before it does.
pub(super) fn group_end(bytes: &[u8], is_last: impl Fn(&[u8]) -> bool) -> Option<usize> {
    let window = &bytes[..bytes.len().min(LONGEST_GROUP)];
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
    let is_full = window.len() == LONGEST_GROUP;
    is_full.then_some(if at == 0 { window.len() } else { at })
}

/// The lines of a group, each with its place and without white space around it; those without anything
/// else are left out.
pub(super) fn in_group(group: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let lines = Lines::new(group).scan(0, |next, Line { raw }| {
        let text = without_mark(raw).trim_ascii_start();
        let at = *next + raw.len() - text.len();
        *next += raw.len();
        Some((at, text.trim_ascii_end()))
    });
    lines.filter(|(_, text)| !text.is_empty())
}

/// A line without its end. Text that was converted twice has several carriage returns there.
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

/// The bytes of the marks that a line begins with. Some programs add one to a file that has one.
pub(super) fn mark_len(line: &[u8]) -> usize {
    line.len() - without_mark(line).len()
}

/// A line without the marks of the byte order at its start.
#[inline]
pub(crate) fn without_mark(mut line: &[u8]) -> &[u8] {
    while let Some(rest) = line.strip_prefix(MARK) {
        line = rest;
    }
    line
}

/// The lines of a buffer. Their [raw](Line::raw) bytes together are the buffer.
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

/// A line in UTF-8 if it is one, else in `Shift_JIS`; what is neither becomes a replacement character.
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
        group_end(bytes, |line| line == b"e")
    }

    #[test]
    fn groups_end_at_their_last_line_or_before_the_next_position() {
        assert_eq!(ends(b"sfen x\nmove y\ne\nsfen"), Some(16));
        assert_eq!(ends(b"\r\nsfen x\r\ne\r\n"), Some(13));
        assert_eq!(ends(b"sfen x\nmove y\nsfen "), Some(14));
        assert_eq!(ends(b"sfen x\nmove y\nsfen"), None);
        assert_eq!(ends(b"sfen x\ne"), None);
    }

    #[test]
    fn what_does_not_end_is_cut_at_a_line() {
        let mut garbage = b"garbage\n".repeat(LONGEST_GROUP / 8 - 1);
        assert_eq!(ends(&garbage), None);
        let whole = garbage.len();
        garbage.extend(b"this line goes beyond\n");
        assert_eq!(ends(&garbage), Some(whole));
        assert_eq!(ends(&vec![b'x'; LONGEST_GROUP + 9]), Some(LONGEST_GROUP));
    }
}
