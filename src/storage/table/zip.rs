//! Writes zip files as `numpy.savez_compressed` does: compressed members, followed by the central directory.
//!
//! Format: PKWARE's APPNOTE.TXT 6.3.10. Sizes are always in the 64-bit fields, so large and small members are written
//! in the same way.
//!
//! The crate `zip` (9.8.2) would save 150 lines but writes other bytes: its central directory has 32-bit offsets and
//! file attributes, and its small files have no 64-bit end record. It depends on nine more crates, which take 12 s of
//! CPU time to build.

use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

use crate::storage::retry_interrupted::RetryInterrupted;

const LOCAL_HEADER: u32 = 0x0403_4b50;
const CENTRAL_HEADER: u32 = 0x0201_4b50;
const END_64: u32 = 0x0606_4b50;
const END_64_LOCATOR: u32 = 0x0706_4b50;
const END: u32 = 0x0605_4b50;

/// Version needed to read the file: 4.5, because of the 64-bit fields.
const VERSION: u16 = 45;
const DEFLATED: u16 = 8;
/// 1 January 1980, the first day of the format. A fixed date makes equal content equal files.
const DATE: u16 = 1 << 5 | 1;

/// Id of the extra field with 64-bit sizes.
const EXTRA_64: u16 = 1;
/// Values of 16-bit and 32-bit fields that the extra field replaces.
const IN_EXTRA_16: u16 = u16::MAX;
const IN_EXTRA_32: u32 = u32::MAX;

pub(super) struct Zip<W> {
    output: W,
    /// Folder for the compressed members until their size is known.
    folder: PathBuf,
    /// Bytes written to `output`.
    written: u64,
    members: Vec<Member>,
}

struct Member {
    name: String,
    crc: u32,
    compressed_bytes: u64,
    bytes: u64,
    offset: u64,
}

impl<W: Write> Zip<W> {
    /// Creates unnamed temporary files in `folder`.
    pub(super) fn new(output: W, folder: &Path) -> Self {
        Self { output, folder: folder.to_owned(), written: 0, members: Vec::new() }
    }

    pub(super) fn add(
        &mut self,
        name: String,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let (mut file, bytes, crc) = self.compressed(write)?;
        let compressed_bytes = file.stream_position()?;
        let member = Member { name, crc, compressed_bytes, bytes, offset: self.written };
        self.put(&member.local_header())?;
        file.rewind()?;
        self.written += io::copy(&mut file, &mut self.output)?;
        self.members.push(member);
        Ok(())
    }

    /// Returns a temporary file with the compressed bytes, the uncompressed size and the checksum.
    fn compressed(
        &self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<(File, u64, u32)> {
        let file = BufWriter::new(RetryInterrupted(tempfile::tempfile_in(&self.folder)?));
        let encoder = DeflateEncoder::new(file, Compression::fast());
        let mut counting = BufWriter::new(Counting { inner: encoder, crc: Crc::new(), bytes: 0 });
        write(&mut counting)?;
        let Counting { inner, crc, bytes } =
            counting.into_inner().map_err(io::IntoInnerError::into_error)?;
        let RetryInterrupted(file) =
            inner.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
        Ok((file, bytes, crc.sum()))
    }

    /// Writes the central directory.
    pub(super) fn finish(mut self) -> io::Result<W> {
        let start = self.written;
        for member in std::mem::take(&mut self.members) {
            self.put(&member.central_header())?;
            self.members.push(member);
        }
        let (bytes, members) = (self.written - start, self.members.len() as u64);
        let mut end = Fields::default();
        // The size of the 64-bit end record, 44 bytes, does not include its first 12 bytes.
        end.u32(END_64).u64(44).u16(VERSION).u16(VERSION).u32(0).u32(0);
        end.u64(members).u64(members).u64(bytes).u64(start);
        end.u32(END_64_LOCATOR).u32(0).u64(self.written).u32(1);
        end.u32(END).u16(0).u16(0).u16(IN_EXTRA_16).u16(IN_EXTRA_16);
        end.u32(IN_EXTRA_32).u32(IN_EXTRA_32).u16(0);
        self.put(&end.0)?;
        Ok(self.output)
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.written += bytes.len() as u64;
        self.output.write_all(bytes)
    }
}

impl Member {
    fn local_header(&self) -> Vec<u8> {
        let mut header = Fields::default();
        header.u32(LOCAL_HEADER);
        self.push_description(&mut header);
        header.u16(4 + 2 * 8).bytes(self.name.as_bytes());
        header.u16(EXTRA_64).u16(2 * 8).u64(self.bytes).u64(self.compressed_bytes);
        header.0
    }

    fn central_header(&self) -> Vec<u8> {
        let mut header = Fields::default();
        header.u32(CENTRAL_HEADER).u16(VERSION);
        self.push_description(&mut header);
        header.u16(4 + 3 * 8).u16(0).u16(0).u16(0).u32(0).u32(IN_EXTRA_32);
        header.bytes(self.name.as_bytes());
        header.u16(EXTRA_64).u16(3 * 8);
        header.u64(self.bytes).u64(self.compressed_bytes).u64(self.offset);
        header.0
    }

    /// Appends the fields that both headers have, up to the length of the name.
    fn push_description(&self, header: &mut Fields) {
        header.u16(VERSION).u16(0).u16(DEFLATED).u16(0).u16(DATE).u32(self.crc);
        header.u32(IN_EXTRA_32).u32(IN_EXTRA_32).u16(self.name.len() as u16);
    }
}

/// Little-endian numbers.
#[derive(Default)]
struct Fields(Vec<u8>);

impl Fields {
    fn u16(&mut self, number: u16) -> &mut Self {
        self.bytes(&number.to_le_bytes())
    }

    fn u32(&mut self, number: u32) -> &mut Self {
        self.bytes(&number.to_le_bytes())
    }

    fn u64(&mut self, number: u64) -> &mut Self {
        self.bytes(&number.to_le_bytes())
    }

    fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }
}

/// Counts the bytes written to `inner` and computes their checksum.
struct Counting<W> {
    inner: W,
    crc: Crc,
    bytes: u64,
}

impl<W: Write> Write for Counting<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.crc.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
