//! One record: borrowed bytes that are decoded on demand, and the content all formats share.
//!
//! Accessors of the formats' own files do the reading; this is the face they have in common.

use crate::shogi::{Color, Move, Position, Setup};

use super::convert::{ConvertError, Fill, Written, encode};
use super::error::{DecodeError, DecodeErrorKind, EncodeError};
use super::field::{Field, Fields};
use super::packed::{self, Family};
use super::warning::{Warning, Warnings};
use super::{Format, hcpe, psv, sfen_text};

/// How a game ended, whoever is to move.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum GameResult {
    Draw,
    BlackWin,
    WhiteWin,
}

impl GameResult {
    /// Who won.
    pub const fn winner(self) -> Option<Color> {
        match self {
            Self::Draw => None,
            Self::BlackWin => Some(Color::Black),
            Self::WhiteWin => Some(Color::White),
        }
    }

    /// A victory of this side.
    pub const fn win_of(color: Color) -> Self {
        match color {
            Color::Black => Self::BlackWin,
            Color::White => Self::WhiteWin,
        }
    }
}

/// What a record says. `None` where the format or this record does not say it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    /// The arrangement. Its move number is [`Record::ply`] where there is one.
    pub setup: Setup,
    /// The move stored with the position; not necessarily legal.
    pub best_move: Option<Move>,
    /// Evaluation in centipawns, seen from the side to move.
    pub eval_cp: Option<i16>,
    /// Move number of the next move, from 1.
    pub ply: Option<u16>,
    /// How the game ended.
    pub result: Option<GameResult>,
}

impl Record {
    /// Fields that the record has a value for.
    pub fn fields(&self) -> Fields {
        let said = [
            (Field::BestMove, self.best_move.is_some()),
            (Field::EvalCp, self.eval_cp.is_some()),
            (Field::Ply, self.ply.is_some()),
            (Field::Result, self.result.is_some()),
        ];
        said.into_iter().filter_map(|(field, said)| said.then_some(field)).collect()
    }
}

