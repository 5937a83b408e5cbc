//! Where records go: files that have their final name only when they are whole and on disk.
//!
//! The order of steps (partial file, fsync, rename, fsync of the folder) is that of any database that
//! survives a crash; compressed files follow RFC 8878 (Zstandard), which lets frames stand in a row.

mod ahead;

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;
use zeekstd::SeekTable;

use super::checksum::Checksum;
use super::parquet;
use super::platform;
use super::source::Compression;
use super::stream::{Batch, Stream};
use ahead::Ahead;

/// Records in one zstd frame or Parquet row group: a fixed number, so that a file continued later is the
/// same file.
pub const FRAME_RECORDS: u64 = 1 << 16;
/// Bytes after which a frame or group of long records ends before that. All of it is kept in memory.
const FRAME_BYTES: usize = 1 << 25;

const ZSTD_LEVEL: i32 = 3;

/// Buffer of one output, in bytes.
const BUFFER_BYTES: usize = 1 << 16;

/// Where one output is to be, and how it is written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutputPlan {
    /// What it holds.
    pub stream: Stream,
    /// Its final name; `-` is standard output.
    pub path: PathBuf,
    /// How it is compressed.
    pub compression: Compression,
    /// What stands before the first record.
    pub header: &'static [u8],
    /// Whether it is written straight through: standard output, a pipe, a device. Nothing that was
    /// written there can be taken back.
    pub is_stream: bool,
}

/// A finished output.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Written {
    /// What it holds.
    pub stream: Stream,
    /// Its final name.
    pub path: PathBuf,
    /// Records or lines in it.
    pub records: u64,
    /// Its size.
    pub bytes: u64,
    /// SHA-256 of the file as it is on disk, if it was asked for.
    pub sha256: Option<[u8; 32]>,
}

/// Why an output could not be written.
#[derive(Debug, Error)]
pub enum SinkError {
    /// Another process is writing it.
    #[error("{} is being written by another process", path.display())]
    Busy {
        /// The partial file.
        path: PathBuf,
    },
    /// The system refused.
    #[error("cannot {verb} {}", path.display())]
    Io {
        /// What was tried.
        verb: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// The outputs of a run while they have no final names. Dropped before [`Finished::commit`], they vanish.
#[derive(Debug)]
pub struct Sinks {
    outputs: Vec<Output>,
}

impl Sinks {
    /// Opens the partial file of every output.
    ///
    /// # Errors
    /// [`SinkError`] if one cannot be created or is being written by another process.
    pub fn create(plans: &[OutputPlan]) -> Result<Self, SinkError> {
        Self::create_with(plans, false)
    }

    /// [`Sinks::create`] with checksums of the files.
    ///
    /// # Errors
    /// As [`Sinks::create`].
    pub fn create_with(plans: &[OutputPlan], checksums: bool) -> Result<Self, SinkError> {
        let create = |plan| Output::create(plan, checksums);
        Ok(Self { outputs: plans.iter().map(create).collect::<Result<_, _>>()? })
    }

    /// Appends the records of a block to their stream.
    ///
    /// # Errors
    /// [`SinkError::Io`], a full disk for instance.
    pub fn write(&mut self, stream: Stream, batch: &Batch) -> Result<(), SinkError> {
        match self.outputs.iter_mut().find(|output| output.plan.stream == stream) {
            Some(output) => output.write(batch),
            None => Ok(()),
        }
    }

    /// Records written to each output so far.
    pub fn records(&self) -> impl Iterator<Item = (Stream, u64)> {
        self.outputs.iter().map(|output| (output.plan.stream, output.records))
    }

    /// Brings every output to disk, without giving it its name.
    ///
    /// # Errors
    /// [`SinkError::Io`], a full disk for instance.
    pub fn finish(self) -> Result<Finished, SinkError> {
        let files = self.outputs.into_iter().map(Output::finish).collect::<Result<_, _>>()?;
        Ok(Finished { files })
    }
}

/// Outputs that are whole and on disk, under their partial names. Dropped, they vanish.
#[derive(Debug)]
pub struct Finished {
    files: Vec<(Option<Partial>, Written)>,
}

impl Finished {
    /// What was written.
    pub fn written(&self) -> impl Iterator<Item = &Written> {
        self.files.iter().map(|(_, written)| written)
    }

    /// Gives the outputs their final names.
    ///
    /// # Errors
    /// [`SinkError::Io`] if a file cannot be renamed or a folder not be synchronised.
    pub fn commit(self) -> Result<(), SinkError> {
        let mut folders = Vec::new();
        for partial in self.files.into_iter().filter_map(|(partial, _)| partial) {
            folders.push(parent(&partial.final_path).to_owned());
            partial.commit()?;
        }
        folders.dedup();
        folders.iter().try_for_each(|folder| sync_folder(folder))
    }

    /// Gives the outputs their final names, then writes `manifest` as the last file: where it is, all are.
    ///
    /// # Errors
    /// [`SinkError::Io`] if a file cannot be renamed or a folder not be synchronised.
    pub fn commit_with(self, manifest_path: &Path, manifest: &[u8]) -> Result<(), SinkError> {
        let mut partial = Partial::create(manifest_path)?;
        let written = partial.file.write_all(manifest).and_then(|()| partial.file.sync_all());
        written.map_err(|source| partial.error("write", source))?;
        match std::fs::remove_file(manifest_path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                return Err(io_error("replace", manifest_path, source));
            }
            _ => {}
        }
        self.commit()?;
        partial.commit()?;
        sync_folder(parent(manifest_path))
    }
}

/// Name of an output while it is not whole.
pub fn partial_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".partial");
    PathBuf::from(name)
}

