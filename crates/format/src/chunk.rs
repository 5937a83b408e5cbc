//! Splits bytes into chunks. A chunk is the smallest piece of an input that can be decoded alone: a record, a line, a
//! game.
//!
//! A chunk over the size limit is cut into pieces, and each piece is a bad record. Memory stays bounded and no byte is
//! lost.

use super::error::{DecodeError, EncodeError};
use super::format::Format;
use super::lines;
use super::move16::Dialect;
use super::record_ref::RecordRef;
use super::records::{count, records};

impl Format {
    /// Largest chunk that is read whole, in bytes.
    pub const fn max_chunk_bytes(self) -> usize {
        match self.record_len() {
            Some(len) => len,
            None if self.is_lines() => MAX_LINE_BYTES,
            None => MAX_CHUNK_BYTES,
        }
    }

    /// The first chunk of `bytes`, or the first piece of a chunk over the size limit. `bytes` must not be empty.
    ///
    /// Returns `None` if the chunk does not end within `bytes` and more bytes may follow. With `at_end` no more bytes
    /// follow. `is_mid_chunk` states whether `bytes` continue a chunk that was cut; it is updated for the bytes after
    /// the returned chunk.
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
        let continues = end == most && self.chunk_end(bytes, false).is_none();
        let is_piece = std::mem::replace(is_mid_chunk, continues) || continues;
        Some(RawChunk { bytes, offset: 0, is_piece })
    }
}

/// The undecoded bytes of one chunk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RawChunk<'a> {
    /// All bytes, including the line end in text formats.
    pub bytes: &'a [u8],
    /// Offset of the chunk in the bytes it was read from.
    pub offset: u64,
    /// Whether this is a piece of a chunk over the size limit.
    pub is_piece: bool,
}

impl<'a> RawChunk<'a> {
    /// Appends the chunk to a file of its format. See [`Format::write_chunk`].
    ///
    /// # Errors
    /// The errors of [`Format::write_chunk`].
    #[inline]
    pub fn write(&self, format: Format, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        format.write_chunk(self.bytes, out)
    }

    /// The bytes. In formats with one record per line, without the line end.
    #[inline]
    pub fn without_line_end(&self, format: Format) -> &'a [u8] {
        if !format.is_lines() {
            return self.bytes;
        }
        lines::content(self.bytes)
    }

    /// Decodes the records in order. Yields an error for bytes that are not a record, and one error for a piece of a
    /// chunk.
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

    /// Number of records, including the bad ones.
    #[inline]
    pub fn count(&self, format: Format) -> u64 {
        let is_one = self.is_piece || format.record_len().is_some();
        if is_one { 1 } else { count(format, self.without_line_end(format)) }
    }
}

/// The chunks of bytes that end with a complete chunk.
#[derive(Clone, Debug)]
pub struct Chunks<'a> {
    format: Format,
    bytes: &'a [u8],
    at: usize,
    is_mid_chunk: bool,
}

impl<'a> Chunks<'a> {
    /// Creates the iterator. With `is_mid_chunk`, the bytes begin in the middle of a chunk over the size limit.
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

/// Longest line that is read whole. A position with all fields takes about 200 bytes.
pub const MAX_LINE_BYTES: usize = 1 << 16;

/// Largest chunk with several records, such as a game, that is read whole. A game of 1,000 moves that stores every
/// legal move as a candidate takes 2.4 MB.
pub const MAX_CHUNK_BYTES: usize = 1 << 24;
