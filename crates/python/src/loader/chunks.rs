//! The files of a training, as chunks that can be gone to.

use std::collections::HashSet;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use kyokumen::format::move16::Dialect;
use kyokumen::format::{DecodeError, Decoder, Format, RecordRef, Units};
use kyokumen::records::archive::Archive;
use kyokumen::records::format_name::FormatName;
use kyokumen::records::opening;
use kyokumen::records::source::{Input, InputLocation, Part};
use kyokumen::storage::compression::Compression;
use serde::Deserialize;

use crate::failure::Failure;
use crate::reading::Reading;

/// All files, with their chunks numbered one after another.
pub(super) struct DataSet {
    files: Vec<DataFile>,
    chunk: u64,
    /// Numbers over all files of records that are left out.
    excluded: HashSet<u64>,
}

pub(super) struct DataFile {
    pub(super) input: Input,
    first_chunk: u64,
    first_number: u64,
    records: u64,
    content: Content,
}

enum Content {
    /// Records of one size, so many of them a chunk.
    Even(Archive),
    /// Games, lines: whole units of about as many records.
    Units(Mutex<File>, Vec<UnitChunk>),
}

#[derive(Clone, Copy)]
struct UnitChunk {
    offset: u64,
    bytes: usize,
    first: u64,
    records: u32,
}

/// The bytes of a chunk, and which records they are.
pub(super) struct ChunkBytes {
    pub(super) file: usize,
    /// Number of the first record in its file.
    pub(super) first: u64,
    pub(super) records: u32,
    pub(super) bytes: Vec<u8>,
}

impl DataSet {
    pub(super) fn open(
        paths: &[PathBuf],
        from: Option<FormatName>,
        dialect: Option<Dialect>,
        chunk: u64,
        exclude: &[PathBuf],
    ) -> Result<Self, Failure> {
        let mut files: Vec<DataFile> = Vec::new();
        let (mut first_chunk, mut first_number) = (0, 0);
        for path in paths {
            let file = DataFile::open(path, from, dialect, chunk, first_chunk, first_number)?;
            first_chunk += file.chunks(chunk);
            first_number += file.records;
            files.push(file);
        }
        if first_number == 0 {
            return Err(Failure::usage("there is no record in these files"));
        }
        let mut data = Self { files, chunk, excluded: HashSet::new() };
        for path in exclude {
            data.exclude(path)?;
        }
        Ok(data)
    }

    /// Leaves out the records that a filter run lists as mated.
    fn exclude(&mut self, list: &Path) -> Result<(), Failure> {
        #[derive(Deserialize)]
        struct Mated {
            file: String,
            index: u64,
        }
        let wrong = |reason: &dyn ToString| {
            Failure::usage(format!("{}: {}", list.display(), reason.to_string()))
        };
        let text = std::fs::read_to_string(list).map_err(|error| wrong(&error))?;
        let mut found = 0;
        for line in text.lines().filter(|line| !line.is_empty()) {
            let mated: Mated = serde_json::from_str(line).map_err(|error| wrong(&error))?;
            let name = Path::new(&mated.file).file_name();
            let is_it = |file: &&DataFile| {
                file.input.name == mated.file || Path::new(&file.input.name).file_name() == name
            };
            let Some(file) = self.files.iter().find(is_it) else { continue };
            self.excluded.insert(file.first_number + mated.index);
            found += 1;
        }
        if found == 0 && !text.is_empty() {
            return Err(wrong(&"it speaks of none of the files that are read"));
        }
        Ok(())
    }

    pub(super) fn inputs(&self) -> impl Iterator<Item = &Input> {
        self.files.iter().map(|file| &file.input)
    }

    /// Of the first file.
    pub(super) fn format(&self) -> Format {
        self.files[0].input.format
    }

    pub(super) const fn chunk(&self) -> u64 {
        self.chunk
    }

    pub(super) fn chunks(&self) -> u64 {
        self.files.last().map_or(0, |file| file.first_chunk + file.chunks(self.chunk))
    }

    pub(super) fn records(&self) -> u64 {
        self.files.iter().map(|file| file.records).sum()
    }

    /// Records that the chunks have fewer than they would have if each was whole.
    pub(super) fn missing_of_chunks(&self) -> u64 {
        (self.chunks() * self.chunk).saturating_sub(self.records())
    }

    /// Whether formats hold records that are not to be trained on, or some were named.
    pub(super) fn leaves_out(&self) -> bool {
        let of_games = |file: &DataFile| file.input.format.record_len().is_none();
        !self.excluded.is_empty() || self.files.iter().any(of_games)
    }

    pub(super) fn is_excluded(&self, number: u64) -> bool {
        !self.excluded.is_empty() && self.excluded.contains(&number)
    }

    pub(super) fn file(&self, number: usize) -> &DataFile {
        &self.files[number]
    }