#[derive(Debug)]
struct Output {
    plan: OutputPlan,
    // Before `partial` in order of fields: its writer is dropped before the file is removed.
    encoder: Encoder,
    /// None of a stream.
    partial: Option<Partial>,
    records: u64,
    records_in_frame: u64,
    bytes_in_frame: usize,
}

impl Output {
    fn create(plan: &OutputPlan, with_checksum: bool) -> Result<Self, SinkError> {
        let partial = (!plan.is_stream).then(|| Partial::create(&plan.path)).transpose()?;
        let encoder = match &partial {
            Some(partial) => partial.writer(),
            None => open_stream(&plan.path),
        }
        .and_then(|writer| Encoder::new(Hashing::new(writer, with_checksum), plan.compression));
        let mut encoder = encoder.map_err(|source| io_error("open", &plan.path, source))?;
        let headed = encoder.write_all(plan.header);
        headed.map_err(|source| io_error("write", &plan.path, source))?;
        Ok(Self {
            plan: plan.clone(),
            encoder,
            partial,
            records: 0,
            records_in_frame: 0,
            bytes_in_frame: 0,
        })
    }

    fn write(&mut self, batch: &Batch) -> Result<(), SinkError> {
        self.try_write(batch).map_err(|source| io_error("write", &self.plan.path, source))
    }

    fn try_write(&mut self, batch: &Batch) -> io::Result<()> {
        if self.plan.compression == Compression::None {
            self.records += batch.len();
            return self.encoder.write_all(batch.bytes());
        }
        // A batch without records may have bytes: games without moves.
        if batch.is_empty() {
            return self.write_in_frame(batch.bytes(), 0);
        }
        let mut from = 0;
        while from < batch.len() {
            let to = batch.len().min(from + FRAME_RECORDS - self.records_in_frame % FRAME_RECORDS);
            self.write_in_frame(batch.bytes_of(from, to), to - from)?;
            from = to;
        }
        Ok(())
    }

    /// Writes bytes of so many records, for which the frame or the next one has room.
    fn write_in_frame(&mut self, bytes: &[u8], records: u64) -> io::Result<()> {
        if self.records_in_frame == FRAME_RECORDS || self.bytes_in_frame >= FRAME_BYTES {
            self.encoder.next_frame()?;
            (self.records_in_frame, self.bytes_in_frame) = (0, 0);
        }
        self.encoder.write_all(bytes)?;
        self.bytes_in_frame += bytes.len();
        self.records_in_frame += records;
        self.records += records;
        Ok(())
    }

