//! The files of a loader, divided into segments with random access.

use std::collections::HashSet;
use std::env::temp_dir;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use kyokumen::format::move16::Dialect;
use kyokumen::format::{Chunks, DecodeError, Decoder, Format, RecordRef};
use kyokumen::records::archive::Archive;
use kyokumen::records::format_name::FormatName;
use kyokumen::records::opening;
use kyokumen::records::source::{Input, InputLocation, InputRange, Source};
use kyokumen::storage::compression::Compression;
use kyokumen::storage::read_exact_at;
use serde::Deserialize;

use crate::failure::{self, Failure};

/// All files, with their segments numbered consecutively.
pub(super) struct DataSet {
    files: Vec<DataFile>,
    segment: u64,
    /// Numbers of the records to leave out, counted over all files.
    excluded: HashSet<u64>,
}

pub(super) struct DataFile {
    pub(super) input: Input,
    first_segment: u64,
    first_number: u64,
    records: u64,
    content: FileAccess,
}

enum FileAccess {
    /// Fixed-size records, in segments of equal length.
    Even(Archive),
    /// Games, lines or decompressed records, in segments of whole chunks with approximately equal numbers of records.
    Indexed(File, Vec<IndexedSegment>),
}

#[derive(Clone, Debug)]
pub(super) struct Opening {
    pub(super) from: Option<FormatName>,
    pub(super) dialect: Option<Dialect>,
    /// Records per segment.
    pub(super) segment: u64,
    /// Whether compressed files are decompressed into temporary files. Otherwise they must have random access.
    pub(super) spool: bool,
    pub(super) tmp_dir: Option<PathBuf>,
}

pub(super) struct SegmentBytes {
    pub(super) file: usize,
    /// Number of the first record in its file.
    pub(super) first: u64,
    pub(super) records: u32,
    pub(super) bytes: Vec<u8>,
}

impl DataSet {
    pub(super) fn open(
        paths: &[PathBuf],
        opening: &Opening,
        exclude: &[PathBuf],
        cancel: &AtomicBool,
    ) -> Result<Self, Failure> {
        let segment = opening.segment;
        let mut files: Vec<DataFile> = Vec::new();
        let (mut first_segment, mut first_number) = (0, 0);
        for path in paths {
            let file = DataFile::open(path, opening, first_segment, first_number, cancel)?;
            first_segment += file.segments(segment);
            first_number += file.records;
            files.push(file);
        }
        if first_number == 0 {
            return Err(Failure::usage("the files contain no records"));
        }
        let mut data = Self { files, segment, excluded: HashSet::new() };
        for path in exclude {
            data.exclude(path)?;
        }
        Ok(data)
    }

    /// Excludes the records that the list of a filter run names.
    fn exclude(&mut self, list: &Path) -> Result<(), Failure> {
        #[derive(Deserialize)]
        struct Mated {
            file: String,
            index: u64,
        }
        let wrong = |reason: &dyn ToString| {
            Failure::usage(format!("{}: {}", list.display(), reason.to_string()))
        };
        let name = list.display().to_string();
        let text = std::fs::read_to_string(list);
        let text = text.map_err(|error| Failure::unreadable(&name, 0, &error))?;
        let mut excluded = 0;
        for line in text.lines().filter(|line| !line.is_empty()) {
            let mated: Mated = serde_json::from_str(line).map_err(|error| wrong(&error))?;
            let name = Path::new(&mated.file).file_name();
            let is_listed = |file: &&DataFile| {
                file.input.name == mated.file || Path::new(&file.input.name).file_name() == name
            };
            let Some(file) = self.files.iter().find(is_listed) else { continue };
            self.excluded.insert(file.first_number + mated.index);
            excluded += 1;
        }
        if excluded == 0 && !text.is_empty() {
            return Err(wrong(&"it names none of the files to read"));
        }
        Ok(())
    }

    pub(super) fn inputs(&self) -> impl Iterator<Item = &Input> {
        self.files.iter().map(|file| &file.input)
    }

    /// The format of the first file.
    pub(super) fn format(&self) -> Format {
        self.files[0].input.format
    }

    pub(super) const fn segment(&self) -> u64 {
        self.segment
    }

