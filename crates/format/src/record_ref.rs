//! A record as borrowed bytes. Fields are decoded on access.

use kyokumen_shogi::{Move, Position, Setup};

use crate::ending::Ending;
use crate::error::DecodeError;
use crate::field::Fields;
use crate::game_result::GameResult;
use crate::layout::Layout;
use crate::move16::Dialect;
use crate::record::{Parsed, Record};
use crate::sfen_text::Columns;
use crate::warning::{Warning, Warnings};
use crate::{Format, packed};

/// The bytes of one record. If the format allows it, each field is decoded on access.
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
    pub(crate) format: Format,
    pub(crate) bytes: &'a [u8],
    pub(crate) content: RecordContent<'a>,
}

/// The parts of a packed record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packed<'a> {
    pub(crate) layout: &'static Layout,
    pub(crate) dialect: Dialect,
    pub(crate) position: &'a [u8; packed::LEN],
}

#[derive(Clone, Debug)]
pub(crate) enum RecordContent<'a> {
    Packed(Packed<'a>),
    Columns(Columns<'a>),
    Parsed(Box<Parsed>),
}

impl<'a> RecordRef<'a> {
    /// A record that was decoded completely.
    pub(crate) fn parsed(format: Format, bytes: &'a [u8], parsed: Parsed) -> Self {
        Self { format, bytes, content: RecordContent::Parsed(Box::new(parsed)) }
    }

    /// The format of the bytes.
    pub const fn format(&self) -> Format {
        self.format
    }

    /// The bytes that the record was created from. For a record of a game or an sbinpack chunk, the bytes of the whole
    /// chunk.
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The bytes of the record alone, if it comes from a chunk with several records. `None` otherwise.
    pub fn own_bytes(&self) -> Option<&[u8]> {
        match &self.content {
            RecordContent::Parsed(parsed) => parsed.own_bytes.as_deref(),
            _ => None,
        }
    }

    /// Whether it is the first readable record of a game, in formats that hold games.
    pub fn starts_game(&self) -> bool {
        matches!(&self.content, RecordContent::Parsed(parsed) if parsed.starts_game)
    }

    /// The packed position and its family (Apery or YaneuraOu), which determines the encoding. `None` for other
    /// formats.
    #[inline]
    pub fn packed(&self) -> Option<(packed::Family, &'a [u8; packed::LEN])> {
        self.parts().map(|packed| (packed.layout.family, packed.position))
    }

    /// The position as stored. [`Position`] is the type of a position that has been checked by the rules. The move
    /// number is the record's, or 1 if the record has none.
    ///
    /// # Errors
    /// [`DecodeError`] if the bytes are not a position, or use more than one set of pieces.
    #[inline]
    pub fn setup(&self) -> Result<Setup, DecodeError> {
        match &self.content {
            RecordContent::Packed(Packed { layout, position, .. }) => packed::decode_with_ply(
                layout.family,
                position,
                layout.ply(self.bytes).unwrap_or(1),
            ),
            RecordContent::Columns(columns) => columns.record().map(|record| record.setup),
            RecordContent::Parsed(parsed) => Ok(parsed.record.setup.clone()),
        }
    }

    /// The stored move. `None` if there is none or if its bits are not a move, which is a [warning](Self::warnings).
    ///
    /// # Errors
    /// [`DecodeError`] if a text column is not a move.
    #[inline]
    pub fn best_move(&self) -> Result<Option<Move>, DecodeError> {
        match &self.content {
            RecordContent::Packed(Packed { layout, dialect, .. }) => {
                Ok(layout.best_move(self.bytes, *dialect).and_then(Result::ok).flatten())
            }
            RecordContent::Columns(columns) => columns.best_move(),
            RecordContent::Parsed(parsed) => Ok(parsed.record.best_move),
        }
    }

    /// Evaluation in centipawns, from the side to move.
    ///
    /// # Errors
    /// [`DecodeError`] if a text column is not a 16-bit number.
    #[inline]
    pub fn eval_cp(&self) -> Result<Option<i16>, DecodeError> {
        match &self.content {
            RecordContent::Packed(Packed { layout, .. }) => Ok(layout.eval_cp(self.bytes)),
            RecordContent::Columns(columns) => columns.eval_cp(),
            RecordContent::Parsed(parsed) => Ok(parsed.record.eval_cp),
        }
    }

    /// Move number of the next move, from 1. In text formats the ply column, or the number in the SFEN if there is no
    /// such column.
    ///
    /// # Errors
    /// [`DecodeError`] if a text column is not a 16-bit number, or if the SFEN is invalid.
    #[inline]
    pub fn ply(&self) -> Result<Option<u16>, DecodeError> {
        match &self.content {
            RecordContent::Packed(Packed { layout, .. }) => Ok(layout.ply(self.bytes)),
            RecordContent::Columns(columns) => columns.ply(),
            RecordContent::Parsed(parsed) => Ok(parsed.record.ply),
        }
    }

    /// Result of the game. `None` also for an unknown stored value, which is a [warning](Self::warnings).
    ///
    /// # Errors
    /// [`DecodeError`] if a text column is not a result.
    #[inline]
    pub fn result(&self) -> Result<Option<GameResult>, DecodeError> {
        match &self.content {
            RecordContent::Packed(Packed { layout, .. }) => Ok(layout.result(self.bytes)),
            RecordContent::Columns(columns) => columns.result(),
            RecordContent::Parsed(parsed) => Ok(parsed.record.result),
        }
    }

    /// Why the game ended, other than by mate or resignation.
    ///
    /// # Errors
    /// None at present.
    #[inline]
    pub fn ending(&self) -> Result<Option<Ending>, DecodeError> {
        match &self.content {
            RecordContent::Packed(Packed { layout, .. }) => Ok(layout.ending(self.bytes)),
            RecordContent::Columns(_) => Ok(None),
            RecordContent::Parsed(parsed) => Ok(parsed.record.ending),
        }
    }

    /// Number of the last move of the game.
    ///
    /// # Errors
    /// None at present.
    #[inline]
    pub fn end_ply(&self) -> Result<Option<u16>, DecodeError> {
        match &self.content {
            RecordContent::Packed(Packed { layout, .. }) => Ok(layout.end_ply(self.bytes)),
            RecordContent::Columns(_) => Ok(None),
            RecordContent::Parsed(parsed) => Ok(parsed.record.end_ply),
        }
    }

    /// All fields of the record.
    ///
    /// # Errors
    /// The first [`DecodeError`], if any field is invalid.
    pub fn record(&self) -> Result<Record, DecodeError> {
        match &self.content {
            RecordContent::Packed(Packed { layout, dialect, .. }) => {
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
            RecordContent::Columns(columns) => columns.record(),
            RecordContent::Parsed(parsed) => Ok(parsed.record.clone()),
        }
    }

    /// Whether this is a comment in a text and not a record.
    pub fn is_comment(&self) -> bool {
        matches!(&self.content, RecordContent::Columns(columns) if columns.is_comment())
    }

    /// Checks that all fields can be decoded. Faster than decoding them.
    ///
    /// # Errors
    /// The errors of [`RecordRef::record`].
    #[inline]
    pub fn check(&self) -> Result<(), DecodeError> {
        match &self.content {
            RecordContent::Packed(Packed { layout, position, .. }) => {
                packed::canonical(layout.family, position).map(drop)
            }
            RecordContent::Columns(columns) => columns.record().map(drop),
            RecordContent::Parsed(_) => Ok(()),
        }
    }

    /// The fields that the record states. An explicit "no move" counts as a field. Text columns are not validated.
    pub fn fields(&self) -> Fields {
        match &self.content {
            RecordContent::Packed(Packed { layout, dialect, .. }) => {
                layout.present(&layout.tail(self.bytes, *dialect))
            }
            RecordContent::Columns(columns) => columns.fields(),
            RecordContent::Parsed(parsed) => parsed.fields(),
        }
    }

    /// Whether the game marks the position as not to be used for training.
    #[inline]
    pub fn is_not_for_training(&self) -> bool {
        matches!(&self.content, RecordContent::Parsed(parsed) if parsed.record.is_not_for_training)
    }

    /// The 16 bits of the stored move of a packed record. `None` if the format has no move.
    pub fn move_bits(&self) -> Option<u16> {
        self.parts()?.layout.move_bits(self.bytes)
    }

    /// Whether the stored move is neither a move nor "no move".
    pub(crate) fn has_malformed_move(&self) -> bool {
        match &self.content {
            RecordContent::Packed(Packed { layout, dialect, .. }) => {
                layout.best_move(self.bytes, *dialect).is_some_and(|m| m.is_err())
            }
            RecordContent::Columns(_) | RecordContent::Parsed(_) => false,
        }
    }

    /// The parts of a packed record.
    pub(crate) const fn parts(&self) -> Option<Packed<'a>> {
        match self.content {
            RecordContent::Packed(packed) => Some(packed),
            _ => None,
        }
    }

    /// Unusual properties of a readable record.
    ///
    /// # Errors
    /// [`DecodeError`] if the record cannot be read.
    pub fn warnings(&self) -> Result<Warnings, DecodeError> {
        let setup = self.setup()?;
        let position = Position::try_from(&setup).ok();
        self.warnings_about(&setup, position.as_ref())
    }

    /// Unusual properties of the encoding of the record. Ignores its position and the legality of its move.
    ///
    /// # Errors
    /// [`DecodeError`] if a text column is invalid.
    pub fn writing_warnings(&self) -> Result<Warnings, DecodeError> {
        match &self.content {
            RecordContent::Packed(Packed { layout, dialect, .. }) => {
                Ok(layout.warnings(self.bytes, *dialect))
            }
            RecordContent::Columns(columns) => columns.warnings(),
            RecordContent::Parsed(parsed) => Ok(parsed.warnings),
        }
    }

    /// Like [`RecordRef::warnings`], for callers that already have the setup and, if it is valid, the position.
    ///
    /// # Errors
    /// [`DecodeError`] if a text column is invalid.
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
