//! Decompresses xz files in bounded memory.
//!
//! Format: <https://tukaani.org/xz/xz-file-format.txt>. The library reads concatenated streams, with zeros between
//! them, and verifies checksums. It is built without `unsafe` code.

use std::io::{self, BufReader, ErrorKind, Read};

use super::decompression::MAX_WINDOW_MIB;
use crate::storage::retry_interrupted::RetryInterrupted;

/// Overhead that the library adds to the size of a dictionary before it checks the limit, in KiB, with a margin.
const OVERHEAD_KIB: u32 = 1 << 10;

/// Memory limit of a block, in KiB: a dictionary as large as the largest window of a zstd frame. No level of `xz` needs
/// more than half of it.
const MEMORY_KIB: u32 = ((MAX_WINDOW_MIB as u32) << 10) + OVERHEAD_KIB;

pub(super) struct XzReader<R: Read> {
    decoder: lzma_rust2::XzReader<Counted<BufReader<RetryInterrupted<R>>>>,
}

/// Length of the magic bytes at the start of an xz file.
const HEADER_MAGIC_BYTES: u64 = 6;

impl<R: Read> XzReader<R> {
    pub(super) fn new(reader: R) -> Self {
        let reader = Counted { reader: BufReader::new(RetryInterrupted(reader)), bytes: 0 };
        Self { decoder: lzma_rust2::XzReader::new_mem_limit(reader, true, MEMORY_KIB) }
    }

    /// Adds the offset in the compressed file to an error.
    fn with_offset(&self, error: io::Error) -> io::Error {
        let byte = self.decoder.inner().bytes;
        match error.kind() {
            // An error of the system, not of the decoder.
            _ if error.raw_os_error().is_some() => error,
            ErrorKind::UnexpectedEof => io::Error::new(
                ErrorKind::UnexpectedEof,
                match byte {
                    0 => "the file is empty".to_owned(),
                    _ => format!(
                        "the compressed file is truncated: it ends at byte {byte}, before the end of its xz stream"
                    ),
                },
            ),
            kind if byte <= HEADER_MAGIC_BYTES => {
                io::Error::new(kind, format!("it is not an xz file: {error}"))
            }
            ErrorKind::OutOfMemory => io::Error::other(format!(
                "an xz block before byte {byte} of the compressed file needs a dictionary of more than {MAX_WINDOW_MIB} \
                 MiB; decompress the file with `xz -d`"
            )),
            kind => io::Error::new(
                kind,
                format!("the compressed file is damaged before its byte {byte}: {error}"),
            ),
        }
    }
}

impl<R: Read> Read for XzReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.decoder.read(buffer).map_err(|error| self.with_offset(error))
    }
}

struct Counted<R> {
    reader: R,
    bytes: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.bytes += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Output of liblzma 5.4 for `content`, without a checksum.
    const STREAM: &str = "fd377a585a000000ff12d9410200210116000000742fe5a3010006636f6e74656e74\
                          0000000117071ea461bb06729e7a010000000000595a";

    /// The same, with dictionaries of 128 and of 256 MiB, and a checksum of 64 bits.
    const WINDOW_27: &str = "fd377a585a000004e6d6b446020021011e0000009b075166010006636f6e74656e740000dc8d3522ffc1\
                             477b00011f07162eb8731fb6f37d010000000004595a";
    const WINDOW_28: &str = "fd377a585a000004e6d6b44602002101200000000988a576010006636f6e74656e740000dc8d3522ffc1\
                             477b00011f07162eb8731fb6f37d010000000004595a";

    fn bytes(hex: &str) -> Vec<u8> {
        let digits = |from| u8::from_str_radix(&hex[from..from + 2], 16).unwrap();
        (0..hex.len()).step_by(2).map(digits).collect()
    }

    fn read(bytes: &[u8]) -> Result<String, String> {
        let mut content = String::new();
        let read = XzReader::new(bytes).read_to_string(&mut content);
        read.map(|_| content).map_err(|error| error.to_string())
    }

    #[test]
    fn concatenated_streams_with_padding_are_read_as_one() {
        let (one, other) = (bytes(STREAM), bytes(WINDOW_27));
        assert_eq!(read(&one).unwrap(), "content");
        let both = [&one[..], &[0; 8], &other, &one, &[0; 4]].concat();
        assert_eq!(read(&both).unwrap(), "contentcontentcontent");
        assert_eq!(
            read(&[&one[..], &[0; 3]].concat()).unwrap_err(),
            "the compressed file is damaged before its byte 59: stream padding size not multiple of 4"
        );
    }

    #[test]
    fn giant_dictionaries_are_refused() {
        assert_eq!(read(&bytes(WINDOW_27)).unwrap(), "content");
        let expected = "an xz block before byte 24 of the compressed file needs a dictionary of more than 128 MiB; \
                        decompress the file with `xz -d`";
        assert_eq!(read(&bytes(WINDOW_28)).unwrap_err(), expected);
    }

    #[test]
    fn every_damage_is_reported_with_its_offset() {
        let whole = [bytes(WINDOW_27), bytes(WINDOW_27)].concat();
        for len in 0..whole.len() {
            let error = read(&whole[..len]);
            match len {
                0 => assert_eq!(error.unwrap_err(), "the file is empty"),
                // One complete stream.
                64 => assert_eq!(error.unwrap(), "content"),
                65..70 => assert!(
                    error
                        .unwrap_err()
                        .starts_with("the compressed file is damaged before its byte"),
                    "{len}"
                ),
                _ => assert_eq!(
                    error.unwrap_err(),
                    format!(
                        "the compressed file is truncated: it ends at byte {len}, before the end of its xz stream"
                    )
                ),
            }
        }
        for place in 0..whole.len() {
            for bit in 0..8 {
                let mut damaged = whole.clone();
                damaged[place] ^= 1 << bit;
                assert!(read(&damaged).is_err(), "bit {bit} of byte {place}");
            }
        }
    }
}
