//! The bytes of an opened input, read from its start, or from any offset if the input is seekable.
//!
//! Files are read, not memory-mapped. So a file that is truncated meanwhile causes an error and not a signal.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::ops::RangeInclusive;
use std::sync::Arc;

use flate2::read::MultiGzDecoder;

use super::cut::{FULL_BLOCK_BYTES, ScannedChunks, TakeLimit};
use super::decompression::{EvenSteps, ZstdReader};
use super::frames::FrameReader;
use super::xz::XzReader;
use super::{Input, InputLocation, Object};
use crate::error::Error;
use crate::storage::compression::Compression;
use crate::storage::files::FileState;
use crate::storage::parquet;
use crate::storage::retry_interrupted::RetryInterrupted;
use crate::storage::seek_table::SeekTable;

/// Minimum and maximum bytes per read if chunks have no fixed size. The size of reads doubles until a chunk ends,
/// because each scan starts at the first byte of the chunk.
const CHUNK_BYTES: RangeInclusive<usize> = 1 << 17..=1 << 23;

pub(super) struct Bytes {
    reader: Box<dyn Read + Send>,
    /// The input and its state when it was opened. `None` for pipes.
    opened: Option<(SeekableInput, FileState)>,
    seekability: Seekability,
    /// Bytes read but not yet taken.
    buffer: Vec<u8>,
    /// Scanned chunks at the start of the buffer. Empty between two calls of [`Self::take`].
    scanned: ScannedChunks,
    at_end: bool,
    /// Offset of the buffer in the uncompressed input.
    offset: u64,
}

/// An input that can be opened again at any offset.
enum SeekableInput {
    File(File),
    Object(Object),
}

impl SeekableInput {
    /// Reads from `from`. An object may end at `until`. Two readers of a file share its position.
    fn reader(&self, from: u64, until: u64) -> io::Result<Box<dyn Read + Send>> {
        match self {
            Self::File(file) => {
                let mut file = file.try_clone()?;
                file.seek(SeekFrom::Start(from))?;
                Ok(Box::new(file))
            }
            Self::Object(object) => {
                let mut reader = object.reader()?.until(until);
                reader.seek(SeekFrom::Start(from))?;
                Ok(Box::new(reader))
            }
        }
    }

    /// The frame table at the end, if it has frames and none is empty.
    fn table(&self, state: &FileState) -> io::Result<Option<SeekTable>> {
        let table = match self {
            Self::File(file) => {
                let mut file = RetryInterrupted(file);
                let table = SeekTable::read(&mut file, state.bytes)?;
                file.rewind()?;
                table
            }
            Self::Object(object) => SeekTable::read(&mut object.reader()?, state.bytes)?,
        };
        Ok(table.filter(|table| !table.is_empty() && table.has_no_empty_frame()))
    }
}

/// Offsets at which reading can start.
enum Seekability {
    /// Only the start: a pipe, or compressed without a frame table.
    Start,
    /// Every byte.
    Bytes,
    /// The starts of the frames of a zstd file, if its table is correct.
    Frames(Arc<SeekTable>),
}

#[derive(Default)]
pub(super) struct TakenChunks {
    pub(super) bytes: Vec<u8>,
    pub(super) records: u64,
    pub(super) ends_mid_chunk: bool,
}

impl Bytes {
    pub(super) fn open(input: &Input) -> Result<Self, Error> {
        Self::try_open(input).map_err(|source| open_error(input, source))
    }

    fn try_open(input: &Input) -> io::Result<Self> {
        let (stream, opened): (Option<Box<dyn Read + Send>>, _) = match &input.location {
            InputLocation::Stdin => (Some(Box::new(io::stdin())), None),
            InputLocation::File(path) => {
                let file = File::open(path)?;
                let metadata = file.metadata()?;
                if metadata.is_dir() {
                    return Err(io::ErrorKind::IsADirectory.into());
                }
                if metadata.is_file() {
                    (None, Some((SeekableInput::File(file), FileState::from_metadata(&metadata))))
                } else {
                    (Some(Box::new(file)), None)
                }
            }
            InputLocation::Object(object) => {
                (None, Some((SeekableInput::Object(object.clone()), object.state()?.clone())))
            }
        };
        let seekability = match (&opened, input.compression) {
            (Some(_), Compression::None) => Seekability::Bytes,
            (Some((opened, state)), Compression::Zstd) => opened
                .table(state)?
                .map_or(Seekability::Start, |table| Seekability::Frames(Arc::new(table))),
            _ => Seekability::Start,
        };
        let reader = match (stream, &opened) {
            (Some(stream), _) => stream,
            (None, Some((opened, _))) => opened.reader(0, u64::MAX)?,
            (None, None) => Box::new(io::empty()),
        };
        let reader = match (input.compression, &opened) {
            (Compression::None, _) => reader,
            (Compression::Zstd, _) => Box::new(EvenSteps::new(ZstdReader::new(reader)?)),
            (Compression::Gzip, _) => {
                let reader = BufReader::new(RetryInterrupted(reader));
                Box::new(EvenSteps::new(MultiGzDecoder::new(reader)))
            }
            (Compression::Xz, _) => Box::new(EvenSteps::new(XzReader::new(reader))),
            (Compression::Parquet, Some((SeekableInput::File(file), _))) => {
                Box::new(parquet::LineReader::open(file.try_clone()?)?)
            }
            (Compression::Parquet, _) => return Err(io::ErrorKind::NotSeekable.into()),
        };
        Ok(Self {
            reader,
            opened,
            seekability,
            buffer: Vec::new(),
            scanned: ScannedChunks::default(),
            at_end: false,
            offset: 0,
        })
    }

