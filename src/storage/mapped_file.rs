//! A file mapped into memory, for random access.

use std::fs::File;
use std::io;
use std::ops::Range;

use memmap2::Mmap;

use crate::storage::quantity::quantity;

/// A file mapped into memory.
///
/// # Guarantees
///
/// The length of the file is checked before each access. Access to a range after the current end is an error. Changes
/// by other processes are visible. If the file is shortened between the check and the end of an access, the system ends
/// the process (`SIGBUS`). If that can happen, use a [`Source`](crate::records::source::Source), which reads instead of
/// mapping.
#[derive(Debug)]
pub(crate) struct MappedFile {
    file: File,
    map: Mmap,
}

impl MappedFile {
    /// Maps a whole file. Fails for devices and pipes.
    pub(crate) fn new(file: File) -> io::Result<Self> {
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::NotSeekable, "not a regular file"));
        }
        #[expect(unsafe_code, reason = "mapping a file is always unsafe")]
        // SAFETY: the map is read only and outlives all borrows from it. Other processes may change the file while it
        // is mapped, so its bytes may change at any time. The program only makes numbers and copies from them. No
        // reference, enum or length is taken from the map unchecked, and all decoders accept any bytes. `bytes`
        // excludes access after a moved end of the file, except for the race described above, which ends the process
        // and reads no data.
        let map = unsafe { Mmap::map(&file)? };
        Ok(Self { file, map })
    }

    /// Length at the time of mapping.
    pub(crate) fn len(&self) -> u64 {
        self.map.len() as u64
    }

    /// Asks the system not to read ahead.
    pub(crate) fn expect_random_access(&self) {
        // Only a hint: a failure affects nothing but speed.
        #[cfg(unix)]
        let _ = self.map.advise(memmap2::Advice::Random);
    }

    /// The bytes of a range. Fails if the file now ends before the end of the range.
    pub(crate) fn bytes(&self, range: Range<u64>) -> io::Result<&[u8]> {
        let now = self.file.metadata()?.len();
        if range.end > now {
            let message = format!(
                "the file was shortened to {}; it had {} when it was opened",
                quantity(now, "byte"),
                self.len()
            );
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, message));
        }
        let place = usize::try_from(range.start).ok().zip(usize::try_from(range.end).ok());
        let bytes = place.and_then(|(start, end)| self.map.get(start..end));
        bytes.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }
}
