//! One output of a run. Compressed outputs are divided into frames with a limited number of records and bytes.
//!
//! Rows of a columnar file are collected in a temporary file next to the output, and the table is built from them at
//! the end. So a run can be resumed between any two rows, and the same rows always give the same file.

use std::io::{self, BufReader, Read, Seek, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::encoder::{self, BoxedWriter, Encoder, HashingWriter};
use super::partial::{Partial, partial_path};
use super::target::Target;
use super::{OutputPlan, WrittenOutput};
use crate::error::Error;
use crate::records::output_kind::{EncodedRecords, OutputKind};
use crate::storage::checksum::{RunningChecksum, Sha256Sum};
use crate::storage::compression::{Compression, FRAME_BYTES, FRAME_RECORDS};
use crate::storage::platform::{self, Standard};
use crate::storage::retry_interrupted::RetryInterrupted;
use crate::storage::seek_table::FrameSizes;
use crate::storage::table::packed_row::Rows;
use crate::storage::table::{DeferredTable, TableWriter};

/// The state of an output, from which another process can resume it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OutputState {
    /// Kind of output.
    #[serde(rename = "stream")]
    pub kind: OutputKind,
    /// Records or lines written, including those in the open frame.
    pub records: u64,
    /// Bytes in the file.
    pub bytes: u64,
    /// SHA-256 of these bytes, if requested.
    pub sha256: Option<Sha256Sum>,
    /// Compressed and uncompressed sizes of the zstd frames in the file.
    pub frames: Vec<FrameSizes>,
    /// Records in the open frame.
    pub records_in_frame: u64,
    /// Uncompressed bytes of the open frame. They are not in the file yet.
    #[serde(skip)]
    pub open_frame: Vec<u8>,
}

#[derive(Debug)]
pub(super) struct Output {
    pub(super) plan: OutputPlan,
    // Declared before `target`, so that its writer is dropped before the file is removed.
    encoder: Encoder,
    /// `None` for a pipe.
    target: Option<Target>,
    with_checksum: bool,
    pub(super) records: u64,
    /// Groups of records that this process has written.
    groups: u64,
    records_in_frame: u64,
    bytes_in_frame: usize,
    /// Whether anything was written after the header.
    is_begun: bool,
}

/// A complete output on disk.
#[derive(Debug)]
pub(super) struct FinishedOutput {
    /// `None` for a pipe.
    pub(super) target: Option<Target>,
    /// The rows of a deferred table.
    pub(super) rows: Option<Partial>,
    pub(super) written: WrittenOutput,
}

impl Output {
    pub(super) fn create(plan: &OutputPlan, with_checksum: bool) -> Result<Self, Error> {
        let target = (!plan.is_pipe).then(|| Target::create(&plan.written_path())).transpose()?;
        let encoder = match &target {
            Some(target) => target.writer(),
            None => open_sequential(&plan.path),
        }
        .and_then(|writer| {
            Encoder::new(HashingWriter::new(writer, with_checksum), plan.compression)
        });
        let mut encoder = encoder.map_err(|source| Error::io("open", &plan.path, source))?;
        let headed = encoder.write_all(plan.header);
        headed.map_err(|source| Error::io("write", &plan.path, source))?;
        Ok(Self {
            plan: plan.clone(),
            encoder,
            target,
            with_checksum,
            records: 0,
            groups: 0,
            records_in_frame: 0,
            bytes_in_frame: plan.header.len(),
            is_begun: false,
        })
    }

