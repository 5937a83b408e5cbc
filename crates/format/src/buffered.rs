//! Chunks of an input that is read sequentially. A buffer holds one chunk at a time.

use std::io::{self, Read};
use std::ops::Range;

use super::chunk::RawChunk;
use super::error::{Error, ErrorKind, Place, RecordPlace};
use super::format::Format;

/// Minimum number of bytes requested per read.
const READ_BYTES: usize = 1 << 16;

/// The current chunk and the bytes read after it.
pub(super) struct Buffered<R> {
    input: R,
    bytes: Vec<u8>,
    /// Number of bytes read into `bytes`.
    filled: usize,
    /// Offset of `bytes[0]` in the input.
    offset: u64,
    /// Range of the current chunk in `bytes`.
    chunk: Range<usize>,
    is_piece: bool,
    /// Whether the bytes after the chunk continue it.
    is_mid_chunk: bool,
    at_end: bool,
}

impl<R: Read> Buffered<R> {
    /// Creates a buffer. Reads nothing yet.
    pub(super) const fn new(input: R) -> Self {
        Self {
            input,
            bytes: Vec::new(),
            filled: 0,
            offset: 0,
            chunk: 0..0,
            is_piece: false,
            is_mid_chunk: false,
            at_end: false,
        }
    }

    pub(super) fn into_input(self) -> R {
        self.input
    }

    /// The current chunk.
    pub(super) fn chunk(&self) -> RawChunk<'_> {
        let offset = self.chunk_offset();
        RawChunk { bytes: &self.bytes[self.chunk.clone()], offset, is_piece: self.is_piece }
    }

    /// Offset of the current chunk in the input.
    pub(super) fn chunk_offset(&self) -> u64 {
        self.offset + self.chunk.start as u64
    }

    /// Reads the next chunk. Returns `false` at the end of the input.
    ///
    /// # Errors
    /// I/O errors, placed at record `index`. No chunk follows an error.
    pub(super) fn next_chunk(&mut self, format: Format, index: u64) -> Result<bool, Error> {
        self.chunk.start = self.chunk.end;
        loop {
            let rest = &self.bytes[self.chunk.start..self.filled];
            if !rest.is_empty()
                && let Some(chunk) = format.first_chunk(rest, self.at_end, &mut self.is_mid_chunk)
            {
                self.is_piece = chunk.is_piece;
                self.chunk.end = self.chunk.start + chunk.bytes.len();
                return Ok(true);
            }
            if self.at_end {
                return Ok(false);
            }
            if let Err(error) = self.fill(format.max_chunk_bytes()) {
                self.at_end = true;
                let offset = self.offset + self.filled as u64;
                (self.filled, self.chunk) = (0, 0..0);
                let place = Some(Place::Input(RecordPlace { index, offset }));
                return Err(Error { place, kind: ErrorKind::Io(error) });
            }
        }
    }

    /// Doubles the number of bytes read of the chunk, so that the chunk is scanned only a few times even if each read
    /// returns few bytes.
    fn fill(&mut self, max_chunk_bytes: usize) -> io::Result<()> {
        self.bytes.copy_within(self.chunk.start..self.filled, 0);
        self.filled -= self.chunk.start;
        self.offset += self.chunk.start as u64;
        self.chunk = 0..0;
        let wanted = (2 * self.filled).clamp(1, max_chunk_bytes);
        while self.filled < wanted && !self.at_end {
            if self.filled == self.bytes.len() {
                self.bytes.resize((2 * self.filled).max(READ_BYTES), 0);
            }
            match self.input.read(&mut self.bytes[self.filled..]) {
                Ok(0) => self.at_end = true,
                Ok(read) => self.filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
