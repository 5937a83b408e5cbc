//! Where records go: files that have their final name only when they are whole and on disk.
//!
//! The order of steps (partial file, fsync, rename, fsync of the folder) is that of any database that
//! survives a crash; compressed files follow RFC 8878 (Zstandard), which lets frames stand in a row.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use thiserror::Error;

use super::platform;
use super::stream::{Batch, Stream};

/// Records in one zstd frame: a fixed number, so that a file continued later is the same file.
pub const FRAME_RECORDS: u64 = 1 << 16;

const ZSTD_LEVEL: i32 = 3;

/// Buffer of one output, in bytes.
const BUFFER_BYTES: usize = 1 << 16;

/// Where one output is to be, and how it is written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutputPlan {
    /// What it holds.
    pub stream: Stream,
    /// Its final name.
    pub path: PathBuf,
    /// Whether it is written as zstd frames.
    pub is_zstd: bool,
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
    /// SHA-256 of the file as it is on disk.
    pub sha256: [u8; 32],
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
        let outputs = plans.iter().map(Output::create).collect::<Result<_, _>>()?;
        Ok(Self { outputs })
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
    files: Vec<(Partial, Written)>,
}

impl Finished {
    /// What was written.
    pub fn written(&self) -> impl Iterator<Item = &Written> {
        self.files.iter().map(|(_, written)| written)
    }

    /// Gives the outputs their final names, then writes `manifest` as the last file: where it is, all are.
    ///
    /// # Errors
    /// [`SinkError::Io`] if a file cannot be renamed or a folder not be synchronised.
    pub fn commit(self, manifest_path: &Path, manifest: &[u8]) -> Result<(), SinkError> {
        let mut partial = Partial::create(manifest_path)?;
        let written = partial.file.write_all(manifest).and_then(|()| partial.file.sync_all());
        written.map_err(|source| partial.error("write", source))?;
        match std::fs::remove_file(manifest_path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                let path = manifest_path.to_owned();
                return Err(SinkError::Io { verb: "replace", path, source });
            }
            _ => {}
        }
        for (partial, _) in self.files {
            partial.commit()?;
        }
        let folder = parent(manifest_path);
        sync_folder(folder)?;
        partial.commit()?;
        sync_folder(folder)
    }

    /// Gives the outputs their final names where no manifest is to come after them.
    ///
    /// # Errors
    /// [`SinkError::Io`] if a file cannot be renamed or a folder not be synchronised.
    pub fn commit_without_manifest(self) -> Result<(), SinkError> {
        for (partial, written) in self.files {
            partial.commit()?;
            sync_folder(parent(&written.path))?;
        }
        Ok(())
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
    partial: Partial,
    records: u64,
    records_in_frame: u64,
}

impl Output {
    fn create(plan: &OutputPlan) -> Result<Self, SinkError> {
        let partial = Partial::create(&plan.path)?;
        let encoder = partial
            .file
            .try_clone()
            .and_then(|file| Encoder::new(HashingFile::new(file), plan.is_zstd))
            .map_err(|source| partial.error("create", source))?;
        Ok(Self { plan: plan.clone(), encoder, partial, records: 0, records_in_frame: 0 })
    }

    fn write(&mut self, batch: &Batch) -> Result<(), SinkError> {
        self.try_write(batch).map_err(|source| self.partial.error("write", source))
    }

    fn try_write(&mut self, batch: &Batch) -> io::Result<()> {
        if !self.plan.is_zstd {
            self.records += batch.len();
            return self.encoder.write_all(batch.bytes_of(0, batch.len()));
        }
        let mut from = 0;
        while from < batch.len() {
            if self.records_in_frame == FRAME_RECORDS {
                self.encoder.next_frame()?;
                self.records_in_frame = 0;
            }
            let to = batch.len().min(from + FRAME_RECORDS - self.records_in_frame);
            self.encoder.write_all(batch.bytes_of(from, to))?;
            self.records_in_frame += to - from;
            self.records += to - from;
            from = to;
        }
        Ok(())
    }