    /// Resumes the output of an interrupted run. Bytes after `state` are cut off.
    pub(super) fn resume(plan: &OutputPlan, state: OutputState) -> Result<Self, Error> {
        let path = plan.written_path();
        let partial = Partial::reopen(&path).map_err(|error| {
            if error.is_not_found() {
                Error::partial_output_missing(partial_path(&path))
            } else {
                error
            }
        })?;
        let failed = |source| partial.error("read", source);
        let (bytes, checksum) = checksum_of(&partial, state.bytes).map_err(failed)?;
        let sha256 = checksum.sum();
        if bytes != state.bytes || sha256 != state.sha256 {
            return Err(Error::partial_output_changed(partial.path()));
        }
        // The file position is after the last byte read, where the writer continues.
        let encoder = partial.file.set_len(bytes).and_then(|()| partial.writer());
        let bytes_in_frame = state.open_frame.len();
        let is_begun = bytes > 0 || bytes_in_frame > 0;
        let encoder = encoder.and_then(|writer| {
            let output = HashingWriter::resume(writer, bytes, checksum);
            Encoder::resume(output, plan.compression, &state.frames, state.open_frame)
        });
        Ok(Self {
            plan: plan.clone(),
            encoder: encoder.map_err(|source| partial.error("write", source))?,
            target: Some(Target::File(partial)),
            with_checksum: sha256.is_some(),
            records: state.records,
            groups: 0,
            records_in_frame: state.records_in_frame,
            bytes_in_frame,
            is_begun,
        })
    }

    pub(super) fn write(&mut self, encoded: &EncodedRecords) -> Result<(), Error> {
        self.try_write(encoded).map_err(|source| Error::io("write", &self.plan.path, source))
    }

    fn try_write(&mut self, encoded: &EncodedRecords) -> io::Result<()> {
        self.groups += encoded.groups();
        if self.plan.compression == Compression::None {
            self.records += encoded.len();
            let bytes = self.separated(encoded.bytes());
            return self.encoder.write_all(bytes);
        }
        let mut from = 0;
        while from < encoded.len() {
            let records = FRAME_RECORDS.saturating_sub(self.records_in_frame);
            let bytes = FRAME_BYTES.saturating_sub(self.bytes_in_frame);
            let to = encoded.end_of_frame(from, records, bytes);
            self.write_in_frame(encoded.bytes_of(from, to), to - from)?;
            if self.records_in_frame >= FRAME_RECORDS || self.bytes_in_frame >= FRAME_BYTES {
                self.encoder.next_frame()?;
                (self.records_in_frame, self.bytes_in_frame) = (0, 0);
            }
            from = to;
        }
        // After the last record there may be games without moves. Their bytes are written with the next record.
        self.write_in_frame(encoded.bytes_after_records(), 0)
    }

    /// Removes the separator if nothing precedes the bytes in the file.
    fn separated<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        if bytes.is_empty() || std::mem::replace(&mut self.is_begun, true) {
            return bytes;
        }
        bytes.strip_prefix(self.plan.separator).unwrap_or(bytes)
    }

    fn write_in_frame(&mut self, bytes: &[u8], records: u64) -> io::Result<()> {
        let bytes = self.separated(bytes);
        self.encoder.write_all(bytes)?;
        self.bytes_in_frame += bytes.len();
        self.records_in_frame += records;
        self.records += records;
        Ok(())
    }

    /// Flushes everything to disk and returns the state to resume from.
    pub(super) fn sync(&mut self) -> Result<OutputState, Error> {
        let flushed = self.encoder.flush().and_then(|flushed| {
            self.target.as_ref().map_or(Ok(()), Target::sync_data)?;
            Ok(flushed)
        });
        let encoder::EncoderState { bytes, sha256, frames, open } =
            flushed.map_err(|source| Error::io("write", &self.plan.path, source))?;
        Ok(OutputState {
            kind: self.plan.kind,
            records: self.records,
            bytes,
            sha256,
            frames,
            records_in_frame: self.records_in_frame,
            open_frame: open,
        })
    }

    /// Keeps the file if the run ends early.
    pub(super) const fn keep(&mut self) {
        if let Some(target) = &mut self.target {
            target.keep();
        }
    }

    /// Completes the output on disk. `wants_stop` is polled only while a table is built.
    pub(super) fn finish(
        self,
        wants_stop: &mut dyn FnMut() -> bool,
    ) -> Result<FinishedOutput, Error> {
        let Self { plan, encoder, target, with_checksum, records, groups, .. } = self;
        let failed = |source| Error::io("write", &plan.path, source);
        let (bytes, sha256) = encoder.finish().map_err(failed)?;
        let (target, rows, bytes, sha256) = match (plan.deferred_table, target) {
            (Some(deferred_table), Some(Target::File(rows))) => {
                let from = (&rows, records);
                let built = build_table(&plan, deferred_table, from, with_checksum, wants_stop)?;
                let BuiltTable { target, bytes, sha256 } = built;
                (Some(target), Some(rows), bytes, sha256)
            }
            (Some(_), _) => return Err(failed(io::ErrorKind::Unsupported.into())),
            (None, target) => {
                target.as_ref().map_or(Ok(()), Target::sync_all).map_err(failed)?;
                (target, None, bytes, sha256)
            }
        };
        let (kind, path) = (plan.kind, plan.path);
        let written = WrittenOutput { kind, path, records, groups, bytes, sha256 };
        Ok(FinishedOutput { target, rows, written })
    }
}

