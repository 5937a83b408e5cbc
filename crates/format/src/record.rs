//! One record: borrowed bytes that are decoded on demand, and the content all formats share.
//!
//! Accessors of the formats' own files do the reading; this is the face they have in common.

use kyokumen_shogi::{Color, Move, Position, Setup};

use super::error::{DecodeError, DecodeErrorKind, EncodeError};
use super::field::{Field, Fields};
use super::game::{Candidate, Ending};
use super::layout::Layout;
use super::move16::Dialect;
use super::packed;
use super::sfen_text::Columns;
use super::spec::Codec;
use super::warning::{Warning, Warnings};
use super::{Format, records};

/// Who won a game, whoever is to move.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum GameResult {
    Draw,
    BlackWin,
    WhiteWin,
}

impl GameResult {
    /// Every result.
    pub const ALL: [Self; 3] = [Self::Draw, Self::BlackWin, Self::WhiteWin];

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

    /// The word in reports, in JSON and in `--fill`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Draw => "draw",
            Self::BlackWin => "black",
            Self::WhiteWin => "white",
        }
    }

    /// The result with this [`GameResult::name`].
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|result| result.name() == name)
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
    /// Who won the game.
    pub result: Option<GameResult>,
    /// Why the game ended, where that is not mate or resignation.
    pub ending: Option<Ending>,
    /// Number of moves of the whole game.
    pub end_ply: Option<u16>,
    /// Moves that a search tried, in the order of the writer.
    pub candidates: Vec<Candidate>,
    /// Whether the writer of the game says that the position is not to be trained on.
    pub is_not_for_training: bool,
}

impl Record {
    /// A record that says nothing but the position.
    pub const fn new(setup: Setup) -> Self {
        Self {
            setup,
            best_move: None,
            eval_cp: None,
            ply: None,
            result: None,
            ending: None,
            end_ply: None,
            candidates: Vec::new(),
            is_not_for_training: false,
        }
    }

    /// The same with left and right of the board exchanged, moves included.
    #[must_use]
    pub fn mirrored(self) -> Self {
        Self {
            setup: self.setup.mirrored(),
            best_move: self.best_move.map(Move::mirrored),
            candidates: self.candidates.into_iter().map(Candidate::mirrored).collect(),
            ..self
        }
    }

    /// Fields that the record has a value for.
    pub fn fields(&self) -> Fields {
        let said = [
            (Field::BestMove, self.best_move.is_some()),
            (Field::EvalCp, self.eval_cp.is_some()),
            (Field::Ply, self.ply.is_some()),
            (Field::Result, self.result.is_some()),
            (Field::Ending, self.ending.is_some()),
            (Field::EndPly, self.end_ply.is_some()),
            // Not to be trained on: said by the number of candidates, 0.
            (Field::Candidates, !self.candidates.is_empty() || self.is_not_for_training),
        ];
        said.into_iter().filter_map(|(field, said)| said.then_some(field)).collect()
    }
}

/// A record as formats read and write it that have no places for single fields.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Parsed {
    pub(super) record: Record,
    /// Whether it speaks of a move, if only to say that there is none.
    pub(super) says_move: bool,
    /// What is unusual about how it is written.
    pub(super) warnings: Warnings,
    /// Its bytes, where those of its unit are also others'.
    pub(super) own_bytes: Option<Vec<u8>>,
}

impl Parsed {
    /// Fields that the record speaks of, if only to say that there is no move.
    pub(super) fn fields(&self) -> Fields {
        let said = self.record.fields();
        if self.says_move { said.union(Fields::of(Field::BestMove)) } else { said }
    }

    /// Whether it speaks of everything that a format needs.
    pub(super) fn check(&self, needs: Fields) -> Result<(), EncodeError> {
        let fields = needs.without(self.fields());
        if fields.is_empty() { Ok(()) } else { Err(EncodeError::Missing { fields }) }
    }
}

impl From<Record> for Parsed {
    fn from(record: Record) -> Self {
        Self {
            says_move: record.best_move.is_some(),
            record,
            warnings: Warnings::NONE,
            own_bytes: None,
        }
    }
}

/// The bytes of one record; nothing is decoded before it is asked for where the format allows it.
///
/// ```
/// use kyokumen_format::{Format, RecordRef};
/// let line = b"4k4/9/9/9/9/9/9/9/4K4 w - 7\t5a5b\t-30\t7\tb";
/// let record = RecordRef::new(Format::Sfen, line).unwrap();
/// assert_eq!(record.eval_cp(), Ok(Some(-30)));
/// assert_eq!(record.setup().unwrap().ply(), 7);
/// ```
#[derive(Clone, Debug)]
pub struct RecordRef<'a> {
    format: Format,
    bytes: &'a [u8],
    content: Content<'a>,
}

