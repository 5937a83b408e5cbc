//! Text as lines: the record between two line ends, and the bytes as they stood in the file.
//!
//! LF and CRLF end a line; the last line may lack its end.

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

    /// Whether the line is a comment, which is no record: its first character is `#`.
    pub fn is_comment(&self) -> bool {
        is_comment(self.raw)
    }
}

/// A line without its end.
pub(super) fn content(line: &[u8]) -> &[u8] {
    match line {
        [line @ .., b'\r', b'\n'] | [line @ .., b'\n'] | line => line,
    }
}

pub(super) fn is_comment(line: &[u8]) -> bool {
    line.first() == Some(&b'#')
}

/// The lines of a buffer. Their [raw](Line::raw) bytes together are the buffer.
///
/// ```
/// use kyokumen::format::Lines;
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
