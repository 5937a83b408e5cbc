//! The units of bytes, not yet understood: the least that can be read by itself, a record, a line or a game.
//!
//! A unit that is too long is cut into pieces, all of them bad: memory stays bounded and no byte is lost.

use super::error::{DecodeError, EncodeError};
use super::format::Format;
use super::lines;
use super::move16::Dialect;
use super::record_ref::RecordRef;
use super::records::{count, records};

impl Format {
    /// The length of the longest unit that is read as one.
    pub const fn max_unit_bytes(self) -> usize {
        match self.record_len() {
            Some(len) => len,
            None if self.is_lines() => MAX_LINE_BYTES,
            None => MAX_GROUP_BYTES,
        }
    }

    /// The first unit, or a piece of one that is too long, of bytes that are not empty; `None` if it does not end in
    /// them and more may follow, which `at_end` excludes. `is_mid_unit` says whether the bytes continue such a piece,
    /// and then whether those behind the unit do.
    pub fn first_unit<'a>(
        self,
        bytes: &'a [u8],
        at_end: bool,
        is_mid_unit: &mut bool,
    ) -> Option<RawUnit<'a>> {
        let most = self.max_unit_bytes();
        let end = if bytes.len() <= most {
            self.unit_end(bytes, at_end).or((bytes.len() == most).then_some(most))?
        } else {
            self.unit_end(&bytes[..most], false).unwrap_or(most)
        };
        let bytes = &bytes[..end];
        let goes_on = end == most && self.unit_end(bytes, false).is_none();
        let is_piece = std::mem::replace(is_mid_unit, goes_on) || goes_on;
        Some(RawUnit { bytes, offset: 0, is_piece })
    }
}

/// The bytes of one unit, not yet understood.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RawUnit<'a> {
    /// All its bytes, the line end of a text included.
    pub bytes: &'a [u8],
    /// Offset within the bytes that it was found in.
    pub offset: u64,
    /// Whether this is a piece of a unit longer than the most that is read at once.
    pub is_piece: bool,
}

impl<'a> RawUnit<'a> {
    /// Appends the unit to a file of its format: [`Format::write_unit`].
    ///
    /// # Errors
    /// Those of [`Format::write_unit`].
    #[inline]
    pub fn write(&self, format: Format, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        format.write_unit(self.bytes, out)
    }

    /// The bytes without the line end of a text whose lines are units.
    #[inline]
    pub fn without_line_end(&self, format: Format) -> &'a [u8] {
        if !format.is_lines() {
            return self.bytes;
        }
        lines::content(self.bytes)
    }

    /// Its records in order; what is none is an error. A piece of a unit is one.
    pub fn records(
        &self,
        format: Format,
        dialect: Dialect,
    ) -> impl Iterator<Item = Result<RecordRef<'a>, DecodeError>> + use<'a> {
        let whole =
            (!self.is_piece).then(|| records(format, dialect, self.without_line_end(format)));
        let piece = self.is_piece.then_some(Err(DecodeError::TOO_LONG));
        piece.into_iter().chain(whole.into_iter().flatten())
    }

    /// The number of its records and errors.
    #[inline]
    pub fn count(&self, format: Format) -> u64 {
        let is_one = self.is_piece || format.record_len().is_some();
        if is_one { 1 } else { count(format, self.without_line_end(format)) }
    }
}

/// The units of bytes in which the last one ends.
#[derive(Clone, Debug)]
pub struct Units<'a> {
    format: Format,
    bytes: &'a [u8],
    at: usize,
    is_mid_unit: bool,
}

impl<'a> Units<'a> {
    /// The bytes begin with a unit; or, `is_mid_unit`, they continue one that was too long.
    pub const fn new(format: Format, bytes: &'a [u8], is_mid_unit: bool) -> Self {
        Self { format, bytes, at: 0, is_mid_unit }
    }

    pub(super) const fn format(&self) -> Format {
        self.format
    }
}

impl<'a> Iterator for Units<'a> {
    type Item = RawUnit<'a>;

    #[inline]
    fn next(&mut self) -> Option<RawUnit<'a>> {
        let (format, offset) = (self.format, self.at as u64);
        let rest = self.bytes.get(self.at..).filter(|rest| !rest.is_empty())?;
        if let Some(len) = format.record_len() {
            let bytes = &rest[..len.min(rest.len())];
            self.at += bytes.len();
            return Some(RawUnit { bytes, offset, is_piece: false });
        }
        let unit = format.first_unit(rest, true, &mut self.is_mid_unit);
        let unit = unit.unwrap_or(RawUnit { bytes: rest, offset, is_piece: false });
        self.at += unit.bytes.len();
        Some(RawUnit { offset, ..unit })
    }
}

/// The longest line that is read as one. A position with every field takes some 200 bytes.
pub const MAX_LINE_BYTES: usize = 1 << 16;

/// The largest group of records, a game for instance, that is read as one. A game of a thousand moves, each
/// with as many candidates as there are legal moves, takes 2.4 MB.
pub const MAX_GROUP_BYTES: usize = 1 << 24;
