//! The chunks of bytes, not yet understood: the least that can be read by itself, a record, a line or a game.
//!
//! A chunk that is too long is cut into pieces, all of them bad: memory stays bounded and no byte is lost.

use super::error::{DecodeError, EncodeError};
use super::format::Format;
use super::lines;
use super::move16::Dialect;
use super::record_ref::RecordRef;
use super::records::{count, records};

impl Format {
    /// The length of the longest chunk that is read as one.
    pub const fn max_chunk_bytes(self) -> usize {
        match self.record_len() {
            Some(len) => len,
            None if self.is_lines() => MAX_LINE_BYTES,
            None => MAX_GROUP_BYTES,
        }
    }

    /// The first chunk, or a piece of one that is too long, of bytes that are not empty; `None` if it does not end in
    /// them and more may follow, which `at_end` excludes. `is_mid_chunk` says whether the bytes continue such a piece,
    /// and then whether those behind the chunk do.
    pub fn first_chunk<'a>(
        self,
        bytes: &'a [u8],
        at_end: bool,
        is_mid_chunk: &mut bool,
    ) -> Option<RawChunk<'a>> {
        let most = self.max_chunk_bytes();
        let end = if bytes.len() <= most {
            self.chunk_end(bytes, at_end).or((bytes.len() == most).then_some(most))?
        } else {
            self.chunk_end(&bytes[..most], false).unwrap_or(most)
        };
        let bytes = &bytes[..end];
        let goes_on = end == most && self.chunk_end(bytes, false).is_none();
        let is_piece = std::mem::replace(is_mid_chunk, goes_on) || goes_on;
        Some(RawChunk { bytes, offset: 0, is_piece })
    }
}

/// The bytes of one chunk, not yet understood.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RawChunk<'a> {
    /// All its bytes, the line end of a text included.
    pub bytes: &'a [u8],
    /// Offset within the bytes that it was found in.
    pub offset: u64,
    /// Whether this is a piece of a chunk longer than the most that is read at once.
    pub is_piece: bool,
}

impl<'a> RawChunk<'a> {
    /// Appends the chunk to a file of its format: [`Format::write_chunk`].
    ///
    /// # Errors
    /// Those of [`Format::write_chunk`].
    #[inline]
    pub fn write(&self, format: Format, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        format.write_chunk(self.bytes, out)
    }

    /// The bytes without the line end of a text whose lines are chunks.
    #[inline]
    pub fn without_line_end(&self, format: Format) -> &'a [u8] {
        if !format.is_lines() {
            return self.bytes;
        }
        lines::content(self.bytes)
    }

    /// Its records in order; what is none is an error. A piece of a chunk is one.
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

/// The chunks of bytes in which the last one ends.
#[derive(Clone, Debug)]
pub struct Chunks<'a> {
    format: Format,
    bytes: &'a [u8],
    at: usize,
    is_mid_chunk: bool,
}

impl<'a> Chunks<'a> {
    /// The bytes begin with a chunk; or, `is_mid_chunk`, they continue one that was too long.
    pub const fn new(format: Format, bytes: &'a [u8], is_mid_chunk: bool) -> Self {
        Self { format, bytes, at: 0, is_mid_chunk }
    }

    pub(super) const fn format(&self) -> Format {
        self.format
    }
}

impl<'a> Iterator for Chunks<'a> {
    type Item = RawChunk<'a>;

    #[inline]
    fn next(&mut self) -> Option<RawChunk<'a>> {
        let (format, offset) = (self.format, self.at as u64);
        let rest = self.bytes.get(self.at..).filter(|rest| !rest.is_empty())?;
        if let Some(len) = format.record_len() {
            let bytes = &rest[..len.min(rest.len())];
            self.at += bytes.len();
            return Some(RawChunk { bytes, offset, is_piece: false });
        }
        let chunk = format.first_chunk(rest, true, &mut self.is_mid_chunk);
        let chunk = chunk.unwrap_or(RawChunk { bytes: rest, offset, is_piece: false });
        self.at += chunk.bytes.len();
        Some(RawChunk { offset, ..chunk })
    }
}

/// The longest line that is read as one. A position with every field takes some 200 bytes.
pub const MAX_LINE_BYTES: usize = 1 << 16;

/// The largest group of records, a game for instance, that is read as one. A game of a thousand moves, each
/// with as many candidates as there are legal moves, takes 2.4 MB.
pub const MAX_GROUP_BYTES: usize = 1 << 24;