    fn finish(self) -> Result<(Partial, Written), SinkError> {
        let Self { plan, encoder, partial, records, .. } = self;
        let (bytes, sha256) = encoder.finish().map_err(|source| partial.error("write", source))?;
        partial.file.sync_all().map_err(|source| partial.error("write", source))?;
        let written = Written { stream: plan.stream, path: plan.path, records, bytes, sha256 };
        Ok((partial, written))
    }
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
        let io_error = |source| SinkError::Io { verb: "create", path: path.clone(), source };
        // What another run left behind is emptied only when the lock shows that the run is over.
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(io_error)?;
        match file.try_lock() {
            Err(std::fs::TryLockError::WouldBlock) => return Err(SinkError::Busy { path }),
            // Some network file systems know no locks; the names of a run are its own there.
            Err(std::fs::TryLockError::Error(_)) | Ok(()) => {}
        }
        if !path.exists() {
            // Renamed or removed by its owner between our opening and our locking.
            return Err(SinkError::Busy { path });
        }
        file.set_len(0).map_err(io_error)?;
        Ok(Self { file, path, final_path: final_path.to_owned(), is_committed: false })
    }

    fn commit(mut self) -> Result<(), SinkError> {
        platform::rename(&self.path, &self.final_path)
            .map_err(|source| self.error("rename", source))?;
        self.is_committed = true;
        Ok(())
    }

    fn error(&self, verb: &'static str, source: io::Error) -> SinkError {
        SinkError::Io { verb, path: self.path.clone(), source }
    }
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

/// Passes records on as they are, or as zstd frames.
enum Encoder {
    Plain(io::BufWriter<HashingFile>),
    Zstd(Option<zstd::Encoder<'static, io::BufWriter<HashingFile>>>),
}

impl std::fmt::Debug for Encoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Plain(_) => "Plain",
            Self::Zstd(_) => "Zstd",
        })
    }
}

impl Encoder {
    fn new(file: HashingFile, is_zstd: bool) -> io::Result<Self> {
        let writer = io::BufWriter::with_capacity(BUFFER_BYTES, file);
        Ok(if is_zstd { Self::Zstd(Some(frame(writer)?)) } else { Self::Plain(writer) })
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(writer) => writer.write_all(bytes),
            Self::Zstd(encoder) => encoder.as_mut().ok_or_else(broken)?.write_all(bytes),
        }
    }

    fn next_frame(&mut self) -> io::Result<()> {
        if let Self::Zstd(encoder) = self {
            let writer = encoder.take().ok_or_else(broken)?.finish()?;
            *encoder = Some(frame(writer)?);
        }
        Ok(())
    }

    /// Size and SHA-256 of the file.
    fn finish(self) -> io::Result<(u64, [u8; 32])> {
        let writer = match self {
            Self::Plain(writer) => writer,
            Self::Zstd(encoder) => encoder.ok_or_else(broken)?.finish()?,
        };
        let HashingFile { bytes, digest, .. } =
            writer.into_inner().map_err(io::IntoInnerError::into_error)?;
        Ok((bytes, digest.finalize().into()))
    }
}

fn frame(
    writer: io::BufWriter<HashingFile>,
) -> io::Result<zstd::Encoder<'static, io::BufWriter<HashingFile>>> {
    let mut encoder = zstd::Encoder::new(writer, ZSTD_LEVEL)?;
    encoder.include_checksum(true)?;
    Ok(encoder)
}

/// A frame could not be finished before; the first error was reported then.
fn broken() -> io::Error {
    io::Error::other("an earlier write failed")
}

/// A file that knows its size and checksum.
struct HashingFile {
    file: File,
    bytes: u64,
    digest: Sha256,
}

impl HashingFile {
    fn new(file: File) -> Self {
        Self { file, bytes: 0, digest: Sha256::new() }
    }
}

impl Write for HashingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.digest.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

fn sync_folder(folder: &Path) -> Result<(), SinkError> {
    platform::sync_folder(folder).map_err(|source| SinkError::Io {
        verb: "synchronise",
        path: folder.to_owned(),
        source,
    })
}