    pub(super) fn segments(&self) -> u64 {
        self.files.last().map_or(0, |file| file.first_segment + file.segments(self.segment))
    }

    pub(super) fn records(&self) -> u64 {
        self.files.iter().map(|file| file.records).sum()
    }

    /// Number of records that are missing from segments of less than the full length.
    pub(super) fn missing_of_segments(&self) -> u64 {
        (self.segments() * self.segment).saturating_sub(self.records())
    }

    /// Whether records are excluded, or a file may contain comments or records that are not for training.
    pub(super) fn may_leave_out(&self) -> bool {
        let has_variable_length = |file: &DataFile| file.input.format.record_len().is_none();
        !self.excluded.is_empty() || self.files.iter().any(has_variable_length)
    }

    pub(super) fn is_excluded(&self, number: u64) -> bool {
        !self.excluded.is_empty() && self.excluded.contains(&number)
    }

    pub(super) fn file(&self, number: usize) -> &DataFile {
        &self.files[number]
    }

    /// The names of the files without their folders, and their numbers of records.
    pub(super) fn names_and_lengths(&self) -> Vec<(String, u64)> {
        let file = |file: &DataFile| {
            let name = Path::new(&file.input.name).file_name().unwrap_or_default();
            (name.display().to_string(), file.records)
        };
        self.files.iter().map(file).collect()
    }

    /// Number of excluded records.
    pub(super) fn excluded(&self) -> usize {
        self.excluded.len()
    }

    /// Reads a segment. `segment` is its number over all files.
    pub(super) fn read(&self, segment: u64) -> Result<SegmentBytes, Failure> {
        let file = self.files.partition_point(|file| file.first_segment <= segment) - 1;
        let data_file = &self.files[file];
        let place = segment - data_file.first_segment;
        match &data_file.content {
            FileAccess::Even(archive) => {
                let first = place * self.segment;
                let to = (first + self.segment).min(data_file.records);
                let bytes = archive.slice(first..to)?.into_owned();
                Ok(SegmentBytes { file, first, records: (to - first) as u32, bytes })
            }
            FileAccess::Indexed(reading, segments) => {
                let IndexedSegment { offset, bytes, first, records } = segments[place as usize];
                let mut read = vec![0; bytes];
                // Does not move the file position, which forked processes share.
                read_exact_at(reading, &mut read, offset)
                    .map_err(|error| Failure::unreadable(&data_file.input.name, offset, &error))?;
                Ok(SegmentBytes { file, first, records, bytes: read })
            }
        }
    }
}

impl DataFile {
    fn open(
        path: &Path,
        opening: &Opening,
        first_segment: u64,
        first_number: u64,
        cancel: &AtomicBool,
    ) -> Result<Self, Failure> {
        let input = opening::input(path, opening.from, opening.dialect)?;
        let is_even = input.format.record_len().is_some();
        let is_plain = is_plain(&input);
        if is_even && (is_plain || !opening.spool) {
            let archive = Archive::from_input(&input)?;
            archive.expect_random_access();
            let (records, is_cut_off) = (archive.len(), archive.is_cut_off());
            let content = FileAccess::Even(archive);
            return Self { input, first_segment, first_number, records, content }
                .check_end(is_cut_off);
        }
        if !is_plain && !opening.spool {
            return Err(Failure::usage(format!(
                "{} has no random access: set spool=True to decompress it into a temporary file",
                input.name
            )));
        }
        let (file, segments) = match &input.location {
            InputLocation::File(place) if is_plain => {
                let file = File::open(place)
                    .map_err(|error| Failure::unreadable(&input.name, 0, &error))?;
                (file, build_index(&input, opening.segment, cancel, |_| Ok(()))?)
            }
            _ => spool(&input, opening, cancel)?,
        };
        let records = segments.iter().map(|segment| u64::from(segment.records)).sum();
        let is_cut_off = input
            .format
            .record_len()
            .is_some_and(|len| segments.last().is_some_and(|last| !last.bytes.is_multiple_of(len)));
        let content = FileAccess::Indexed(file, segments);
        Self { input, first_segment, first_number, records, content }.check_end(is_cut_off)
    }

