//! Decodes bytes in memory: splits them into chunks and the chunks into records.

use super::chunk::{Chunks, RawChunk};
use super::error::DecodeError;
use super::format::Format;
use super::move16::Dialect;
use super::record_ref::RecordRef;
use super::records::{Records, records};

/// A record or the reason why it cannot be read, with its place.
#[derive(Clone, Debug)]
pub struct Decoded<'a> {
    /// Number of the record, from 0.
    pub index: u64,
    /// The chunk that contains it.
    pub chunk: RawChunk<'a>,
    /// The record. Formats that decode fields on access report invalid fields only on access.
    pub record: Result<RecordRef<'a>, DecodeError>,
}

/// The records of bytes that end with a complete chunk.
///
/// ```
/// use kyokumen_format::{Decoder, Format};
/// let lines = b"4k4/9/9/9/9/9/9/9/4K4 b - 1\n4k4/9/9/9/9/9/9/9/4K4 w - 2\n";
/// let plies = Decoder::new(Format::Sfen, lines)
///     .map(|decoded| Ok((decoded.index, decoded.record?.ply()?)))
///     .collect::<Result<Vec<_>, kyokumen_format::DecodeError>>()?;
/// assert_eq!(plies, [(0, Some(1)), (1, Some(2))]);
/// # Ok::<(), kyokumen_format::DecodeError>(())
/// ```
pub struct Decoder<'a> {
    chunks: Chunks<'a>,
    dialect: Dialect,
    /// The current chunk, if it may contain several records.
    current: Option<(RawChunk<'a>, Records<'a>)>,
    /// Number of the next record.
    index: u64,
}

impl<'a> Decoder<'a> {
    /// Reads bytes that begin with a chunk. Records are numbered from 0.
    pub const fn new(format: Format, bytes: &'a [u8]) -> Self {
        Self::of_chunks(Chunks::new(format, bytes, false), format.dialect(), 0)
    }

    /// Reads the records of `chunks`. The first record has number `first_index`.
    pub const fn of_chunks(chunks: Chunks<'a>, dialect: Dialect, first_index: u64) -> Self {
        Self { chunks, dialect, current: None, index: first_index }
    }

    #[inline]
    fn read(&mut self) -> Option<(RawChunk<'a>, Result<RecordRef<'a>, DecodeError>)> {
        let (format, dialect) = (self.chunks.format(), self.dialect);
        loop {
            if let Some((chunk, records)) = &mut self.current {
                if let Some(record) = records.next() {
                    return Some((*chunk, record));
                }
                self.current = None;
            }
            let chunk = self.chunks.next()?;
            if chunk.is_piece {
                return Some((chunk, Err(DecodeError::TOO_LONG)));
            }
            let bytes = chunk.without_line_end(format);
            if format.record_len().is_some() {
                let record = RecordRef::with_dialect(format, dialect, bytes);
                return Some((chunk, record));
            }
            self.current = Some((chunk, records(format, dialect, bytes)));
        }
    }
}

impl<'a> Iterator for Decoder<'a> {
    type Item = Decoded<'a>;

    #[inline]
    fn next(&mut self) -> Option<Decoded<'a>> {
        let (chunk, record) = self.read()?;
        let index = self.index;
        self.index += 1;
        Some(Decoded { index, chunk, record })
    }
}