impl FinishedOutput {
    /// Keeps the files if they are never renamed.
    pub(super) fn keep(&mut self) {
        self.target.iter_mut().for_each(Target::keep);
        self.rows.iter_mut().for_each(Partial::keep);
    }
}

/// Number of rows between two calls of `wants_stop`.
const WATCH_EVERY_ROWS: u64 = 1 << 12;

struct BuiltTable {
    target: Target,
    bytes: u64,
    sha256: Option<Sha256Sum>,
}

/// Builds the table file of an output. `rows` is the file of rows with their expected number.
fn build_table(
    plan: &OutputPlan,
    deferred_table: DeferredTable,
    rows: (&Partial, u64),
    with_checksum: bool,
    wants_stop: &mut dyn FnMut() -> bool,
) -> Result<BuiltTable, Error> {
    let (partial, expected) = rows;
    let reading = |source| partial.error("read", source);
    let writing = |source| Error::io("write", &plan.path, source);
    let mut file = partial.file.try_clone().map_err(reading)?;
    file.rewind().map_err(reading)?;
    let mut rows = Rows::new(BufReader::new(file));
    let target = Target::create(&plan.path)?;
    let output = HashingWriter::new(target.writer().map_err(writing)?, with_checksum);
    let folder = platform::folder_of(&plan.path);
    let mut writer = TableWriter::new(deferred_table.format, deferred_table.table, output, folder)
        .map_err(writing)?;
    let mut built_rows = 0;
    while let Some(row) = rows.next_row().map_err(reading)? {
        writer.push(&row).map_err(writing)?;
        built_rows += 1;
        if built_rows % WATCH_EVERY_ROWS == 0 && wants_stop() {
            return Err(Error::interrupted());
        }
    }
    if built_rows != expected {
        return Err(Error::partial_output_changed(partial.path()));
    }
    let finished = writer.finish().and_then(|mut output| {
        output.flush()?;
        target.sync_all()?;
        Ok(output.written())
    });
    let (bytes, sha256) = finished.map_err(writing)?;
    Ok(BuiltTable { target, bytes, sha256 })
}

fn open_sequential(path: &Path) -> io::Result<BoxedWriter> {
    if is_standard_output(path) {
        return Ok(Box::new(io::stdout()));
    }
    Ok(Box::new(platform::open_sequential(path)?))
}

pub(crate) fn is_standard_output(path: &Path) -> bool {
    path == Path::new("-") || platform::is_pipe(path) && Standard::Output.is(path)
}

/// Number and checksum of at most the first `most` bytes of a file.
fn checksum_of(partial: &Partial, most: u64) -> io::Result<(u64, RunningChecksum)> {
    let (mut bytes, mut checksum) = (0, RunningChecksum::new(true));
    let mut left = RetryInterrupted(&partial.file).take(most);
    let mut buffer = vec![0; 1 << 20];
    loop {
        match left.read(&mut buffer)? {
            0 => return Ok((bytes, checksum)),
            read => {
                checksum.update(&buffer[..read]);
                bytes += read as u64;
            }
        }
    }
}