    /// Uncompressed size, if reading can start at any byte. For a compressed file it is taken from the frame table.
    pub(super) fn size(&self) -> Option<u64> {
        match (&self.seekability, &self.opened) {
            (Seekability::Bytes, Some((_, state))) => Some(state.bytes),
            (Seekability::Frames(table), _) => Some(table.content_bytes()),
            _ => None,
        }
    }

    /// Seeks to `offset`, before the first call of [`Self::take`]. Bytes from `until` on will not be requested. An
    /// input without [`Bytes::size`] is empty from any `offset` above 0. After this call a compressed file must match
    /// its frame table, or reading fails.
    pub(super) fn seek(&mut self, input: &Input, offset: u64, until: u64) -> Result<(), Error> {
        self.try_seek(offset, until).map_err(|source| read_error(input, 0, source))?;
        self.offset = offset;
        Ok(())
    }

    fn try_seek(&mut self, offset: u64, until: u64) -> io::Result<()> {
        match (&self.seekability, &self.opened) {
            (Seekability::Bytes, Some((opened, _))) => {
                self.reader = opened.reader(offset, until)?;
            }
            (Seekability::Frames(table), Some((opened, _))) => {
                let last = table.frame(table.frame_of(until.saturating_sub(1)));
                let end = last.map_or(u64::MAX, |last| last.compressed.end);
                let open = |start| opened.reader(start, end);
                let frames = FrameReader::open(Arc::clone(table), offset, open)?;
                self.reader = Box::new(EvenSteps::new(frames));
            }
            _ if offset > 0 => self.reader = Box::new(io::empty()),
            _ => {}
        }
        Ok(())
    }

    /// The next chunks; `None` at the end. With [`TakeLimit::at_most`], there may be none because the next one holds
    /// too many records.
    pub(super) fn take(
        &mut self,
        input: &Input,
        take_limit: TakeLimit,
    ) -> Result<Option<TakenChunks>, Error> {
        loop {
            if self.scanned.extend(input.format, &self.buffer, take_limit, self.at_end) {
                let is_end = self.buffer.is_empty() && self.at_end;
                return Ok((!is_end).then(|| self.split_off()));
            }
            let read = self.read_more(self.missing(input, take_limit));
            // Bytes read before the error are in the buffer.
            let offset = self.offset + self.buffer.len() as u64;
            read.map_err(|source| read_error(input, offset, source))?;
        }
    }

    fn split_off(&mut self) -> TakenChunks {
        let scanned = self.scanned;
        self.scanned = scanned.next();
        let rest = self.buffer.split_off(scanned.bytes);
        let mut bytes = std::mem::replace(&mut self.buffer, rest);
        // The bytes after the chunks were moved to `rest`. Their memory is freed here.
        if bytes.capacity() - bytes.len() > FULL_BLOCK_BYTES {
            bytes.shrink_to_fit();
        }
        self.offset += bytes.len() as u64;
        TakenChunks { bytes, records: scanned.records, ends_mid_chunk: scanned.ends_mid_chunk }
    }

    /// Number of bytes to read before the next scan. Fixed-size records are read in whole blocks, so that no rest is
    /// copied.
    fn missing(&self, input: &Input, take_limit: TakeLimit) -> usize {
        let Some(len) = input.format.record_len() else {
            return self.buffer.len().clamp(*CHUNK_BYTES.start(), *CHUNK_BYTES.end());
        };
        let most = FULL_BLOCK_BYTES.div_ceil(len);
        let wanted =
            usize::try_from(take_limit.records).map_or(most, |wanted| wanted.min(most)) * len;
        wanted.saturating_sub(self.buffer.len()).max(1)
    }

    fn read_more(&mut self, missing: usize) -> io::Result<()> {
        let before = self.buffer.len();
        self.buffer.reserve_exact(missing);
        self.reader.by_ref().take(missing as u64).read_to_end(&mut self.buffer)?;
        self.at_end = self.buffer.len() == before;
        Ok(())
    }

    /// State of the input when it was opened. `None` for a pipe.
    pub(super) fn opened(&self) -> Option<&FileState> {
        self.opened.as_ref().map(|(_, state)| state)
    }

    /// Fails if the size or modification time of a file has changed since it was opened. Readers of objects check this
    /// themselves.
    pub(super) fn check_unchanged(&self, input: &Input) -> Result<(), Error> {
        let Some((SeekableInput::File(file), opened)) = &self.opened else { return Ok(()) };
        let now = file.metadata().map_err(|source| open_error(input, source))?;
        if FileState::from_metadata(&now) == *opened {
            return Ok(());
        }
        Err(Error::changed_while_read(input.name.clone()))
    }
}

/// The uncompressed bytes of an input.
pub(crate) fn open_sequential(input: &Input) -> Result<Box<dyn Read + Send>, Error> {
    Ok(Bytes::open(input)?.reader)
}

fn open_error(input: &Input, source: io::Error) -> Error {
    Error::io("open", &input.name, source)
}

/// Readers of objects report a change as [`io::ErrorKind::StaleNetworkFileHandle`].
fn read_error(input: &Input, offset: u64, source: io::Error) -> Error {
    let (compression, input) = (input.compression, input.name.clone());
    match source.kind() {
        io::ErrorKind::StaleNetworkFileHandle => Error::changed_while_read(input),
        _ => Error::read(&input, offset, compression, source),
    }
}
