//! The bytes of an opened input, read from its start or, where it can be sought, from any place.
//!
//! Files are read, not mapped: a file that somebody shortens meanwhile ends early, which is an error, and
//! no signal.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::RangeInclusive;

use flate2::read::MultiGzDecoder;
use zeekstd::SeekTable;

use super::cut::{Cut, FULL_BLOCK_BYTES, Reach};
use super::{Compression, Input, Place, SourceError};
use crate::pipeline::parquet;

/// Bytes that are read at a time where nobody knows how many are wanted. The least and the most: what is
/// read doubles while a unit does not end, as each look at it begins at its start.
const CHUNK_BYTES: RangeInclusive<usize> = 1 << 17..=1 << 23;

pub(super) struct Bytes {
    reader: Box<dyn Read + Send>,
    /// A file, and what it was when it was opened.
    file: Option<(File, Metadata)>,
    places: Places,
    /// Bytes read and not yet taken.
    buffer: Vec<u8>,
    /// The units at the start of the buffer that were looked at, none between two takes.
    cut: Cut,
    at_end: bool,
    /// Bytes taken.
    offset: u64,
}

/// Which places of an input can be gone to.
enum Places {
    /// None: standard input, or compressed without a table of its frames.
    Start,
    /// Every byte.
    Bytes,
    /// The frames of a zstd file.
    Frames(Box<SeekTable>),
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
        let places = match (&file, input.compression) {
            (Some(_), Compression::None) => Places::Bytes,
            (Some((file, opened)), Compression::Zstd) => frames(file, opened)?,
            _ => Places::Start,
        };
        let reader = match input.compression {
            Compression::None => reader,
            Compression::Zstd => Box::new(zstd::Decoder::new(reader)?),
            Compression::Gzip => Box::new(MultiGzDecoder::new(io::BufReader::new(reader))),
            Compression::Parquet => match &file {
                Some((file, _)) => Box::new(parquet::Lines::open(file.try_clone()?)?),
                None => return Err(io::ErrorKind::NotSeekable.into()),
            },
        };
        Ok(Self {
            reader,
            file,
            places,
            buffer: Vec::new(),
            cut: Cut::default(),
            at_end: false,
            offset: 0,
        })
    }

    /// Bytes of records, uncompressed, where every one of them can be gone to.
    pub(super) fn size(&self) -> Option<u64> {
        match (&self.places, &self.file) {
            (Places::Bytes, Some((_, opened))) => Some(opened.len()),
            (Places::Frames(table), _) => Some(table.size_decomp()),
            _ => None,
        }
    }

    /// Goes to a byte of an input that has a [`Bytes::size`], before anything was taken from it.
    pub(super) fn seek(&mut self, input: &Input, offset: u64) -> Result<(), SourceError> {
        self.try_seek(offset).map_err(|source| open_error(input, source))?;
        self.offset = offset;
        Ok(())
    }

    fn try_seek(&mut self, offset: u64) -> io::Result<()> {
        // The reader has another handle of the same open file: they share their place.
        match (&self.places, &mut self.file) {
            (Places::Bytes, Some((file, _))) => file.seek(SeekFrom::Start(offset)).map(drop),
            (Places::Frames(table), Some((file, _))) if offset < table.size_decomp() => {
                let frame = table.frame_index_decomp(offset);
                let start = table.frame_start_comp(frame).map_err(io::Error::other)?;
                let before = table.frame_start_decomp(frame).map_err(io::Error::other)?;
                file.seek(SeekFrom::Start(start))?;
                self.reader = Box::new(zstd::Decoder::new(file.try_clone()?)?);
                let passed = &mut self.reader.by_ref().take(offset - before);
                io::copy(passed, &mut io::sink()).map(drop)
            }
            _ => {
                self.reader = Box::new(io::empty());
                Ok(())
            }
        }
    }

    /// The next units; `None` at the end. With [`Reach::AtMost`], none if the next one holds too many.
    pub(super) fn take(
        &mut self,
        input: &Input,
        reach: Reach,
    ) -> Result<Option<Taken>, SourceError> {
        loop {
            if self.cut.extend(input.format, &self.buffer, reach, self.at_end) {
                let is_end = self.buffer.is_empty() && self.at_end;
                return Ok((!is_end).then(|| self.split_off()));
            }
            self.read_more(self.missing(input, reach)).map_err(|source| SourceError::Read {
                input: input.name.clone(),
                offset: self.offset + self.buffer.len() as u64,
                source,
            })?;
        }
    }

    fn split_off(&mut self) -> Taken {
        let cut = self.cut;
        self.cut = cut.behind();
        let rest = self.buffer.split_off(cut.bytes);
        let bytes = std::mem::replace(&mut self.buffer, rest);
        self.offset += bytes.len() as u64;
        Taken { bytes, records: cut.records, ends_mid_unit: cut.ends_mid_unit }
    }

    /// How many bytes to read before the next look at them: those of a block where all records have the
    /// same size, so that nothing is left over and copied.
    fn missing(&self, input: &Input, reach: Reach) -> usize {
        let (Reach::AtLeast(wanted) | Reach::AtMost(wanted)) = reach;
        let Some(len) = input.format.record_len() else {
            return self.buffer.len().clamp(*CHUNK_BYTES.start(), *CHUNK_BYTES.end());
        };
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

    /// What the file was when it was opened, if it is one.
    pub(super) fn opened(&self) -> Option<&Metadata> {
        self.file.as_ref().map(|(_, opened)| opened)
    }

    /// Size and time of modification of a file are those of the moment it was opened.
    pub(super) fn still_as_opened(&self, input: &Input) -> Result<(), SourceError> {
        let Some((file, opened)) = &self.file else { return Ok(()) };
        let now = file.metadata().map_err(|source| open_error(input, source))?;
        let is_same = now.len() == opened.len() && now.modified().ok() == opened.modified().ok();
        if is_same { Ok(()) } else { Err(SourceError::Changed { input: input.name.clone() }) }
    }
}

/// The table of frames at the end of a file, if it speaks of all of the file: of files that were joined
/// it knows the last one only.
fn frames(mut file: &File, opened: &Metadata) -> io::Result<Places> {
    let table = SeekTable::from_seekable(&mut file);
    file.rewind()?;
    let Ok(table) = table else { return Ok(Places::Start) };
    let own_size = table.clone().into_serializer().encoded_len() as u64;
    let is_whole = table.num_frames() > 0 && table.size_comp() + own_size == opened.len();
    Ok(if is_whole { Places::Frames(Box::new(table)) } else { Places::Start })
}

fn open_error(input: &Input, source: io::Error) -> SourceError {
    SourceError::Open { input: input.name.clone(), source }
}
