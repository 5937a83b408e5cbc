//! The bytes of an opened input, read from its start or, where it can be sought, from any place.
//!
//! Files are read, not mapped: a file that somebody shortens meanwhile ends early, which is an error, and
//! no signal.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};

use flate2::read::MultiGzDecoder;

use super::cut::{Cut, FULL_BLOCK_BYTES, Reach, cut};
use super::{Compression, Input, Place, SourceError};

/// Bytes that are read at a time where nobody knows how many are wanted.
const CHUNK_BYTES: usize = 1 << 17;

pub(super) struct Bytes {
    reader: Box<dyn Read + Send>,
    /// A file, and what it was when it was opened.
    file: Option<(File, Metadata)>,
    compression: Compression,
    /// Bytes read and not yet taken.
    buffer: Vec<u8>,
    at_end: bool,
    /// Bytes taken.
    offset: u64,
}

/// Whole units.
pub(super) struct Taken {
    pub(super) bytes: Vec<u8>,
    pub(super) records: u64,
    pub(super) ends_mid_unit: bool,
}

impl Bytes {
    pub(super) fn open(input: &Input) -> Result<Self, SourceError> {
        Self::try_open(input).map_err(|source| open_error(input, source))
    }

    fn try_open(input: &Input) -> io::Result<Self> {
        let (reader, file): (Box<dyn Read + Send>, _) = match &input.place {
            Place::Stdin => (Box::new(io::stdin()), None),
            Place::File(path) => {
                let file = File::open(path)?;
                let opened = file.metadata()?;
                if opened.is_dir() {
                    return Err(io::ErrorKind::IsADirectory.into());
                }
                let is_file = opened.is_file();
                (Box::new(file.try_clone()?), is_file.then_some((file, opened)))
            }
        };
        let reader = match input.compression {
            Compression::None => reader,
            Compression::Zstd => Box::new(zstd::Decoder::new(reader)?),
            Compression::Gzip => Box::new(MultiGzDecoder::new(io::BufReader::new(reader))),
        };
        let compression = input.compression;
        Ok(Self { reader, file, compression, buffer: Vec::new(), at_end: false, offset: 0 })
    }

    /// Bytes of records, where the size of the file says it and every byte can be sought.
    pub(super) fn size(&self) -> Option<u64> {
        let (_, opened) = self.file.as_ref()?;
        (self.compression == Compression::None).then_some(opened.len())
    }

    /// Goes to a place of an input that has a [`Bytes::size`].
    pub(super) fn seek(&mut self, input: &Input, offset: u64) -> Result<(), SourceError> {
        if let Some((file, _)) = &mut self.file {
            // The reader is another handle of the same open file: they share their place.
            file.seek(SeekFrom::Start(offset)).map_err(|source| open_error(input, source))?;
            self.offset = offset;
        }
        Ok(())
    }

    /// The next units; `None` at the end. With [`Reach::AtMost`], none if the next one holds too many.
    pub(super) fn take(
        &mut self,
        input: &Input,
        reach: Reach,
    ) -> Result<Option<Taken>, SourceError> {
        loop {
            if let Some(cut) = cut(input.format, &self.buffer, reach, self.at_end) {
                let is_end = self.buffer.is_empty() && self.at_end;
                return Ok((!is_end).then(|| self.split_off(&cut)));
            }
            self.read_more(self.missing(input, reach)).map_err(|source| SourceError::Read {
                input: input.name.clone(),
                offset: self.offset + self.buffer.len() as u64,
                source,
            })?;
        }
    }

    fn split_off(&mut self, cut: &Cut) -> Taken {
        let rest = self.buffer.split_off(cut.bytes);
        let bytes = std::mem::replace(&mut self.buffer, rest);
        self.offset += bytes.len() as u64;
        Taken { bytes, records: cut.records, ends_mid_unit: cut.ends_mid_unit }
    }

    /// How many bytes to read before the next look at them: those of a block where all records have the
    /// same size, so that nothing is left over and copied.
    fn missing(&self, input: &Input, reach: Reach) -> usize {
        let (Reach::AtLeast(wanted) | Reach::AtMost(wanted)) = reach;
        let Some(len) = input.format.record_len() else { return CHUNK_BYTES };
        let most = FULL_BLOCK_BYTES.div_ceil(len);
        let wanted = usize::try_from(wanted).map_or(most, |wanted| wanted.min(most)) * len;
        wanted.saturating_sub(self.buffer.len()).max(1)
    }

    /// Appends what the reader has, up to a number of bytes.
    fn read_more(&mut self, missing: usize) -> io::Result<()> {
        let before = self.buffer.len();
        self.buffer.reserve_exact(missing);
        self.reader.by_ref().take(missing as u64).read_to_end(&mut self.buffer)?;
        self.at_end = self.buffer.len() == before;
        Ok(())
    }

    /// Size and time of modification of a file are those of the moment it was opened.
    pub(super) fn still_as_opened(&self, input: &Input) -> Result<(), SourceError> {
        let Some((file, opened)) = &self.file else { return Ok(()) };
        let now = file.metadata().map_err(|source| open_error(input, source))?;
        let is_same = now.len() == opened.len() && now.modified().ok() == opened.modified().ok();
        if is_same { Ok(()) } else { Err(SourceError::Changed { input: input.name.clone() }) }
    }
}

fn open_error(input: &Input, source: io::Error) -> SourceError {
    SourceError::Open { input: input.name.clone(), source }
}
