//! Sequential readers of records and games, for all formats.

use std::io::Read;
use std::vec::IntoIter;

use super::buffered::Buffered;
use super::convert::read_games;
use super::error::{DecodeError, DecodeErrorKind, Error, ErrorKind, Place, RecordPlace};
use super::format::Format;
use super::game::Game;
use super::move16::Dialect;
use super::record::{Parsed, Record};
use super::record_ref::RecordRef;
use super::records::{parsed_records, records_of};

/// Reads the records of a file or of any other [`Read`].
///
/// Has its own buffer; a [`BufReader`](std::io::BufReader) is not needed. Memory is bounded: a line longer than
/// [`MAX_LINE_BYTES`](super::MAX_LINE_BYTES) and a chunk of several lines or records longer than
/// [`MAX_CHUNK_BYTES`](super::MAX_CHUNK_BYTES) are cut into pieces of that size, and each piece is an error. To read a
/// compressed file, use a decompressor, for example `Reader::new(Format::Psv, zstd::Decoder::new(file)?)`. Comments in
/// texts are skipped.
///
/// ```
/// use kyokumen_format::{Format, Place, Reader, RecordPlace};
/// let text = "4k4/9/9/9/9/9/9/9/4K4 b - 1\nno position\n";
/// let mut reader = Reader::new(Format::Sfen, text.as_bytes());
/// let mut records = reader.records();
/// assert_eq!(records.next().unwrap()?.ply, Some(1));
/// let error = records.next().unwrap().unwrap_err();
/// assert_eq!(error.place, Some(Place::Input(RecordPlace { index: 1, offset: 28 })));
/// assert!(records.next().is_none());
/// # Ok::<(), kyokumen_format::Error>(())
/// ```
pub struct Reader<R> {
    format: Format,
    dialect: Dialect,
    buffered: Buffered<R>,
    /// Decoded parts of the current chunk that were not returned yet.
    games: IntoIter<Result<Game, DecodeError>>,
    records: IntoIter<Result<Parsed, DecodeError>>,
    /// Number of the next record.
    index: u64,
    place: RecordPlace,
}

/// The next item of the current chunk.
enum Next {
    /// The chunk is the record.
    Whole,
    Parsed(Result<Parsed, DecodeError>),
    Piece,
}

impl<R: Read> Reader<R> {
    /// The format of the records.
    pub const fn format(&self) -> Format {
        self.format
    }

    /// Creates a reader. Reads nothing yet.
    pub fn new(format: Format, input: R) -> Self {
        Self {
            format,
            dialect: format.dialect(),
            buffered: Buffered::new(input),
            games: Vec::new().into_iter(),
            records: Vec::new().into_iter(),
            index: 0,
            place: RecordPlace::default(),
        }
    }

    /// Sets the move encoding of packed records, if it is not the usual one of the format.
    #[must_use]
    pub fn with_dialect(self, dialect: Dialect) -> Self {
        Self { dialect, ..self }
    }

    /// Position of the record or game that was read last.
    pub const fn place(&self) -> RecordPlace {
        self.place
    }

    /// The input. Some of its bytes may have been read ahead.
    pub fn into_inner(self) -> R {
        self.buffered.into_input()
    }

    /// Reads the next record. Fields are decoded on access if the format allows it. `None` at the end of the input.
    ///
    /// Invalid fields of packed records and SFEN lines are reported when they are accessed.
    ///
    /// # Errors
    /// [`Error`]. The next record can be read unless it is an I/O error.
    pub fn read_record(&mut self) -> Result<Option<RecordRef<'_>>, Error> {
        let next = loop {
            let Some(next) = self.next()? else { return Ok(None) };
            self.advance(1);
            match &next {
                Next::Whole if self.format.is_comment(self.buffered.chunk().bytes) => {}
                Next::Parsed(Err(error)) if error.kind == DecodeErrorKind::Comment => {}
                _ => break next,
            }
        };
        let place = self.place;
        let bytes = self.buffered.chunk().without_line_end(self.format);
        let record = match next {
            Next::Piece => Err(DecodeError::TOO_LONG),
            Next::Whole => RecordRef::with_dialect(self.format, self.dialect, bytes),
            Next::Parsed(Ok(parsed)) => Ok(RecordRef::parsed(self.format, bytes, parsed)),
            Next::Parsed(Err(error)) => Err(error),
        };
        record.map(Some).map_err(|error| bad(place, error))
    }

    /// The remaining records with all fields decoded. Ends after an I/O error.
    pub fn records(&mut self) -> impl Iterator<Item = Result<Record, Error>> {
        std::iter::from_fn(|| self.next_record().transpose())
    }

    fn next_record(&mut self) -> Result<Option<Record>, Error> {
        let Some(record) = self.read_record()? else { return Ok(None) };
        let record = record.record();
        record.map(Some).map_err(|error| bad(self.place, error))
    }

    /// Reads the next game, in formats that hold games. `None` at the end of the input. After reading a record, this is
    /// the game after the game of that record.
    ///
    /// # Errors
    /// The errors of [`Reader::read_record`]. In formats without games, every record is an error.
    pub fn read_game(&mut self) -> Result<Option<Game>, Error> {
        let skipped = std::mem::take(&mut self.records).len();
        self.index += skipped as u64;
        loop {
            match self.games.next() {
                Some(Err(error)) if error.kind == DecodeErrorKind::Comment => self.advance(1),
                Some(game) => {
                    self.advance(game.as_ref().map_or(1, |game| game.count_records() as u64));
                    return game.map(Some).map_err(|error| bad(self.place, error));
                }
                None if !self.buffered.next_chunk(self.format, self.index)? => return Ok(None),
                None if self.buffered.chunk().is_piece => {
                    self.advance(1);
                    return Err(bad(self.place, DecodeError::TOO_LONG));
                }
                None => self.read_chunk_games(),
            }
        }
    }

    /// The remaining games. Ends after an I/O error.
    pub fn games(&mut self) -> impl Iterator<Item = Result<Game, Error>> {
        std::iter::from_fn(|| self.read_game().transpose())
    }

    /// Finds the next record. `None` at the end of the input.
    fn next(&mut self) -> Result<Option<Next>, Error> {
        loop {
            if let Some(record) = self.records.next() {
                return Ok(Some(Next::Parsed(record)));
            }
            match self.games.next() {
                Some(Ok(game)) => {
                    self.records = records_of(&game).into_iter();
                    continue;
                }
                Some(Err(error)) => return Ok(Some(Next::Parsed(Err(error)))),
                None => {}
            }
            if !self.buffered.next_chunk(self.format, self.index)? {
                return Ok(None);
            }
            let chunk = self.buffered.chunk();
            if chunk.is_piece {
                return Ok(Some(Next::Piece));
            }
            if self.format.holds_games() {
                self.read_chunk_games();
            } else if let Some(records) =
                parsed_records(self.format, chunk.without_line_end(self.format))
            {
                self.records = records.into_iter();
            } else {
                return Ok(Some(Next::Whole));
            }
        }
    }

    fn read_chunk_games(&mut self) {
        let chunk = self.buffered.chunk().without_line_end(self.format);
        self.games = read_games(self.format, chunk).collect::<Vec<_>>().into_iter();
    }

    /// Advances the place by this number of records of the current chunk.
    fn advance(&mut self, records: u64) {
        self.place = RecordPlace { index: self.index, offset: self.buffered.chunk_offset() };
        self.index += records;
    }
}

fn bad(place: RecordPlace, error: DecodeError) -> Error {
    Error { place: Some(Place::Input(place)), kind: ErrorKind::Record(error.into()) }
}
