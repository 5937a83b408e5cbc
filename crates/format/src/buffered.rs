//! The units of what is read piece by piece, one at a time in a buffer.

use std::io::{self, Read};
use std::ops::Range;

use super::error::{Error, ErrorKind, Place, RecordPlace};
use super::format::Format;
use super::unit::RawUnit;

/// Bytes that are asked for at a time, at least.
const READ_BYTES: usize = 1 << 16;

/// The unit that is read, and what was read behind it.
pub(super) struct Buffered<R> {
    input: R,
    bytes: Vec<u8>,
    /// How many of the bytes were read.
    filled: usize,
    /// Offset of the first of them in the input.
    offset: u64,
    /// Where the unit stands.
    unit: Range<usize>,
    is_piece: bool,
    /// Whether what follows the unit continues it.
    is_mid_unit: bool,
    at_end: bool,
}

impl<R: Read> Buffered<R> {
    /// Nothing is read yet.
    pub(super) const fn new(input: R) -> Self {
        Self {
            input,
            bytes: Vec::new(),
            filled: 0,
            offset: 0,
            unit: 0..0,
            is_piece: false,
            is_mid_unit: false,
            at_end: false,
        }
    }

    pub(super) fn into_input(self) -> R {
        self.input
    }

    /// The unit that was read last.
    pub(super) fn unit(&self) -> RawUnit<'_> {
        let offset = self.unit_offset();
        RawUnit { bytes: &self.bytes[self.unit.clone()], offset, is_piece: self.is_piece }
    }

    /// Where it begins in the input.
    pub(super) fn unit_offset(&self) -> u64 {
        self.offset + self.unit.start as u64
    }

    /// Goes on to the next unit; whether there is one.
    ///
    /// # Errors
    /// Those of the system: of the record with this number. Behind it there is no unit.
    pub(super) fn next_unit(&mut self, format: Format, index: u64) -> Result<bool, Error> {
        self.unit.start = self.unit.end;
        loop {
            let rest = &self.bytes[self.unit.start..self.filled];
            if !rest.is_empty()
                && let Some(len) = format.unit_or_piece_end(rest, self.at_end)
            {
                let goes_on = format.is_piece(&rest[..len]);
                self.is_piece = std::mem::replace(&mut self.is_mid_unit, goes_on) || goes_on;
                self.unit.end = self.unit.start + len;
                return Ok(true);
            }
            if self.at_end {
                return Ok(false);
            }
            if let Err(error) = self.fill(format.max_unit_bytes()) {
                self.at_end = true;
                let offset = self.offset + self.filled as u64;
                (self.filled, self.unit) = (0, 0..0);
                let place = Some(Place::Input(RecordPlace { index, offset }));
                return Err(Error { place, kind: ErrorKind::Io(error) });
            }
        }
    }

    /// Reads as many bytes again as there are of a unit, so that it is looked through a few times only, however
    /// few come at once.
    fn fill(&mut self, max_unit_bytes: usize) -> io::Result<()> {
        self.bytes.copy_within(self.unit.start..self.filled, 0);
        self.filled -= self.unit.start;
        self.offset += self.unit.start as u64;
        self.unit = 0..0;
        let wanted = (2 * self.filled).clamp(1, max_unit_bytes);
        while self.filled < wanted && !self.at_end {
            if self.filled == self.bytes.len() {
                self.bytes.resize((2 * self.filled).max(READ_BYTES), 0);
            }
            match self.input.read(&mut self.bytes[self.filled..]) {
                Ok(0) => self.at_end = true,
                Ok(read) => self.filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
