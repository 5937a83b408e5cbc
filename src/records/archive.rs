//! Random access to files of fixed-size records.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::format_name::FormatName;
use super::opening::input;
use super::source::{Block, FrameReader, Input, InputLocation, RangeRead};
use crate::error::{Error, ErrorKind};
use crate::format::move16::Dialect;
use crate::format::{DecodeError, Format, RecordRef};
use crate::storage::compression::Compression;
use crate::storage::mapped_file::MappedFile;
use crate::storage::platform;
use crate::storage::seek_table::{Frame, SeekTable};

/// Largest decompressed size of a frame. One frame is held in memory.
const MAX_FRAME_BYTES: u64 = 1 << 28;

/// A file of fixed-size records with random access. Threads can share it.
///
/// An uncompressed file is mapped into memory. A zstd file must have a frame table, as
/// [`convert`](crate::ops::convert) writes it. The offset of a record is computed from this table. Each frame that is
/// read is compared with its entry; the entries of other frames are trusted. The last frame read stays in memory.
///
/// A mapped file must not become shorter while it is open. Its length is checked before each access, and a shorter file
/// is an error. If the file shrinks during an access, the system ends the process.
///
/// ```no_run
/// use kyokumen::records::archive::Archive;
/// let archive = Archive::open("positions.psv".as_ref())?;
/// if let Some(last) = archive.len().checked_sub(1)
///     && let Some(record) = archive.get(last)?
/// {
///     println!("{}", record.read()?.setup()?);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Archive {
    name: String,
    format: Format,
    dialect: Dialect,
    record_len: u64,
    content: ArchiveBytes,
    content_bytes: u64,
}

#[derive(Debug)]
enum ArchiveBytes {
    Mapped(MappedFile),
    Frames(Frames),
}

/// The bytes of a record, which [`Self::read`] decodes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ArchiveRecord<'a> {
    format: Format,
    dialect: Dialect,
    bytes: Cow<'a, [u8]>,
}

impl ArchiveRecord<'_> {
    /// The bytes as stored in the archive.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The record. Its fields are decoded when they are accessed.
    ///
    /// # Errors
    /// [`DecodeError`] if this is the last record of a truncated file.
    pub fn read(&self) -> Result<RecordRef<'_>, DecodeError> {
        RecordRef::with_dialect(self.format, self.dialect, &self.bytes)
    }
}

impl Archive {
    /// Opens a file and detects its format and move encoding.
    ///
    /// # Errors
    /// [`Error`] if the file cannot be opened, its format is unknown or has variable-length records, or it is
    /// compressed without a frame table.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Self::from_input(&input(path, None, None)?)
    }

    /// Opens a file in this format. If `dialect` is `None`, the move encoding is detected.
    ///
    /// # Errors
    /// As [`Archive::open`].
    pub fn open_as(
        path: &Path,
        format: FormatName,
        dialect: Option<Dialect>,
    ) -> Result<Self, Error> {
        Self::from_input(&input(path, Some(format), dialect)?)
    }

    /// Opens the file of an input.
    ///
    /// # Errors
    /// As [`Archive::open`].
    pub fn from_input(input: &Input) -> Result<Self, Error> {
        let name = input.name.clone();
        let format = input.format;
        let Some(record_len) = format.record_len() else {
            return Err(no_random_access(format!(
                "{name}: {format} has variable-length records, so random access is not supported; \
                 convert the file to a packed format first"
            ))
            .in_file(&name));
        };
        let path = match &input.location {
            InputLocation::File(path) if path.is_file() || !path.exists() => path,
            _ => {
                return Err(Error::usage(format!(
                    "{name} is not a regular file, so random access is not supported"
                ))
                .in_file(&name));
            }
        };
        let failed = |source| Error::io("open", &input.name, source);
        let file = File::open(path).map_err(failed)?;
        let (content, content_bytes) = match input.compression {
            Compression::None => {
                let mapped = MappedFile::new(file).map_err(failed)?;
                let bytes = mapped.len();
                (ArchiveBytes::Mapped(mapped), bytes)
            }
            Compression::Zstd => match Frames::open(file).map_err(failed)? {
                Some(frames) => {
                    let bytes = frames.table.content_bytes();
                    (ArchiveBytes::Frames(frames), bytes)
                }
                None => return Err(no_frames(&name)),
            },
            Compression::Gzip | Compression::Xz | Compression::Parquet => {
                return Err(no_frames(&name));
            }
        };
        let (dialect, record_len) = (input.dialect, record_len as u64);
        Ok(Self { name, format, dialect, record_len, content, content_bytes })
    }

    /// Format of the records.
    pub const fn format(&self) -> Format {
        self.format
    }

    /// Move encoding.
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Number of records, including a truncated last one.
    pub const fn len(&self) -> u64 {
        self.content_bytes.div_ceil(self.record_len)
    }

    /// Whether the archive is empty.
    pub const fn is_empty(&self) -> bool {
        self.content_bytes == 0
    }

    /// Whether the last record is truncated.
    pub const fn is_cut_off(&self) -> bool {
        !self.content_bytes.is_multiple_of(self.record_len)
    }

    /// Uncompressed offset of a record, at most the end of the data.
    pub const fn offset(&self, index: u64) -> u64 {
        let offset = index.saturating_mul(self.record_len);
        if offset < self.content_bytes { offset } else { self.content_bytes }
    }

    /// Advises the operating system to expect random access, so that it does not read ahead. This is only a hint.
    pub fn expect_random_access(&self) {
        if let ArchiveBytes::Mapped(mapped) = &self.content {
            mapped.expect_random_access();
        }
    }

    /// The record with this number, from 0. `None` after the last record.
    ///
    /// # Errors
    /// [`Error`] if it cannot be read.
    pub fn get(&self, index: u64) -> Result<Option<ArchiveRecord<'_>>, Error> {
        if index >= self.len() {
            return Ok(None);
        }
        let bytes = self.slice(index..index + 1)?;
        Ok(Some(ArchiveRecord { format: self.format, dialect: self.dialect, bytes }))
    }

    /// The bytes of a record. Errors are the same as in a sequential read.
    pub(crate) fn record_bytes(&self, index: u64) -> Result<Cow<'_, [u8]>, Error> {
        self.bytes(index..index + 1).map_err(|source| {
            let compression = match self.content {
                ArchiveBytes::Mapped(_) => Compression::None,
                ArchiveBytes::Frames(_) => Compression::Zstd,
            };
            Error::read(&self.name, self.offset(index), compression, source)
        })
    }

    /// A block of one record. `number` is its number over all inputs.
    pub(crate) fn block(&self, input: usize, index: u64, number: u64) -> Result<Block, Error> {
        let (offset, bytes) = (self.offset(index), self.record_bytes(index)?);
        Ok(Block {
            input,
            format: self.format,
            dialect: self.dialect,
            first_index: index,
            offset,
            first_number: number,
            wanted: index..index + 1,
            starts_mid_chunk: false,
            read: RangeRead { input, records: 1, offset, bytes: bytes.len() as u64, sha256: None },
            bytes: bytes.into_owned(),
            permit: None,
        })
    }

    /// The bytes of the records with these numbers, up to the end of the archive. They are borrowed if the file is
    /// mapped.
    ///
    /// # Errors
    /// [`Error`] if they cannot be read.
    pub fn slice(&self, records: Range<u64>) -> Result<Cow<'_, [u8]>, Error> {
        let offset = self.offset(records.start);
        self.bytes(records).map_err(|source| {
            let message = format!("cannot read {} at byte {offset}", self.name);
            Error::new(ErrorKind::Io, message)
                .in_file(&self.name)
                .at_byte(offset)
                .with_source(source)
        })
    }

    fn bytes(&self, records: Range<u64>) -> io::Result<Cow<'_, [u8]>> {
        let start = self.offset(records.start);
        let bytes = start..self.offset(records.end).max(start);
        match &self.content {
            ArchiveBytes::Mapped(mapped) => mapped.bytes(bytes).map(Cow::Borrowed),
            ArchiveBytes::Frames(frames) => frames.bytes(bytes).map(Cow::Owned),
        }
    }
}