/// The bytes of one record; nothing is decoded before it is asked for.
///
/// ```
/// use kyokumen::format::{Format, RecordRef};
/// let line = b"4k4/9/9/9/9/9/9/9/4K4 w - 7\t5a5b\t-30\t7\tb";
/// let record = RecordRef::new(Format::Sfen, line).unwrap();
/// assert_eq!(record.eval_cp(), Ok(Some(-30)));
/// assert_eq!(record.setup().unwrap().ply(), 7);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct RecordRef<'a> {
    format: Format,
    bytes: &'a [u8],
    layout: Layout<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Layout<'a> {
    Hcp(&'a [u8; packed::LEN]),
    Hcpe(&'a [u8; packed::LEN], hcpe::Tail),
    Psv(&'a [u8; packed::LEN], psv::Tail),
    Sfen(sfen_text::Columns<'a>),
}

impl<'a> RecordRef<'a> {
    /// Takes the bytes of one record; of text, the line without its end.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Length`] if the number of bytes is not that of a record: the truncated end
    /// of a file. Nothing else is judged.
    #[inline]
    pub fn new(format: Format, bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let layout = match format {
            Format::Hcp => bytes.try_into().ok().map(Layout::Hcp),
            Format::Hcpe => split(bytes).map(|(position, tail)| Layout::Hcpe(position, tail)),
            Format::Psv => split(bytes).map(|(position, tail)| Layout::Psv(position, tail)),
            Format::Sfen => Some(Layout::Sfen(sfen_text::Columns::split(bytes))),
        };
        let Some(layout) = layout else {
            let (expected, found) = (format.record_len().unwrap_or(0), bytes.len());
            return Err(DecodeErrorKind::Length { expected, found }.at(found.min(expected)));
        };
        Ok(Self { format, bytes, layout })
    }

    /// The format of the bytes.
    pub const fn format(&self) -> Format {
        self.format
    }

    /// The bytes as they were given.
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The arrangement; its move number is that of the record, 1 where the record has none.
    ///
    /// # Errors
    /// [`DecodeError`] if the bytes describe no arrangement of at most one set of pieces.
    #[inline]
    pub fn setup(&self) -> Result<Setup, DecodeError> {
        match self.layout {
            Layout::Hcp(position) | Layout::Hcpe(position, _) => {
                packed::decode(Family::Apery, position)
            }
            Layout::Psv(position, tail) => {
                Ok(packed::decode(Family::YaneuraOu, position)?.with_ply(tail.ply()))
            }
            Layout::Sfen(columns) => columns.record().map(|record| record.setup),
        }
    }

    /// The stored move; `None` where there is none or where its bits are no move, which is a
    /// [warning](Self::warnings).
    ///
    /// # Errors
    /// [`DecodeError`] for a column of text that is no move.
    #[inline]
    pub fn best_move(&self) -> Result<Option<Move>, DecodeError> {
        match self.layout {
            Layout::Hcp(_) => Ok(None),
            Layout::Hcpe(_, tail) => Ok(tail.best_move().unwrap_or(None)),
            Layout::Psv(_, tail) => Ok(tail.best_move().unwrap_or(None)),
            Layout::Sfen(columns) => columns.best_move(),
        }
    }

    /// Evaluation in centipawns, seen from the side to move.
    ///
    /// # Errors
    /// [`DecodeError`] for a column of text that is no number of 16 bits.
    #[inline]
    pub fn eval_cp(&self) -> Result<Option<i16>, DecodeError> {
        match self.layout {
            Layout::Hcp(_) => Ok(None),
            Layout::Hcpe(_, tail) => Ok(Some(tail.eval_cp())),
            Layout::Psv(_, tail) => Ok(Some(tail.eval_cp())),
            Layout::Sfen(columns) => columns.eval_cp(),
        }
    }

    /// Move number of the next move, from 1: of text the column, else the number in the SFEN.
    ///
    /// # Errors
    /// [`DecodeError`] for a column of text that is no number of 16 bits, or an SFEN that is none.
    #[inline]
    pub fn ply(&self) -> Result<Option<u16>, DecodeError> {
        match self.layout {
            Layout::Hcp(_) | Layout::Hcpe(..) => Ok(None),
            Layout::Psv(_, tail) => Ok(Some(tail.ply())),
            Layout::Sfen(columns) => columns.ply(),
        }
    }

    /// How the game ended; `None` also for a stored value without a meaning, which is a
    /// [warning](Self::warnings).
    ///
    /// # Errors
    /// [`DecodeError`] for a column of text that is no result.
    #[inline]
    pub fn result(&self) -> Result<Option<GameResult>, DecodeError> {
        match self.layout {
            Layout::Hcp(_) => Ok(None),
            Layout::Hcpe(_, tail) => Ok(tail.result()),
            Layout::Psv(position, tail) => Ok(tail.result(side_to_move(position))),
            Layout::Sfen(columns) => columns.result(),
        }
    }

    /// Everything the record says.
    ///
    /// # Errors
    /// [`DecodeError`], the first there is.
    pub fn record(&self) -> Result<Record, DecodeError> {
        if let Layout::Sfen(columns) = self.layout {
            return columns.record();
        }
        Ok(Record {
            setup: self.setup()?,
            best_move: self.best_move()?,
            eval_cp: self.eval_cp()?,
            ply: self.ply()?,
            result: self.result()?,
        })
    }

    /// Appends the record in a format, canonically, the record's own format included; text with its
    /// line end. After an error `out` is as before.
    ///
    /// # Errors
    /// [`ConvertError`] if the record cannot be read, or lacks a king or a field that `to` must hold
    /// and `fill` does not name.
    pub fn convert(
        &self,
        to: Format,
        fill: &Fill,
        out: &mut Vec<u8>,
    ) -> Result<Written, ConvertError> {
        Ok(self.convert_content(&self.record()?, to, fill, out)?)
    }

    /// [`RecordRef::convert`] for callers who have read [`RecordRef::record`] already.
    ///
    /// # Errors
    /// [`EncodeError`] if the record lacks a king or fields that `to` must hold and `fill` does not name.
    pub fn convert_content(
        &self,
        record: &Record,
        to: Format,
        fill: &Fill,
        out: &mut Vec<u8>,
    ) -> Result<Written, EncodeError> {
        let says_move = match self.layout {
            Layout::Hcp(_) => false,
            Layout::Hcpe(..) | Layout::Psv(..) => true,
            Layout::Sfen(columns) => columns.says_move(),
        };
        let mut said = record.fields();
        if says_move {
            said = said.union(Fields::of(Field::BestMove));
        }
        let missing = to.fields().without(said).without(fill.fields());
        if to != Format::Sfen && !missing.is_empty() {
            return Err(EncodeError::Missing { fields: missing });
        }
        let mut written = encode(to, record, fill, out)?;
        if says_move {
            written.invented = written.invented.without(Fields::of(Field::BestMove));
        }
        if self.has_malformed_move() {
            written.lost = written.lost.union(Fields::of(Field::BestMove));
        }
        Ok(written)
    }

    /// Whether the stored move is neither a move nor "no move".
    fn has_malformed_move(&self) -> bool {
        match self.layout {
            Layout::Hcpe(_, tail) => tail.best_move().is_err(),
            Layout::Psv(_, tail) => tail.best_move().is_err(),
            Layout::Hcp(_) | Layout::Sfen(_) => false,
        }
    }

    /// What is unusual about the record though it can be read.
    ///
    /// # Errors
    /// [`DecodeError`] if it cannot.
    pub fn warnings(&self) -> Result<Warnings, DecodeError> {
        let setup = self.setup()?;
        let position = Position::try_from(&setup).ok();
        self.warnings_about(&setup, position.as_ref())
    }

    /// [`RecordRef::warnings`] for callers who have the setup already, and the position if it is one.
    ///
    /// # Errors
    /// [`DecodeError`] for columns of text that cannot be read.
    pub fn warnings_about(
        &self,
        setup: &Setup,
        position: Option<&Position>,
    ) -> Result<Warnings, DecodeError> {
        let mut warnings = match self.layout {
            Layout::Hcp(_) => Warnings::NONE,
            Layout::Hcpe(_, tail) => tail.warnings(),
            Layout::Psv(_, tail) => tail.warnings(),
            Layout::Sfen(columns) => columns.warnings()?,
        };
        warnings.extend(setup.warnings().into_iter().map(Warning::from));
        match (position, self.best_move()?) {
            (None, _) => warnings.insert(Warning::OpponentInCheck),
            (Some(position), Some(m)) if !position.is_legal(m) => {
                warnings.insert(Warning::MoveIllegal);
            }
            _ => {}
        }
        Ok(warnings)
    }
}

fn split<const N: usize, T: From<[u8; N]>>(bytes: &[u8]) -> Option<(&[u8; packed::LEN], T)> {
    let (position, tail) = bytes.split_first_chunk()?;
    let tail: [u8; N] = tail.try_into().ok()?;
    Some((position, tail.into()))
}

/// Side to move of a packed position of either family: its first bit.
const fn side_to_move(position: &[u8; packed::LEN]) -> Color {
    if position[0] & 1 == 0 { Color::Black } else { Color::White }
}