    /// Fails if the file ends inside a record.
    fn check_end(self, is_cut_off: bool) -> Result<Self, Failure> {
        if is_cut_off {
            let whole = self.records - 1;
            return Err(self.bad(whole, &failure::cut_off(whole)));
        }
        Ok(self)
    }

    fn segments(&self, segment: u64) -> u64 {
        match &self.content {
            FileAccess::Even(_) => self.records.div_ceil(segment),
            FileAccess::Indexed(_, segments) => segments.len() as u64,
        }
    }

    /// Number of a record over all files.
    pub(super) const fn number(&self, index: u64) -> u64 {
        self.first_number + index
    }

    /// None if records vary in length.
    pub(super) const fn record_len(&self) -> Option<usize> {
        self.input.format.record_len()
    }

    /// The error for a record that cannot be used.
    pub(super) fn bad(&self, index: u64, reason: &dyn ToString) -> Failure {
        let byte = self.record_len().map_or(0, |len| index * len as u64);
        Failure::bad_record(Some(&self.input.name), index, byte, reason)
    }

    /// Decodes the records of `bytes`, which must be whole chunks. `first` is the number of the first record.
    pub(super) fn decode<'a>(
        &self,
        bytes: &'a [u8],
        first: u64,
    ) -> impl Iterator<Item = Result<RecordRef<'a>, DecodeError>> {
        let chunks = Chunks::new(self.input.format, bytes, false);
        Decoder::of_chunks(chunks, self.input.dialect, first).map(|decoded| decoded.record)
    }
}

/// Whether the input is an uncompressed file.
fn is_plain(input: &Input) -> bool {
    matches!(input.location, InputLocation::File(_)) && input.compression == Compression::None
}

/// Writes the decompressed bytes of an input into an unnamed temporary file, which the system removes with the process.
fn spool(
    input: &Input,
    opening: &Opening,
    cancel: &AtomicBool,
) -> Result<(File, Vec<IndexedSegment>), Failure> {
    let folder = opening.tmp_dir.clone().unwrap_or_else(temp_dir);
    let failed = |error: &io::Error| {
        Failure::unwritable(format!(
            "cannot write a temporary file in {}: {error}; set tmp_dir to the folder for decompressed files, or use \
             uncompressed files",
            folder.display()
        ))
    };
    let file = tempfile::tempfile_in(&folder).map_err(|error| failed(&error))?;
    let mut file = BufWriter::with_capacity(1 << 20, file);
    let take = |bytes: &[u8]| file.write_all(bytes).map_err(|error| failed(&error));
    let segments = build_index(input, opening.segment, cancel, take)?;
    Ok((file.into_inner().map_err(|error| failed(error.error()))?, segments))
}

/// A segment of consecutive whole chunks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct IndexedSegment {
    /// Offset in the uncompressed file.
    offset: u64,
    bytes: usize,
    /// Number of the first record.
    first: u64,
    records: u32,
}

/// Reads a file to its end, finds its segments and passes its decompressed bytes to `take`. The result is incomplete if
/// cancelled.
fn build_index(
    input: &Input,
    segment: u64,
    cancel: &AtomicBool,
    mut take: impl FnMut(&[u8]) -> Result<(), Failure>,
) -> Result<Vec<IndexedSegment>, Failure> {
    const BLOCK_RECORDS: u64 = 1 << 14;
    let source = Source::new(vec![InputRange::whole(input.clone())], BLOCK_RECORDS);
    let mut segments: Vec<IndexedSegment> = Vec::new();
    let mut next_record = 0;
    for block in source {
        let block = block?;
        if cancel.load(Ordering::Relaxed) {
            break;
        }
        take(block.bytes())?;
        for chunk in block.chunks() {
            let records = chunk.count(input.format);
            let offset = block.offset + chunk.offset;
            let unfinished = segments.last_mut().filter(|last| {
                u64::from(last.records) < segment && last.offset + last.bytes as u64 == offset
            });
            if let Some(last) = unfinished {
                last.bytes += chunk.bytes.len();
                last.records += records as u32;
            } else {
                let (first, bytes) = (next_record, chunk.bytes.len());
                segments.push(IndexedSegment { offset, bytes, first, records: records as u32 });
            }
            next_record += records;
        }
    }
    Ok(segments)
}
