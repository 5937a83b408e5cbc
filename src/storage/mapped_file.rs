//! A file mapped into memory: any place of it can be read without reading the rest.

use std::fs::File;
use std::io;
use std::ops::Range;

use memmap2::Mmap;

use crate::storage::quantity::quantity;
/// A file mapped into memory.
///
/// # Guarantees
///
/// Nothing is read behind the current end of the file: its length is checked before each access, and a file that has
/// become shorter is an error. Changes by others are visible. If the file becomes shorter between the check and the end
/// of an access, the system ends the process (`SIGBUS`). Where that can happen, use a
/// [`Source`](crate::records::source::Source), which reads instead.
#[derive(Debug)]
pub(crate) struct MappedFile {
    file: File,
    map: Mmap,
}

impl MappedFile {
    /// Maps a whole file. Fails for devices and pipes.
    pub(crate) fn new(file: File) -> io::Result<Self> {
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::NotSeekable, "it is no regular file"));
        }
        #[expect(unsafe_code, reason = "a file can be mapped in no other way")]
        // SAFETY: the map is only read, and lives as long as what borrows from it. Its bytes are not Rust's own:
        // others may change the file while it is mapped. What is made of them are numbers and copies of bytes; no
        // reference, no enum and no length within the program is taken from the map unchecked, and all decoders take
        // any bytes. Access behind an end that has moved is excluded by `bytes` but for the race named above,
        // which ends the process and reads nothing.
        let map = unsafe { Mmap::map(&file)? };
        Ok(Self { file, map })
    }

    /// Length at the time of mapping.
    pub(crate) fn len(&self) -> u64 {
        self.map.len() as u64
    }

    /// Tells the system not to read ahead.
    pub(crate) fn expect_random_access(&self) {
        // Whether it heeds that changes the speed only.
        #[cfg(unix)]
        let _ = self.map.advise(memmap2::Advice::Random);
    }

    /// Fails if the file now ends before the range.
    pub(crate) fn bytes(&self, range: Range<u64>) -> io::Result<&[u8]> {
        let now = self.file.metadata()?.len();
        if range.end > now {
            let told = format!(
                "the file has {}, it had {} when it was opened",
                quantity(now, "byte"),
                self.len()
            );
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, told));
        }
        let place = usize::try_from(range.start).ok().zip(usize::try_from(range.end).ok());
        let bytes = place.and_then(|(start, end)| self.map.get(start..end));
        bytes.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }
}