    pub(super) fn identity(&self) -> String {
        let file = |file: &DataFile| {
            let name = Path::new(&file.input.name).file_name().unwrap_or_default();
            format!("{}:{}", name.display(), file.records)
        };
        let files: Vec<_> = self.files.iter().map(file).collect();
        format!("{} excluded={}", files.join(","), self.excluded.len())
    }

    /// A chunk by its number over all files.
    pub(super) fn read(&self, chunk: u64) -> Result<ChunkBytes, Failure> {
        let file = self.files.partition_point(|file| file.first_chunk <= chunk) - 1;
        let found = &self.files[file];
        let place = chunk - found.first_chunk;
        match &found.content {
            Content::Even(archive) => {
                let first = place * self.chunk;
                let to = (first + self.chunk).min(found.records);
                let bytes = archive.slice(first..to)?.into_owned();
                Ok(ChunkBytes { file, first, records: (to - first) as u32, bytes })
            }
            Content::Units(reading, units) => {
                let UnitChunk { offset, bytes, first, records } = units[place as usize];
                let mut read = vec![0; bytes];
                let mut reading = reading.lock().unwrap_or_else(PoisonError::into_inner);
                let done = reading
                    .seek(SeekFrom::Start(offset))
                    .and_then(|_| reading.read_exact(&mut read));
                done.map_err(|error| Failure::unreadable(&found.input.name, offset, &error))?;
                Ok(ChunkBytes { file, first, records, bytes: read })
            }
        }
    }
}

impl DataFile {
    fn open(
        path: &Path,
        from: Option<FormatName>,
        dialect: Option<Dialect>,
        chunk: u64,
        first_chunk: u64,
        first_number: u64,
    ) -> Result<Self, Failure> {
        let input = opening::input(path, from, dialect)?;
        if input.format.record_len().is_some() {
            let archive = Archive::of_input(&input)?;
            archive.expect_random_access();
            if archive.is_cut_off() {
                let whole = archive.len() - 1;
                let reason =
                    format!("the last record is cut off; {whole} whole records stand before it");
                return Err(Failure::bad_record(
                    Some(&input.name),
                    whole,
                    archive.offset(whole),
                    &reason,
                ));
            }
            let records = archive.len();
            return Ok(Self {
                input,
                first_chunk,
                first_number,
                records,
                content: Content::Even(archive),
            });
        }
        let InputLocation::File(place) = &input.location else {
            return Err(Failure::usage(format!("{} is no file", input.name)));
        };
        if input.compression != Compression::None {
            return Err(Failure::usage(format!(
                "{} is compressed, and its games cannot be gone to: decompress it first",
                input.name
            )));
        }
        let file =
            File::open(place).map_err(|error| Failure::unreadable(&input.name, 0, &error))?;
        let units = units_of(&input, chunk)?;
        let records = units.iter().map(|unit| u64::from(unit.records)).sum();
        let content = Content::Units(Mutex::new(file), units);
        Ok(Self { input, first_chunk, first_number, records, content })
    }

    fn chunks(&self, chunk: u64) -> u64 {
        match &self.content {
            Content::Even(_) => self.records.div_ceil(chunk),
            Content::Units(_, units) => units.len() as u64,
        }
    }

    /// Number over all files of a record.
    pub(super) const fn number(&self, index: u64) -> u64 {
        self.first_number + index
    }

    /// Bytes of a record, where all have as many.
    pub(super) const fn record_len(&self) -> Option<usize> {
        self.input.format.record_len()
    }

    /// The records of some bytes that are whole units.
    pub(super) fn decode<'a>(
        &self,
        bytes: &'a [u8],
        first: u64,
    ) -> impl Iterator<Item = Result<RecordRef<'a>, DecodeError>> {
        let units = Units::new(self.input.format, bytes, false);
        Decoder::of_units(units, self.input.dialect, first).map(|decoded| decoded.record)
    }
}

/// Where the units of a file begin that have no one size, some of them together.
fn units_of(input: &Input, chunk: u64) -> Result<Vec<UnitChunk>, Failure> {
    let mut reading = Reading::new(Part::whole(input.clone()), 1 << 14);
    let mut chunks: Vec<UnitChunk> = Vec::new();
    let mut records_before = 0;
    while let Some(block) = reading.block() {
        let block = block?;
        for unit in block.units() {
            let records = unit.count(input.format);
            let offset = block.offset + unit.offset;
            let goes_on = chunks.last_mut().filter(|last| {
                u64::from(last.records) < chunk && last.offset + last.bytes as u64 == offset
            });
            if let Some(last) = goes_on {
                last.bytes += unit.bytes.len();
                last.records += records as u32;
            } else {
                let (first, bytes) = (records_before, unit.bytes.len());
                chunks.push(UnitChunk { offset, bytes, first, records: records as u32 });
            }
            records_before += records;
        }
    }
    Ok(chunks)
}