/// A compressed file with random access to its frames.
#[derive(Debug)]
struct Frames {
    table: Arc<SeekTable>,
    file: Arc<File>,
    /// The frame read last, with its number.
    last_read: Mutex<Option<(usize, Arc<Vec<u8>>)>>,
}

/// Reads from its own offset, so that several readers can share a file.
struct ReaderAt {
    file: Arc<File>,
    offset: u64,
}

impl Read for ReaderAt {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = platform::read_at(&self.file, bytes, self.offset)?;
        self.offset += read as u64;
        Ok(read)
    }
}

impl Frames {
    /// `None` if the file has no frame table or a frame is larger than [`MAX_FRAME_BYTES`].
    fn open(mut file: File) -> io::Result<Option<Self>> {
        let len = file.metadata()?.len();
        let Some(table) = SeekTable::read(&mut file, len)? else { return Ok(None) };
        let is_small = table.sizes().all(|(_, bytes)| u64::from(bytes) <= MAX_FRAME_BYTES);
        let (table, file) = (Arc::new(table), Arc::new(file));
        Ok(is_small.then(|| Self { table, file, last_read: Mutex::new(None) }))
    }

    fn bytes(&self, mut range: Range<u64>) -> io::Result<Vec<u8>> {
        // No memory is reserved, because the sizes in the table may be wrong.
        let mut bytes = Vec::new();
        while !range.is_empty() {
            let number = self.table.frame_of(range.start);
            let frame = self.table.frame(number);
            let Frame { content, .. } = frame.ok_or(io::ErrorKind::UnexpectedEof)?;
            let read = self.frame(number, &content)?;
            let end = range.end.min(content.end);
            let within = |byte: u64| (byte - content.start) as usize;
            bytes.extend_from_slice(&read[within(range.start)..within(end)]);
            range.start = end;
        }
        Ok(bytes)
    }

    /// The content of a frame, checked against the table.
    fn frame(&self, number: usize, content: &Range<u64>) -> io::Result<Arc<Vec<u8>>> {
        let last_read = || self.last_read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, bytes)) = last_read().as_ref().filter(|(last, _)| *last == number) {
            return Ok(Arc::clone(bytes));
        }
        let open = |offset| Ok(Box::new(ReaderAt { file: Arc::clone(&self.file), offset }) as _);
        let reader = FrameReader::open(Arc::clone(&self.table), content.start, open)?;
        let mut bytes = Vec::new();
        reader.take(content.end - content.start).read_to_end(&mut bytes)?;
        let bytes = Arc::new(bytes);
        *last_read() = Some((number, Arc::clone(&bytes)));
        Ok(bytes)
    }
}

fn no_random_access(message: String) -> Error {
    Error::new(ErrorKind::NoRandomAccess, message)
}

fn no_frames(name: &str) -> Error {
    no_random_access(format!(
        "{name} has no frame table of at most {} MiB, so random access is not supported; \
         `kyokumen convert` to .zst writes such a table",
        MAX_FRAME_BYTES >> 20
    ))
    .in_file(name)
}
