//! A record as borrowed bytes, decoded on demand.

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
    pub(crate) format: Format,
    pub(crate) bytes: &'a [u8],
    pub(crate) content: RecordContent<'a>,
}

/// A packed record in its parts.
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
    /// A record that was read as a whole.
    pub(crate) fn parsed(format: Format, bytes: &'a [u8], parsed: Parsed) -> Self {
        Self { format, bytes, content: RecordContent::Parsed(Box::new(parsed)) }
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
            RecordContent::Parsed(parsed) => parsed.own_bytes.as_deref(),
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
            RecordContent::Packed(Packed { layout, position, .. }) => packed::decode_with_ply(
                layout.family,
                position,
                layout.ply(self.bytes).unwrap_or(1),
            ),
            RecordContent::Columns(columns) => columns.record().map(|record| record.setup),
            RecordContent::Parsed(parsed) => Ok(parsed.record.setup.clone()),
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
            RecordContent::Packed(Packed { layout, dialect, .. }) => {
                Ok(layout.best_move(self.bytes, *dialect).and_then(Result::ok).flatten())
            }
            RecordContent::Columns(columns) => columns.best_move(),
            RecordContent::Parsed(parsed) => Ok(parsed.record.best_move),
        }
    }

    /// Evaluation in centipawns, seen from the side to move.
    ///
    /// # Errors
    /// [`DecodeError`] for a column of text that is no number of 16 bits.
    #[inline]
    pub fn eval_cp(&self) -> Result<Option<i16>, DecodeError> {
        match &self.content {
            RecordContent::Packed(Packed { layout, .. }) => Ok(layout.eval_cp(self.bytes)),
            RecordContent::Columns(columns) => columns.eval_cp(),
            RecordContent::Parsed(parsed) => Ok(parsed.record.eval_cp),
        }
    }

    /// Move number of the next move, from 1: of text the column, else the number in the SFEN.
    ///
    /// # Errors
    /// [`DecodeError`] for a column of text that is no number of 16 bits, or an SFEN that is none.
    #[inline]
    pub fn ply(&self) -> Result<Option<u16>, DecodeError> {
        match &self.content {
            RecordContent::Packed(Packed { layout, .. }) => Ok(layout.ply(self.bytes)),
            RecordContent::Columns(columns) => columns.ply(),
            RecordContent::Parsed(parsed) => Ok(parsed.record.ply),
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
            RecordContent::Packed(Packed { layout, .. }) => Ok(layout.result(self.bytes)),
            RecordContent::Columns(columns) => columns.result(),
            RecordContent::Parsed(parsed) => Ok(parsed.record.result),
        }
    }

    /// Why the game ended, where that is not mate or resignation.
    ///
    /// # Errors
    /// As yet none: columns of text do not say it.
    #[inline]
    pub fn ending(&self) -> Result<Option<Ending>, DecodeError> {
        match &self.content {
            RecordContent::Packed(Packed { layout, .. }) => Ok(layout.ending(self.bytes)),
            RecordContent::Columns(_) => Ok(None),
            RecordContent::Parsed(parsed) => Ok(parsed.record.ending),
        }
    }

    /// Number of moves of the whole game.
    ///
    /// # Errors
    /// As yet none: columns of text do not say it.
    #[inline]
    pub fn end_ply(&self) -> Result<Option<u16>, DecodeError> {
        match &self.content {
            RecordContent::Packed(Packed { layout, .. }) => Ok(layout.end_ply(self.bytes)),
            RecordContent::Columns(_) => Ok(None),
            RecordContent::Parsed(parsed) => Ok(parsed.record.end_ply),
        }
    }

    /// Everything the record says.
    ///
    /// # Errors
    /// [`DecodeError`], the first there is.
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

    /// Whether this is no record at all but a comment in a text.
    pub fn is_comment(&self) -> bool {
        matches!(&self.content, RecordContent::Columns(columns) if columns.is_comment())
    }

    /// Whether everything the record says can be read, at less cost than reading it.
    ///
    /// # Errors
    /// [`DecodeError`] as from [`RecordRef::record`].
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

    /// Fields that this record speaks of, if only to say, of a move, that there is none. Nothing is said
    /// about whether columns of text can be read.
    pub fn fields(&self) -> Fields {
        match &self.content {
            RecordContent::Packed(Packed { layout, dialect, .. }) => {
                layout.said(&layout.tail(self.bytes, *dialect))
            }
            RecordContent::Columns(columns) => columns.fields(),
            RecordContent::Parsed(parsed) => parsed.fields(),
        }
    }

    /// Whether the writer of the game says that the position is not to be trained on.
    #[inline]
    pub fn is_not_for_training(&self) -> bool {
        matches!(&self.content, RecordContent::Parsed(parsed) if parsed.record.is_not_for_training)
    }

    /// The stored move as its 16 bits, of packed records that have a place for one.
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
            RecordContent::Packed(Packed { layout, dialect, .. }) => {
                Ok(layout.warnings(self.bytes, *dialect))
            }
            RecordContent::Columns(columns) => columns.warnings(),
            RecordContent::Parsed(parsed) => Ok(parsed.warnings),
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