    fn finish(self) -> Result<(Option<Partial>, Written), SinkError> {
        let Self { plan, encoder, partial, records, .. } = self;
        let finished = encoder.finish().and_then(|finished| {
            partial.as_ref().map_or(Ok(()), |partial| partial.file.sync_all())?;
            Ok(finished)
        });
        let (bytes, sha256) = finished.map_err(|source| io_error("write", &plan.path, source))?;
        let written = Written { stream: plan.stream, path: plan.path, records, bytes, sha256 };
        Ok((partial, written))
    }
}

type Writer = Box<dyn Write + Send>;

fn open_stream(path: &Path) -> io::Result<Writer> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdout()));
    }
    Ok(Box::new(OpenOptions::new().write(true).open(path)?))
}

/// A locked file under a partial name; removed when dropped unless committed.
#[derive(Debug)]
struct Partial {
    file: File,
    path: PathBuf,
    final_path: PathBuf,
    is_committed: bool,
}

impl Partial {
    fn create(final_path: &Path) -> Result<Self, SinkError> {
        let path = partial_path(final_path);
        let cannot_create = |source| io_error("create", &path, source);
        // What another run left behind is emptied only when the lock shows that the run is over.
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(cannot_create)?;
        match file.try_lock() {
            Err(std::fs::TryLockError::WouldBlock) => return Err(SinkError::Busy { path }),
            // Some network file systems know no locks; the names of a run are its own there.
            Err(std::fs::TryLockError::Error(_)) | Ok(()) => {}
        }
        if !path.exists() {
            // Renamed or removed by its owner between our opening and our locking.
            return Err(SinkError::Busy { path });
        }
        file.set_len(0).map_err(cannot_create)?;
        Ok(Self { file, path, final_path: final_path.to_owned(), is_committed: false })
    }

    fn writer(&self) -> io::Result<Writer> {
        Ok(Box::new(Ahead::new(self.file.try_clone()?)))
    }

    fn commit(mut self) -> Result<(), SinkError> {
        platform::rename(&self.path, &self.final_path)
            .map_err(|source| self.error("rename", source))?;
        self.is_committed = true;
        Ok(())
    }

    fn error(&self, verb: &'static str, source: io::Error) -> SinkError {
        io_error(verb, &self.path, source)
    }
}

fn io_error(verb: &'static str, path: &Path, source: io::Error) -> SinkError {
    SinkError::Io { verb, path: path.to_owned(), source }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if !self.is_committed
            && let Err(error) = std::fs::remove_file(&self.path)
        {
            tracing::warn!("cannot remove {}: {error}", self.path.display());
        }
    }
}

/// Passes records on as they are, as zstd frames with a table of them at the end, or as columns.
enum Encoder {
    Plain(io::BufWriter<Hashing>),
    Zstd(Box<Frames>),
    Parquet(Box<parquet::Table<Hashing>>),
}

/// Frames of the seekable format, which any zstd decoder reads: <https://github.com/facebook/zstd>,
/// `contrib/seekable_format`.
struct Frames {
    output: Hashing,
    compressor: zstd::bulk::Compressor<'static>,
    /// What is to be in the frame that is open, and the frame when it is closed.
    open: Vec<u8>,
    closed: Vec<u8>,
    table: SeekTable,
}

impl std::fmt::Debug for Encoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Plain(_) => "Plain",
            Self::Zstd(_) => "Zstd",
            Self::Parquet(_) => "Parquet",
        })
    }
}

