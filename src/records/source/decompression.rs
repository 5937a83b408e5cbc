//! Decompresses zstd frames in bounded memory.

use std::io::{self, Read};

use zstd::zstd_safe;

/// Largest window of a frame, as a power of two. `zstd -d` has the same default limit, and no level of `zstd` needs
/// more.
const MAX_WINDOW_LOG: u32 = 27;

/// Largest window of a zstd frame, in MiB.
pub const MAX_WINDOW_MIB: u64 = (1 << MAX_WINDOW_LOG) >> 20;

/// Error code of a window that is too large: `ZSTD_error_frameParameter_windowTooLarge`.
const WINDOW_TOO_LARGE: usize = 0_usize.wrapping_sub(16);

pub(super) struct ZstdReader<R: Read> {
    decoder: zstd::Decoder<'static, io::BufReader<R>>,
}

impl<R: Read> ZstdReader<R> {
    pub(super) fn new(reader: R) -> io::Result<Self> {
        let mut decoder = zstd::Decoder::new(reader)?;
        decoder.window_log_max(MAX_WINDOW_LOG)?;
        Ok(Self { decoder })
    }

    /// The compressed reader, which may have read a few bytes more than were needed.
    pub(super) fn into_inner(self) -> R {
        self.decoder.finish().into_inner()
    }
}

impl<R: Read> Read for ZstdReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.decoder.read(buffer).map_err(|error| {
            if error.to_string() != zstd_safe::get_error_name(WINDOW_TOO_LARGE) {
                return error;
            }
            io::Error::other(format!(
                "a zstd frame has a window of more than {MAX_WINDOW_MIB} MiB; decompress it with \
                 `zstd -d --long=31`"
            ))
        })
    }
}

/// Bytes requested from a decompressor at a time.
const STEP_BYTES: usize = 1 << 17;

/// Reads from a decompressor in requests of equal size. The size determines how many bytes a decompressor returns
/// before it reports damage, and every command should report the same offset.
pub(super) struct EvenSteps<R> {
    reader: R,
    bytes: Vec<u8>,
    taken: usize,
}

impl<R: Read> EvenSteps<R> {
    pub(super) const fn new(reader: R) -> Self {
        Self { reader, bytes: Vec::new(), taken: 0 }
    }
}

impl<R: Read> Read for EvenSteps<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.bytes.len() {
            self.taken = 0;
            self.bytes.resize(STEP_BYTES, 0);
            let read = self.reader.read(&mut self.bytes);
            self.bytes.truncate(*read.as_ref().unwrap_or(&0));
            read?;
        }
        let read = (&self.bytes[self.taken..]).read(buffer)?;
        self.taken += read;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use snapbox::{assert_data_eq, str};

    use super::*;

    fn packed(window_log: u32) -> Vec<u8> {
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
        encoder.window_log(window_log).unwrap();
        encoder.write_all(b"content").unwrap();
        // Without this flush the frame would be written at once, and its window would have the size of the content.
        encoder.flush().unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn giant_windows_are_refused() {
        let read = |window_log| {
            let mut content = Vec::new();
            let mut reader = ZstdReader::new(io::Cursor::new(packed(window_log))).unwrap();
            reader.read_to_end(&mut content).map(|_| content)
        };
        assert_eq!(read(MAX_WINDOW_LOG).unwrap(), b"content");
        let error = read(MAX_WINDOW_LOG + 1).unwrap_err().to_string();
        assert_data_eq!(
            error,
            str![
                "a zstd frame has a window of more than 128 MiB; decompress it with `zstd -d --long=31`"
            ]
        );
    }

    #[test]
    fn damage_is_reported_at_the_same_offset_for_any_read_size() {
        let content: Vec<u8> =
            (0..1 << 20).map(|i: u32| (i.wrapping_mul(i) >> 13).to_le_bytes()[0]).collect();
        let mut packed = zstd::encode_all(&*content, 1).unwrap();
        let at = packed.len() / 2;
        packed[at..].fill(0xff);
        let offset = |wanted: usize| {
            let mut reader = EvenSteps::new(ZstdReader::new(&*packed).unwrap());
            let (mut buffer, mut offset) = (vec![0; wanted], 0);
            while let Ok(read @ 1..) = reader.read(&mut buffer) {
                assert!(buffer[..read] == content[offset..offset + read]);
                offset += read;
            }
            offset
        };
        assert!(offset(1 << 23) > 0);
        assert!([40, 4096, 100_000].iter().all(|&wanted| offset(wanted) == offset(1 << 23)));
    }
}
