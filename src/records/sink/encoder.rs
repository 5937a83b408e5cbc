//! Encodes the bytes of an output: uncompressed, as zstd frames followed by a frame table, or as Parquet.
//!
//! The frames follow the seekable format, which any zstd decoder can read:
//! <https://github.com/facebook/zstd>, `contrib/seekable_format`.

use std::fmt;
use std::io::{self, Write};

use crate::storage::checksum::{RunningChecksum, Sha256Sum};
use crate::storage::compression::{Compression, ZSTD_LEVEL};
use crate::storage::parquet;
use crate::storage::seek_table::{FrameSizes, SeekTable};

const BUFFER_BYTES: usize = 1 << 16;

pub(super) type BoxedWriter = Box<dyn Write + Send>;

pub(super) enum Encoder {
    Plain(io::BufWriter<HashingWriter>),
    Zstd(Box<FrameWriter>),
    Parquet(Box<parquet::RecordColumns<HashingWriter>>),
}

impl fmt::Debug for Encoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plain(_) => "Plain",
            Self::Zstd(_) => "Zstd",
            Self::Parquet(_) => "Parquet",
        })
    }
}

/// The content of the file, and the data that is still in the encoder.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct EncoderState {
    pub(super) bytes: u64,
    /// SHA-256 of the bytes in the file, if requested.
    pub(super) sha256: Option<Sha256Sum>,
    /// Sizes of the closed frames.
    pub(super) frames: Vec<FrameSizes>,
    /// Uncompressed content of the open frame.
    pub(super) open: Vec<u8>,
}

impl Encoder {
    pub(super) fn new(output: HashingWriter, compression: Compression) -> io::Result<Self> {
        Ok(match compression {
            Compression::None => Self::Plain(io::BufWriter::with_capacity(BUFFER_BYTES, output)),
            Compression::Zstd => Self::Zstd(Box::new(FrameWriter::new(output)?)),
            Compression::Parquet => Self::Parquet(Box::new(parquet::RecordColumns::new(output)?)),
            Compression::Gzip | Compression::Xz => return Err(io::ErrorKind::Unsupported.into()),
        })
    }

    /// Continues after closed frames. `open` is the uncompressed content of the open frame.
    pub(super) fn resume(
        output: HashingWriter,
        compression: Compression,
        frames: &[FrameSizes],
        open: Vec<u8>,
    ) -> io::Result<Self> {
        let mut encoder = Self::new(output, compression)?;
        match &mut encoder {
            Self::Zstd(zstd) => {
                frames.iter().try_for_each(|&sizes| zstd.table.push(sizes))?;
                zstd.open = open;
            }
            Self::Plain(_) if frames.is_empty() && open.is_empty() => {}
            Self::Plain(_) | Self::Parquet(_) => return Err(io::ErrorKind::Unsupported.into()),
        }
        Ok(encoder)
    }

    pub(super) fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(writer) => writer.write_all(bytes),
            Self::Zstd(frames) => {
                frames.open.extend_from_slice(bytes);
                Ok(())
            }
            Self::Parquet(table) => table.take(bytes),
        }
    }

    pub(super) fn next_frame(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(_) => Ok(()),
            Self::Zstd(frames) => frames.close(),
            Self::Parquet(table) => table.close_group(),
        }
    }

    /// Writes everything except the open frame, and returns the state to resume from. Unsupported for Parquet, which
    /// cannot be resumed.
    pub(super) fn flush(&mut self) -> io::Result<EncoderState> {
        let (output, frames, open) = match self {
            Self::Plain(writer) => {
                writer.flush()?;
                (writer.get_mut(), Vec::new(), Vec::new())
            }
            Self::Zstd(frames) => {
                let (sizes, open) = (frames.table.sizes().collect(), frames.open.clone());
                (&mut frames.output, sizes, open)
            }
            Self::Parquet(_) => return Err(io::ErrorKind::Unsupported.into()),
        };
        output.flush()?;
        let sha256 = output.checksum.sum();
        Ok(EncoderState { bytes: output.bytes, sha256, frames, open })
    }

    /// Returns the size of the file, and its SHA-256 if requested.
    pub(super) fn finish(self) -> io::Result<(u64, Option<Sha256Sum>)> {
        let mut output = match self {
            Self::Plain(writer) => writer.into_inner().map_err(io::IntoInnerError::into_error)?,
            Self::Zstd(frames) => frames.finish()?,
            Self::Parquet(table) => table.finish()?,
        };
        output.flush()?;
        Ok(output.written())
    }
}

pub(super) struct FrameWriter {
    output: HashingWriter,
    compressor: zstd::bulk::Compressor<'static>,
    /// Uncompressed content of the open frame.
    open: Vec<u8>,
    /// Buffer for a compressed frame.
    closed: Vec<u8>,
    table: SeekTable,
}

impl FrameWriter {
    fn new(output: HashingWriter) -> io::Result<Self> {
        let mut compressor = zstd::bulk::Compressor::new(ZSTD_LEVEL)?;
        compressor.include_checksum(true)?;
        let (open, closed, table) = (Vec::new(), Vec::new(), SeekTable::default());
        Ok(Self { output, compressor, open, closed, table })
    }

    fn close(&mut self) -> io::Result<()> {
        self.closed.clear();
        self.closed.reserve(zstd::zstd_safe::compress_bound(self.open.len()));
        self.compressor.compress_to_buffer(&self.open, &mut self.closed)?;
        let size = |bytes: &Vec<u8>| u32::try_from(bytes.len()).map_err(io::Error::other);
        self.table.push((size(&self.closed)?, size(&self.open)?))?;
        self.open.clear();
        self.output.write_all(&self.closed)
    }

    /// Writes the last frame and the table. A file without records is one empty frame.
    fn finish(mut self) -> io::Result<HashingWriter> {
        if !self.open.is_empty() || self.table.is_empty() {
            self.close()?;
        }
        self.output.write_all(&self.table.to_bytes())?;
        Ok(self.output)
    }
}

/// Counts and hashes the bytes that pass through.
pub(super) struct HashingWriter {
    writer: BoxedWriter,
    bytes: u64,
    checksum: RunningChecksum,
}

impl HashingWriter {
    pub(super) fn new(writer: BoxedWriter, with_checksum: bool) -> Self {
        Self::resume(writer, 0, RunningChecksum::new(with_checksum))
    }

    pub(super) fn written(self) -> (u64, Option<Sha256Sum>) {
        (self.bytes, self.checksum.sum())
    }

    /// Continues after `bytes` bytes with this checksum.
    pub(super) const fn resume(writer: BoxedWriter, bytes: u64, checksum: RunningChecksum) -> Self {
        Self { writer, bytes, checksum }
    }
}

impl Write for HashingWriter {
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