/// A packed record in its parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packed<'a> {
    pub(super) layout: &'static Layout,
    pub(super) dialect: Dialect,
    pub(super) position: &'a [u8; packed::LEN],
}

#[derive(Clone, Debug)]
enum Content<'a> {
    Packed(Packed<'a>),
    Columns(Columns<'a>),
    Parsed(Box<Parsed>),
}

impl<'a> RecordRef<'a> {
    /// Takes the bytes of one record; of text, the line without its end. Of a group of records, the
    /// first one: [`records`](super::records) yields all.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Length`] if the number of bytes is not that of a record: the truncated end
    /// of a file. Of packed formats and of SFEN text nothing else is judged.
    #[inline]
    pub fn new(format: Format, bytes: &'a [u8]) -> Result<Self, DecodeError> {
        Self::with_dialect(format, format.dialect(), bytes)
    }

    /// [`RecordRef::new`] for packed records whose moves are encoded in another way than the format's.
    ///
    /// # Errors
    /// As [`RecordRef::new`].
    #[inline]
    pub fn with_dialect(
        format: Format,
        dialect: Dialect,
        bytes: &'a [u8],
    ) -> Result<Self, DecodeError> {
        let content = match &format.spec().codec {
            Codec::Packed(layout) => match bytes.first_chunk() {
                Some(position) if bytes.len() == layout.len => {
                    Content::Packed(Packed { layout, dialect, position })
                }
                _ => {
                    let (expected, found) = (layout.len, bytes.len());
                    return Err(DecodeErrorKind::Length { expected, found }.at(found.min(expected)));
                }
            },
            Codec::Columns => Content::Columns(Columns::split(bytes)),
            Codec::Records { .. } | Codec::Games { .. } => {
                let first = records(format, dialect, bytes).next();
                return first.unwrap_or(Err(DecodeErrorKind::Nothing.at(0)));
            }
        };
        Ok(Self { format, bytes, content })
    }

    /// A record that was read as a whole.
    pub(super) fn parsed(format: Format, bytes: &'a [u8], parsed: Parsed) -> Self {
        Self { format, bytes, content: Content::Parsed(Box::new(parsed)) }
    }

    /// The format of the bytes.
    pub const fn format(&self) -> Format {
        self.format
    }

    /// The bytes as they were given; of a record out of a group, those of the group.
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Its bytes, where it was read out of a group whose bytes are also others'.
    pub fn own_bytes(&self) -> Option<&[u8]> {
        match &self.content {
            Content::Parsed(parsed) => parsed.own_bytes.as_deref(),
            _ => None,
        }
    }

    /// The packed position with its alphabet, where that is what the record holds.
    #[inline]
    pub fn packed(&self) -> Option<(packed::Family, &'a [u8; packed::LEN])> {
        self.parts().map(|packed| (packed.layout.family, packed.position))
    }

    /// The arrangement; its move number is that of the record, 1 where the record has none.
    ///
    /// # Errors
    /// [`DecodeError`] if the bytes describe no arrangement of at most one set of pieces.
    #[inline]
    pub fn setup(&self) -> Result<Setup, DecodeError> {
        match &self.content {
            Content::Packed(Packed { layout, position, .. }) => packed::decode_with_ply(
                layout.family,
                position,
                layout.ply(self.bytes).unwrap_or(1),
            ),
            Content::Columns(columns) => columns.record().map(|record| record.setup),
            Content::Parsed(parsed) => Ok(parsed.record.setup.clone()),
        }
    }

    /// The stored move; `None` where there is none or where its bits are no move, which is a
    /// [warning](Self::warnings).
    ///
    /// # Errors
    /// [`DecodeError`] for a column of text that is no move.
    #[inline]
    pub fn best_move(&self) -> Result<Option<Move>, DecodeError> {
        match &self.content {
            Content::Packed(Packed { layout, dialect, .. }) => {
                Ok(layout.best_move(self.bytes, *dialect).and_then(Result::ok).flatten())
            }
            Content::Columns(columns) => columns.best_move(),
            Content::Parsed(parsed) => Ok(parsed.record.best_move),
        }
    }

    /// Evaluation in centipawns, seen from the side to move.
    ///
    /// # Errors
    /// [`DecodeError`] for a column of text that is no number of 16 bits.
    #[inline]
    pub fn eval_cp(&self) -> Result<Option<i16>, DecodeError> {
        match &self.content {
            Content::Packed(Packed { layout, .. }) => Ok(layout.eval_cp(self.bytes)),
            Content::Columns(columns) => columns.eval_cp(),
            Content::Parsed(parsed) => Ok(parsed.record.eval_cp),
        }
    }

    /// Move number of the next move, from 1: of text the column, else the number in the SFEN.
    ///
    /// # Errors
    /// [`DecodeError`] for a column of text that is no number of 16 bits, or an SFEN that is none.
    #[inline]
    pub fn ply(&self) -> Result<Option<u16>, DecodeError> {
        match &self.content {
            Content::Packed(Packed { layout, .. }) => Ok(layout.ply(self.bytes)),
            Content::Columns(columns) => columns.ply(),
            Content::Parsed(parsed) => Ok(parsed.record.ply),
        }
    }

    /// Who won the game; `None` also for a stored value without a meaning, which is a
    /// [warning](Self::warnings).
    ///
    /// # Errors
    /// [`DecodeError`] for a column of text that is no result.
    #[inline]
    pub fn result(&self) -> Result<Option<GameResult>, DecodeError> {
        match &self.content {
            Content::Packed(Packed { layout, .. }) => Ok(layout.result(self.bytes)),
            Content::Columns(columns) => columns.result(),
            Content::Parsed(parsed) => Ok(parsed.record.result),
        }
    }

    /// Everything the record says.
    ///
    /// # Errors
    /// [`DecodeError`], the first there is.
    pub fn record(&self) -> Result<Record, DecodeError> {
        match &self.content {
            Content::Packed(Packed { layout, dialect, .. }) => {
                let tail = layout.tail(self.bytes, *dialect);
                Ok(Record {
                    best_move: tail.best_move,
                    eval_cp: tail.eval_cp,
                    ply: tail.ply,
                    result: tail.result,
                    ending: tail.ending,
                    end_ply: tail.end_ply,
                    ..Record::new(self.setup()?)
                })
            }
            Content::Columns(columns) => columns.record(),
            Content::Parsed(parsed) => Ok(parsed.record.clone()),
        }
    }

    /// Whether this is no record at all but a comment in a text.
    pub fn is_comment(&self) -> bool {
        matches!(&self.content, Content::Columns(columns) if columns.is_comment())
    }

    /// Whether everything the record says can be read, at less cost than reading it.
    ///
    /// # Errors
    /// [`DecodeError`] as from [`RecordRef::record`].
    #[inline]
    pub fn check(&self) -> Result<(), DecodeError> {
        match &self.content {
            Content::Packed(Packed { layout, position, .. }) => {
                packed::canonical(layout.family, position).map(drop)
            }
            Content::Columns(columns) => columns.record().map(drop),
            Content::Parsed(_) => Ok(()),
        }
    }

    /// Fields that this record speaks of, if only to say, of a move, that there is none. Nothing is said
    /// about whether columns of text can be read.
    pub fn fields(&self) -> Fields {
        match &self.content {
            Content::Packed(Packed { layout, dialect, .. }) => {
                layout.said(&layout.tail(self.bytes, *dialect))
            }
            Content::Columns(columns) => columns.fields(),
            Content::Parsed(parsed) => parsed.fields(),
        }
    }

    /// Whether the writer of the game says that the position is not to be trained on.
    #[inline]
    pub fn is_not_for_training(&self) -> bool {
        matches!(&self.content, Content::Parsed(parsed) if parsed.record.is_not_for_training)
    }

    /// The stored move as its 16 bits, of packed records that have a place for one.
    pub fn move_bits(&self) -> Option<u16> {
        self.parts()?.layout.move_bits(self.bytes)
    }

    /// Whether the stored move is neither a move nor "no move".
    pub(super) fn has_malformed_move(&self) -> bool {
        match &self.content {
            Content::Packed(Packed { layout, dialect, .. }) => {
                layout.best_move(self.bytes, *dialect).is_some_and(|m| m.is_err())
            }
            Content::Columns(_) | Content::Parsed(_) => false,
        }
    }

    /// The parts of a packed record.
    pub(super) const fn parts(&self) -> Option<Packed<'a>> {
        match self.content {
            Content::Packed(packed) => Some(packed),
            _ => None,
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

    /// What is unusual about how the record is written, its position and the rules left aside.
    ///
    /// # Errors
    /// [`DecodeError`] for columns of text that cannot be read.
    pub fn writing_warnings(&self) -> Result<Warnings, DecodeError> {
        match &self.content {
            Content::Packed(Packed { layout, dialect, .. }) => {
                Ok(layout.warnings(self.bytes, *dialect))
            }
            Content::Columns(columns) => columns.warnings(),
            Content::Parsed(parsed) => Ok(parsed.warnings),
        }
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
        let mut warnings = self.writing_warnings()?;
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