impl Encoder {
    fn new(output: Hashing, compression: Compression) -> io::Result<Self> {
        Ok(match compression {
            Compression::None => Self::Plain(io::BufWriter::with_capacity(BUFFER_BYTES, output)),
            Compression::Zstd => Self::Zstd(Box::new(Frames::new(output)?)),
            Compression::Parquet => Self::Parquet(Box::new(parquet::Table::new(output)?)),
            Compression::Gzip => return Err(io::ErrorKind::Unsupported.into()),
        })
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(writer) => writer.write_all(bytes),
            Self::Zstd(frames) => {
                frames.open.extend_from_slice(bytes);
                Ok(())
            }
            Self::Parquet(table) => table.take(bytes),
        }
    }

    fn next_frame(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(_) => Ok(()),
            Self::Zstd(frames) => frames.close(),
            Self::Parquet(table) => table.close_group(),
        }
    }

    /// Size of the file, and its SHA-256 if that was asked for.
    fn finish(self) -> io::Result<(u64, Option<[u8; 32]>)> {
        let mut output = match self {
            Self::Plain(writer) => writer.into_inner().map_err(io::IntoInnerError::into_error)?,
            Self::Zstd(frames) => frames.finish()?,
            Self::Parquet(table) => table.finish()?,
        };
        output.flush()?;
        let Hashing { bytes, checksum, .. } = output;
        Ok((bytes, checksum.finish()))
    }
}

impl Frames {
    fn new(output: Hashing) -> io::Result<Self> {
        let mut compressor = zstd::bulk::Compressor::new(ZSTD_LEVEL)?;
        compressor.include_checksum(true)?;
        let (open, closed, table) = (Vec::new(), Vec::new(), SeekTable::new());
        Ok(Self { output, compressor, open, closed, table })
    }

    /// Writes the frame that is open.
    fn close(&mut self) -> io::Result<()> {
        self.closed.clear();
        self.closed.reserve(zstd::zstd_safe::compress_bound(self.open.len()));
        self.compressor.compress_to_buffer(&self.open, &mut self.closed)?;
        let size = |bytes: &Vec<u8>| u32::try_from(bytes.len()).map_err(io::Error::other);
        let sizes = (size(&self.closed)?, size(&self.open)?);
        self.table.log_frame(sizes.0, sizes.1).map_err(io::Error::other)?;
        self.open.clear();
        self.output.write_all(&self.closed)
    }

    /// Writes the last frame and the table. A file without records is one empty frame.
    fn finish(mut self) -> io::Result<Hashing> {
        if !self.open.is_empty() || self.table.num_frames() == 0 {
            self.close()?;
        }
        io::copy(&mut self.table.into_serializer(), &mut self.output)?;
        Ok(self.output)
    }
}

/// Passes bytes on, and knows their number and checksum.
struct Hashing {
    writer: Writer,
    bytes: u64,
    checksum: Checksum,
}

impl Hashing {
    fn new(writer: Writer, with_checksum: bool) -> Self {
        Self { writer, bytes: 0, checksum: Checksum::new(with_checksum) }
    }
}

impl Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.writer.write(bytes)?;
        self.checksum.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

fn sync_folder(folder: &Path) -> Result<(), SinkError> {
    platform::sync_folder(folder).map_err(|source| io_error("synchronise", folder, source))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames of the file that comes of so many records of this size.
    fn frames(records: usize, bytes: usize) -> u32 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file.zst");
        let plan = OutputPlan {
            stream: Stream::Kept,
            path: path.clone(),
            compression: Compression::Zstd,
            header: b"",
            is_stream: false,
        };
        let mut sinks = Sinks::create(&[plan]).unwrap();
        let mut batch = Batch::default();
        (0..records).for_each(|_| batch.push(&vec![7; bytes]));
        sinks.write(Stream::Kept, &batch).unwrap();
        sinks.write(Stream::Kept, &batch).unwrap();
        sinks.finish().unwrap().commit().unwrap();
        let content = zstd::decode_all(File::open(&path).unwrap()).unwrap();
        assert_eq!(content.len(), 2 * records * bytes);
        SeekTable::from_seekable(&mut File::open(&path).unwrap()).unwrap().num_frames()
    }

    #[test]
    fn frames_end_by_records_or_by_bytes() {
        let whole = FRAME_RECORDS as usize;
        assert_eq!([frames(whole / 2, 1), frames(whole / 2 + 1, 1)], [1, 2]);
        assert_eq!([frames(1, FRAME_BYTES - 1), frames(1, FRAME_BYTES)], [1, 2]);
    }
}
