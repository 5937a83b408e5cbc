//! Reads consecutive frames of a seekable zstd file, and checks each against the frame table.
//!
//! The start of a reader depends on the table entries of all earlier frames, which it does not check. If several
//! readers together read the whole file, the first frame that differs from the table makes one of them fail.

use std::io::{self, Read};
use std::sync::Arc;

use super::decompression::ZstdReader;
use crate::storage::seek_table::{Frame, SeekTable};

type Input = Box<dyn Read + Send>;
type Decoder = ZstdReader<io::Take<Input>>;

/// Reads the content of the frames from a byte to the end.
pub(crate) struct FrameReader {
    table: Arc<SeekTable>,
    /// Number of the frame that is open or is opened next.
    number: usize,
    state: FrameState,
}

enum FrameState {
    Between(Input),
    /// In a frame, with the number of remaining content bytes.
    Within(Box<Decoder>, u64),
    /// An error was returned.
    Failed,
}

impl FrameReader {
    /// `content_byte` counts uncompressed bytes. `open` opens the file at an offset of the compressed bytes.
    pub(crate) fn open(
        table: Arc<SeekTable>,
        content_byte: u64,
        open: impl FnOnce(u64) -> io::Result<Input>,
    ) -> io::Result<Self> {
        let number = table.frame_of(content_byte);
        let first = table.frame(number);
        let first =
            first.unwrap_or(Frame { compressed: 0..0, content: content_byte..content_byte });
        let state = FrameState::Between(open(first.compressed.start)?);
        let mut frames = Self { table, number, state };
        let before = &mut frames.by_ref().take(content_byte - first.content.start);
        io::copy(before, &mut io::sink())?;
        Ok(frames)
    }

    /// Opens the next frame. Returns `false` after the last one.
    fn next_frame(&mut self, input: Input) -> io::Result<bool> {
        let Some(Frame { compressed, content }) = self.table.frame(self.number) else {
            self.state = FrameState::Between(input);
            return Ok(false);
        };
        let decoder = ZstdReader::new(input.take(compressed.end - compressed.start))?;
        self.state = FrameState::Within(Box::new(decoder), content.end - content.start);
        Ok(true)
    }

    /// Reads from the open frame, and closes it after its last byte.
    fn read_frame(
        &mut self,
        mut decoder: Box<Decoder>,
        left: u64,
        bytes: &mut [u8],
    ) -> io::Result<usize> {
        let most = usize::try_from(left).map_or(bytes.len(), |left| left.min(bytes.len()));
        let read = match decoder.read(&mut bytes[..most]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                self.state = FrameState::Within(decoder, left);
                return Err(error);
            }
            read => read?,
        };
        let left = left - read as u64;
        if left > 0 {
            if read == 0 {
                return Err(self.different("fewer"));
            }
            self.state = FrameState::Within(decoder, left);
            return Ok(read);
        }
        if io::copy(&mut decoder.by_ref().take(1), &mut io::sink())? > 0 {
            return Err(self.different("more"));
        }
        self.number += 1;
        self.state = FrameState::Between(decoder.into_inner().into_inner());
        Ok(read)
    }

    fn different(&self, how: &str) -> io::Error {
        let message = format!(
            "frame {} holds {how} bytes than the frame table at the end of the file states, so the table is wrong; \
             repair the file with `kyokumen convert`, which does not read the table",
            self.number
        );
        io::Error::new(io::ErrorKind::InvalidData, message)
    }
}

impl Read for FrameReader {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if bytes.is_empty() {
            return Ok(0);
        }
        loop {
            match std::mem::replace(&mut self.state, FrameState::Failed) {
                FrameState::Within(decoder, left) => return self.read_frame(decoder, left, bytes),
                FrameState::Between(input) => {
                    if !self.next_frame(input)? {
                        return Ok(0);
                    }
                }
                FrameState::Failed => {
                    return Err(io::Error::other("reading continued after an error"));
                }
            }
        }
    }
}
