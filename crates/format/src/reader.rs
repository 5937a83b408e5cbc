//! Reading records and games of any format, one after the other, from whatever can be read.

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

/// Reads the records of a file, or of whatever else can be read.
///
/// It keeps a buffer of its own: [`BufReader`](std::io::BufReader) gains nothing. Its memory is bounded: of a line
/// longer than [`MAX_LINE_BYTES`](super::MAX_LINE_BYTES) and a group longer than
/// [`MAX_GROUP_BYTES`](super::MAX_GROUP_BYTES) each piece of that size is an error. Compressed files are read through
/// their decompressor, as in `Reader::new(Format::Psv, zstd::Decoder::new(file)?)`. Comments in texts are passed over.
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
    /// What was read of the current chunk and not handed on.
    games: IntoIter<Result<Game, DecodeError>>,
    records: IntoIter<Result<Parsed, DecodeError>>,
    /// Number of the next record.
    index: u64,
    place: RecordPlace,
}

/// What comes next in the chunk that is read.
enum Next {
    /// The chunk is the record.
    Whole,
    Parsed(Result<Parsed, DecodeError>),
    Piece,
}

impl<R: Read> Reader<R> {
    /// Reads this format; nothing is read before it is asked for.
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

    /// The same for packed records whose moves are encoded in another way than the format's.
    #[must_use]
    pub fn with_dialect(self, dialect: Dialect) -> Self {
        Self { dialect, ..self }
    }

    /// Where the record or the game stands that was read last.
    pub const fn place(&self) -> RecordPlace {
        self.place
    }

    /// What is read; some of it may have been read ahead.
    pub fn into_inner(self) -> R {
        self.buffered.into_input()
    }

    /// The next record, still as bytes where the format allows it; none behind the last one.
    ///
    /// What is wrong with packed records and lines of SFEN shows only when they are asked for what they say.
    ///
    /// # Errors
    /// [`Error`]. Unless it is an I/O error, the next record can be read.
    pub fn read_record(&mut self) -> Result<Option<RecordRef<'_>>, Error> {
        let next = loop {
            let Some(next) = self.next()? else { return Ok(None) };
            self.pass(1);
            match &next {
                Next::Whole if self.format.is_remark(self.buffered.chunk().bytes) => {}
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

    /// The records that are left, with all that they say. Behind an I/O error there are none.
    pub fn records(&mut self) -> impl Iterator<Item = Result<Record, Error>> {
        std::iter::from_fn(|| self.next_record().transpose())
    }

    fn next_record(&mut self) -> Result<Option<Record>, Error> {
        let Some(record) = self.read_record()? else { return Ok(None) };
        let record = record.record();
        record.map(Some).map_err(|error| bad(self.place, error))
    }

    /// The next game, of formats that hold games; none behind the last one. Between records it is the game that
    /// follows the one of the last record.
    ///
    /// # Errors
    /// As [`Reader::read_record`]; of a format that holds no games every record is one.
    pub fn read_game(&mut self) -> Result<Option<Game>, Error> {
        let skipped = std::mem::take(&mut self.records).len();
        self.index += skipped as u64;
        loop {
            match self.games.next() {
                Some(Err(error)) if error.kind == DecodeErrorKind::Comment => self.pass(1),
                Some(game) => {
                    self.pass(game.as_ref().map_or(1, |game| game.count_records() as u64));
                    return game.map(Some).map_err(|error| bad(self.place, error));
                }
                None if !self.buffered.next_chunk(self.format, self.index)? => return Ok(None),
                None if self.buffered.chunk().is_piece => {
                    self.pass(1);
                    return Err(bad(self.place, DecodeError::TOO_LONG));
                }
                None => self.read_chunk_games(),
            }
        }
    }

    /// The games that are left. Behind an I/O error there are none.
    pub fn games(&mut self) -> impl Iterator<Item = Result<Game, Error>> {
        std::iter::from_fn(|| self.read_game().transpose())
    }

    /// Looks for the next record; none behind the last one.
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

    /// Goes behind so many records of the current chunk.
    fn pass(&mut self, records: u64) {
        self.place = RecordPlace { index: self.index, offset: self.buffered.chunk_offset() };
        self.index += records;
    }
}

fn bad(place: RecordPlace, error: DecodeError) -> Error {
    Error { place: Some(Place::Input(place)), kind: ErrorKind::Record(error.into()) }
}
