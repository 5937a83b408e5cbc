//! Sequential writers of records and games, for all formats.

use std::io::{self, Write};

use super::conversion_plan::FieldChanges;
use super::convert::{encode, write_game};
use super::error::{ConvertError, Error, ErrorKind, Place};
use super::field::Fields;
use super::fill::Fill;
use super::format::Format;
use super::game::Game;
use super::record::Record;
use super::record_ref::RecordRef;

/// Writes records in canonical form to a file or any other [`Write`].
///
/// Each record is written at once, so wrap files in an [`io::BufWriter`]. Fields that the format cannot hold are lost;
/// [`FieldChanges`] reports them for each record. If a record lacks a field that the format needs, it is an error
/// unless a [`Fill`] gives a value.
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
    /// The bytes to write next.
    bytes: Vec<u8>,
    is_begun: bool,
    /// Whether a record or a game was written.
    has_chunks: bool,
    /// Number of records and games passed to the writer.
    index: u64,
}

impl<W: Write> Writer<W> {
    /// Creates a writer. The file header, if any, is written with the first record.
    pub fn new(format: Format, output: W) -> Self {
        let fill = Fill::default();
        let (is_begun, has_chunks) = (false, false);
        Self { format, fill, output, bytes: Vec::new(), is_begun, has_chunks, index: 0 }
    }

    /// The format of the output.
    pub const fn format(&self) -> Format {
        self.format
    }

    /// Sets the values for fields that records and games lack.
    #[must_use]
    pub fn with_fill(self, fill: Fill) -> Self {
        Self { fill, ..self }
    }

    /// Writes a record. In game formats it becomes a game of one move.
    ///
    /// # Errors
    /// [`Error`]. The next record can be written unless it is an I/O error.
    pub fn write_record(&mut self, record: &Record) -> Result<FieldChanges, Error> {
        self.write(|format, fill, out| Ok(encode(format, record, fill, out)?))
    }

    /// Converts a record to this format. Packed records are transcoded without decoding the position.
    ///
    /// # Errors
    /// The errors of [`Writer::write_record`].
    pub fn convert(&mut self, record: &RecordRef<'_>) -> Result<FieldChanges, Error> {
        self.write(|format, fill, out| record.convert(format, fill, out))
    }

    /// Writes a game, in formats that hold games. [`Format::losses`] and [`Format::lost_of_game`] return the lost
    /// fields.
    ///
    /// # Errors
    /// The errors of [`Writer::write_record`].
    pub fn write_game(&mut self, game: &Game) -> Result<(), Error> {
        self.write(|format, fill, out| {
            if fill.fields() == Fields::NONE {
                return Ok(write_game(format, game, out)?);
            }
            let mut game = game.clone();
            fill.complete(&mut game, format);
            Ok(write_game(format, &game, out)?)
        })
    }

    /// Writes the file header if nothing was written yet, and flushes the output.
    ///
    /// # Errors
    /// I/O errors.
    pub fn flush(&mut self) -> io::Result<()> {
        self.begin();
        self.write_bytes()?;
        self.output.flush()
    }

    /// Flushes the output like [`Writer::flush`] and returns it.
    ///
    /// # Errors
    /// I/O errors.
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
        self.write_bytes().map_err(|error| failed(ErrorKind::Io(error)))?;
        appended.map_err(|error| failed(ErrorKind::Record(error)))
    }

    fn begin(&mut self) {
        if !std::mem::replace(&mut self.is_begun, true) {
            self.bytes.extend_from_slice(self.format.header());
        }
    }

    fn write_bytes(&mut self) -> io::Result<()> {
        let written = self.output.write_all(&self.bytes);
        self.bytes.clear();
        written
    }
}
