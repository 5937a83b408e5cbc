//! Writing records and games in any format, one after the other, to whatever can be written to.

use std::io::{self, Write};

use super::conversion_plan::FieldChanges;
use super::convert::{encode, write_game};
use super::error::{ConvertError, Error, ErrorKind, Place};
use super::fill::Fill;
use super::format::Format;
use super::game::Game;
use super::record::Record;
use super::record_ref::RecordRef;

/// Writes records in canonical form to a file, or to whatever else can be written to.
///
/// Each record is handed on at once: files want an [`io::BufWriter`] in between. What a record says and the format
/// cannot hold is lost, which [`FieldChanges`] tells of each; what it lacks and the format needs is an error unless a
/// [`Fill`] names a value.
///
/// ```
/// use kyokumen_format::{Format, Reader, Writer};
/// let sfen = "4k4/9/9/9/9/9/9/9/4K4 b 2R2B4G4S4N4L18P 1\t5i5h\t-30\t1\tw\n";
/// let mut writer = Writer::new(Format::Psv, Vec::new());
/// for record in Reader::new(Format::Sfen, sfen.as_bytes()).records() {
///     writer.write_record(&record?)?;
/// }
/// assert_eq!(writer.into_inner()?.len(), 40);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Writer<W> {
    format: Format,
    fill: Fill,
    output: W,
    /// A record on its way.
    bytes: Vec<u8>,
    is_begun: bool,
    /// Whether a record or a game was written.
    has_chunks: bool,
    /// Records and games that were to be written.
    index: u64,
}

impl<W: Write> Writer<W> {
    /// Writes this format; what stands before the first record of a file is written with it.
    pub fn new(format: Format, output: W) -> Self {
        let fill = Fill::default();
        let (is_begun, has_chunks) = (false, false);
        Self { format, fill, output, bytes: Vec::new(), is_begun, has_chunks, index: 0 }
    }

    /// The same with values for fields that records lack.
    #[must_use]
    pub fn with_fill(self, fill: Fill) -> Self {
        Self { fill, ..self }
    }

    /// Writes a record; in formats that hold games, a game of one move.
    ///
    /// # Errors
    /// [`Error`]. Unless it is an I/O error, the next record can be written.
    pub fn write_record(&mut self, record: &Record) -> Result<FieldChanges, Error> {
        self.write(|format, fill, out| Ok(encode(format, record, fill, out)?))
    }

    /// Writes a record as it was read, in this format: of packed records only bits are rewritten.
    ///
    /// # Errors
    /// As [`Writer::write_record`].
    pub fn convert(&mut self, record: &RecordRef<'_>) -> Result<FieldChanges, Error> {
        self.write(|format, fill, out| record.convert(format, fill, out))
    }

    /// Writes a game, in formats that hold games. What is lost of it, [`Format::losses`] and
    /// [`Format::lost_of_game`] say; what is missing, [`Fill::complete`] puts in before.
    ///
    /// # Errors
    /// As [`Writer::write_record`].
    pub fn write_game(&mut self, game: &Game) -> Result<(), Error> {
        self.write(|format, _, out| Ok(write_game(format, game, out)?))
    }

    /// Writes what stands before the first record if no record did, and flushes what is written to.
    ///
    /// # Errors
    /// Those of the system.
    pub fn flush(&mut self) -> io::Result<()> {
        self.begin();
        self.hand_on()?;
        self.output.flush()
    }

    /// What is written to, flushed as by [`Writer::flush`].
    ///
    /// # Errors
    /// Those of the system.
    pub fn into_inner(mut self) -> io::Result<W> {
        self.flush()?;
        Ok(self.output)
    }

    fn write<T>(
        &mut self,
        append: impl FnOnce(Format, &Fill, &mut Vec<u8>) -> Result<T, ConvertError>,
    ) -> Result<T, Error> {
        let index = self.index;
        self.index += 1;
        self.begin();
        let format = self.format;
        let append = |out: &mut Vec<u8>| append(format, &self.fill, out);
        let appended = if self.has_chunks {
            format.append_chunk(&mut self.bytes, append)
        } else {
            append(&mut self.bytes)
        };
        self.has_chunks |= appended.is_ok();
        let failed = |kind| Error { place: Some(Place::Output(index)), kind };
        self.hand_on().map_err(|error| failed(ErrorKind::Io(error)))?;
        appended.map_err(|error| failed(ErrorKind::Record(error)))
    }

    fn begin(&mut self) {
        if !std::mem::replace(&mut self.is_begun, true) {
            self.bytes.extend_from_slice(self.format.header());
        }
    }

    fn hand_on(&mut self) -> io::Result<()> {
        let written = self.output.write_all(&self.bytes);
        self.bytes.clear();
        written
    }
}
