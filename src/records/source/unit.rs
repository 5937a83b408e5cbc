//! Units: the least pieces of an input that can be read by themselves.

use crate::format::Format;

/// The bytes of one unit, not yet understood.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RawUnit<'a> {
    /// All its bytes, the line end of a text included.
    pub bytes: &'a [u8],
    /// Offset within the block.
    pub offset: u64,
    /// Whether this is a piece of a unit longer than the most that is read at once.
    pub is_cut: bool,
}

impl<'a> RawUnit<'a> {
    /// Appends the bytes as they are. The last unit of a file may lack its end; what follows must not
    /// join it.
    pub fn copy(&self, format: Format, out: &mut Vec<u8>) {
        format.copy_unit(self.bytes, out);
    }

    /// The bytes without the line end of a text whose lines are units.
    pub fn without_line_end(&self, format: Format) -> &'a [u8] {
        if !format.is_lines() {
            return self.bytes;
        }
        let line = self.bytes.strip_suffix(b"\n").unwrap_or(self.bytes);
        line.strip_suffix(b"\r").unwrap_or(line)
    }
}
