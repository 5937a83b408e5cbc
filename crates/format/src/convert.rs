//! Writing a record in any format: what is lost is reported, what is missing is never made up.
//!
//! A field that the target must hold and the source lacks is written only if a [`Fill`] names its value.

use std::fmt;
use std::iter;
use std::str::FromStr;

use thiserror::Error;

use super::error::{DecodeError, DecodeErrorKind, EncodeError};
use super::field::{Field, Fields};
use super::game::{Ending, Game, Played};
use super::layout::Tail;
use super::record::{GameResult, Parsed, Record, RecordRef};
use super::spec::Codec;
use super::transcode::Ahead;
use super::{Format, packed, sfen_text};
use kyokumen_shogi::Setup;

/// Values for fields that the source lacks.
///
/// ```
/// use kyokumen_format::Fill;
/// let fill: Fill = "eval=0,result=draw".parse().unwrap();
/// assert_eq!(fill.eval_cp, Some(0));
/// assert!("eval=best".parse::<Fill>().is_err());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Fill {
    /// Whether a missing move is to be written as "no move".
    pub no_move: bool,
    /// Evaluation in centipawns, seen from the side to move.
    pub eval_cp: Option<i16>,
    /// Move number.
    pub ply: Option<u16>,
    /// Who won the game.
    pub result: Option<GameResult>,
    /// Number of moves of the whole game.
    pub end_ply: Option<u16>,
}

/// Why a text is no [`Fill`].
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum FillError {
    #[error("{part:?} is not of the form field=value")]
    NoValue { part: String },
    #[error("unknown field {name:?}; known are move, eval, ply, result and end_ply")]
    UnknownField { name: String },
    #[error("{value:?} cannot be filled in for {field}; expected {expected}")]
    Value { field: Field, value: String, expected: &'static str },
    #[error("{field} is given twice")]
    Twice { field: Field },
}

impl Fill {
    const FILLABLE: Fields =
        Fields::of_all(&[Field::BestMove, Field::EvalCp, Field::Ply, Field::Result, Field::EndPly]);

    /// Fields that this names a value for.
    pub fn fields(&self) -> Fields {
        let named = [
            (Field::BestMove, self.no_move),
            (Field::EvalCp, self.eval_cp.is_some()),
            (Field::Ply, self.ply.is_some()),
            (Field::Result, self.result.is_some()),
            (Field::EndPly, self.end_ply.is_some()),
        ];
        named.into_iter().filter_map(|(field, given)| given.then_some(field)).collect()
    }

    /// The values that say least, for these fields: no move, an evaluation of 0, ply 0, a draw.
    ///
    /// ```
    /// use kyokumen_format::{Fields, Fill, Format};
    /// let fill = Fill::neutral(Format::Psv.needs());
    /// assert_eq!(fill.to_string(), "move=none,eval=0,ply=0,result=draw");
    /// ```
    pub fn neutral(fields: Fields) -> Self {
        Self {
            no_move: fields.contains(Field::BestMove),
            eval_cp: fields.contains(Field::EvalCp).then_some(0),
            ply: fields.contains(Field::Ply).then_some(0),
            result: fields.contains(Field::Result).then_some(GameResult::Draw),
            end_ply: fields.contains(Field::EndPly).then_some(0),
        }
    }

    /// Puts every missing field of `target` that this names into the moves of a game; what each was
    /// given.
    pub fn complete(&self, game: &mut Game, target: Format) -> Vec<Fields> {
        let target = target.fields();
        let mut common = Fields::NONE;
        if game.result.is_none() && self.result.is_some() && target.contains(Field::Result) {
            game.result = self.result;
            common = Fields::of(Field::Result);
        }
        let fill_eval = |played: &mut Played| {
            if played.eval_cp.is_none() && self.eval_cp.is_some() && target.contains(Field::EvalCp)
            {
                played.eval_cp = self.eval_cp;
                return common.union(Fields::of(Field::EvalCp));
            }
            common
        };
        game.moves.iter_mut().map(fill_eval).collect()
    }

    /// The record with every missing field of `target` that this names.
    fn apply(&self, record: &Record, target: Fields) -> Record {
        let mut record = record.clone();
        if target.contains(Field::EvalCp) {
            record.eval_cp = record.eval_cp.or(self.eval_cp);
        }
        if target.contains(Field::Result) {
            record.result = record.result.or(self.result);
        }
        if target.contains(Field::EndPly) {
            record.end_ply = record.end_ply.or(self.end_ply);
        }
        if target.contains(Field::Ply) && record.ply.is_none() {
            record.ply = self.ply;
            record.setup = match self.ply {
                Some(ply) => record.setup.with_ply(ply),
                None => record.setup,
            };
        }
        record
    }
}

impl Fill {
    /// Gives what is missing its value; the formats that do not hold it do not ask.
    pub(super) fn complete_tail(&self, tail: &mut Tail) {
        tail.eval_cp = tail.eval_cp.or(self.eval_cp);
        tail.ply = tail.ply.or(self.ply);
        tail.result = tail.result.or(self.result);
        tail.end_ply = tail.end_ply.or(self.end_ply);
    }
}

impl FromStr for Fill {
    type Err = FillError;

    /// Reads `eval=0,result=draw,ply=0,move=none` or any part of it, in any order.
    fn from_str(text: &str) -> Result<Self, FillError> {
        let mut fill = Self::default();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let Some((name, value)) = part.split_once('=') else {
                return Err(FillError::NoValue { part: part.to_owned() });
            };
            let (name, value) = (name.trim(), value.trim());
            let unknown = || FillError::UnknownField { name: name.to_owned() };
            let field = Field::ALL.into_iter().find(|field| field.name() == name);
            let field =
                field.filter(|&field| Self::FILLABLE.contains(field)).ok_or_else(unknown)?;
            if fill.fields().contains(field) {
                return Err(FillError::Twice { field });
            }
            fill.set(field, value).map_err(|expected| FillError::Value {
                field,
                value: value.to_owned(),
                expected,
            })?;
        }
        Ok(fill)
    }
}

impl Fill {
    /// Takes the value of a field, or says what would have been one.
    fn set(&mut self, field: Field, value: &str) -> Result<(), &'static str> {
        match field {
            Field::BestMove if value == "none" => self.no_move = true,
            Field::BestMove => return Err("none"),
            Field::EvalCp => {
                self.eval_cp = Some(value.parse().map_err(|_| "a number from -32768 to 32767")?);
            }
            Field::Ply => self.ply = Some(value.parse().map_err(|_| "a number from 0 to 65535")?),
            Field::EndPly => {
                self.end_ply = Some(value.parse().map_err(|_| "a number from 0 to 65535")?);
            }
            Field::Result => {
                self.result = Some(GameResult::from_name(value).ok_or("draw, black or white")?);
            }
            Field::Ending | Field::Candidates => {}
        }
        Ok(())
    }
}

impl fmt::Display for Fill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            self.no_move.then(|| "move=none".to_owned()),
            self.eval_cp.map(|eval_cp| format!("eval={eval_cp}")),
            self.ply.map(|ply| format!("ply={ply}")),
            self.result.map(|result| format!("result={}", result.name())),
            self.end_ply.map(|end_ply| format!("end_ply={end_ply}")),
        ];
        f.write_str(&parts.into_iter().flatten().collect::<Vec<_>>().join(","))
    }
}

/// What happened to the fields of a record when it was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Written {
    /// Fields that the record has and the format cannot hold.
    pub lost: Fields,
    /// Fields that the record lacks and that were filled in.
    pub invented: Fields,
}

/// What a conversion does to fields, known before a record is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plan {
    /// Fields that the source format can hold and the target cannot.
    pub lost: Fields,
    /// Fields that the target holds and the source never does: they are filled in. A plain SFEN always
    /// has a move number; where the source has none it is 1, and the ply is listed here.
    pub invented: Fields,
}

/// A conversion that would have to make something up, or that nothing can write.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum NoConversion {
    /// Fields that nothing gives a value.
    #[error("{to} needs {fields}, which {from} does not hold and no fill names")]
    Missing {
        /// Source format.
        from: Format,
        /// Target format.
        to: Format,
        /// Fields without a value.
        fields: Fields,
    },
    /// The target holds games, and the source no moves to make them of.
    #[error("{to} holds games, and {from} no moves")]
    NoMoves {
        /// Source format.
        from: Format,
        /// Target format.
        to: Format,
    },
    /// The target is only read.
    #[error("{to} can be read, not written")]
    OnlyRead {
        /// Target format.
        to: Format,
    },
}

/// Judges a conversion before it begins.
///
/// Text may lack fields in some lines only: that shows when they are converted.
///
/// # Errors
/// [`NoConversion`] if the target needs fields that the source format cannot hold and `fill` lacks, or
/// if it is never written.
pub fn conversion_plan(from: Format, to: Format, fill: &Fill) -> Result<Plan, NoConversion> {
    if !to.is_written() {
        return Err(NoConversion::OnlyRead { to });
    }
    if to.holds_games() && !from.fields().contains(Field::BestMove) {
        return Err(NoConversion::NoMoves { from, to });
    }
    let lacking = to.fields().without(from.fields());
    let fields = to.needs().without(from.fields()).without(fill.fields());
    if !fields.is_empty() {
        return Err(NoConversion::Missing { from, to, fields });
    }
    let mut invented = lacking.intersection(fill.fields());
    if to == Format::Sfen && from.fields().is_empty() {
        invented = invented.union(Fields::of(Field::Ply));
    }
    Ok(Plan { lost: from.fields().without(to.fields()), invented })
}

/// Appends a record in a format, canonically; text with its line end. After an error `out` is as before.
///
/// Formats that can leave a move out do so where the record has none, unless `fill` says "no move"; all
/// others write "no move". Whether the source said so or is silent is known to [`RecordRef::convert`].
///
/// # Errors
/// [`EncodeError`] if a king is missing or a field that neither the record nor `fill` has.
pub fn encode(
    format: Format,
    record: &Record,
    fill: &Fill,
    out: &mut Vec<u8>,
) -> Result<Written, EncodeError> {
    let said = record.fields();
    let start = out.len();
    write(format, record, fill, out).inspect_err(|_| out.truncate(start))?;
    let mut invented = format.fields().without(said).intersection(fill.fields());
    // "No move" alone is not worth columns.
    let telling = said.union(invented.without(Fields::of(Field::BestMove)));
    if format == Format::Sfen && sfen_text::is_plain(telling) {
        // A plain SFEN always has a move number.
        invented = invented.union(Fields::of(Field::Ply).without(said));
    }
    let mut lost = format.losses(said, record.ending);
    if format.holds_games() {
        // Of a game of one move the length says nothing.
        let result = record.result.or(fill.result);
        let of_game = format.lost_of_game(&record.setup, result, record.ending);
        lost = lost.union(said.intersection(of_game.union(Fields::of(Field::EndPly))));
    }
    Ok(Written { lost, invented })
}

impl Format {
    /// What is lost of a record with these fields when it is written in this format.
    pub fn losses(self, said: Fields, ending: Option<Ending>) -> Fields {
        let lost = said.without(self.fields());
        match ending {
            Some(ending) if !self.spec().endings.contains(&ending) => {
                lost.union(Fields::of(Field::Ending))
            }
            _ => lost,
        }
    }

    /// Whether a record with these fields, and what `fill` names, has all that this format needs.
    pub(super) fn check_needs(self, said: Fields, fill: &Fill) -> Result<(), EncodeError> {
        let fields = self.needs().without(said).without(fill.fields());
        if fields.is_empty() { Ok(()) } else { Err(EncodeError::Missing { fields }) }
    }

    /// What is lost of each record of a game that begins with this arrangement and ends so, besides
    /// [`Format::losses`]: the move number, where games of the format begin at 1.
    pub fn lost_of_game(
        self,
        start: &Setup,
        result: Option<GameResult>,
        ending: Option<Ending>,
    ) -> Fields {
        match &self.spec().codec {
            Codec::Games { lost, .. } => lost(start, (result, ending)),
            _ => Fields::NONE,
        }
    }
}

fn write(
    format: Format,
    record: &Record,
    fill: &Fill,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let filled = || fill.apply(record, format.fields());
    match &format.spec().codec {
        Codec::Packed(layout) => {
            format.check_needs(record.fields().union(Fields::of(Field::BestMove)), fill)?;
            let mut tail = Tail::from(record);
            fill.complete_tail(&mut tail);
            layout.append(&packed::encode(layout.family, &record.setup)?, &tail, out);
            Ok(())
        }
        Codec::Columns => {
            sfen_text::encode(&filled(), out);
            Ok(())
        }
        Codec::Records { write: Some(write), .. } => {
            let says_move = record.best_move.is_some() || fill.no_move;
            write(&Parsed { says_move, ..Parsed::from(filled()) }, out)
        }
        Codec::Games { write: Some(write), .. } => write(&Game::of_record(&filled())?, out),
        Codec::Records { write: None, .. } | Codec::Games { write: None, .. } => {
            Err(EncodeError::OnlyRead { format })
        }
    }
}

/// The games of a unit in order, each read when it is asked for; what is no game is an error, and so is
/// a unit of a format that holds none.
pub fn read_games(
    format: Format,
    unit: &[u8],
) -> impl Iterator<Item = Result<Game, DecodeError>> + use<'_> {
    match &format.spec().codec {
        Codec::Games { read, .. } => read(unit),
        _ => Box::new(iter::once(Err(DecodeErrorKind::Nothing.at(0)))),
    }
}

/// Appends a game in a format that holds games. After an error `out` is as before.
///
/// # Errors
/// [`EncodeError`] if the format cannot say what the game needs, or holds no games.
pub fn write_game(format: Format, game: &Game, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let Codec::Games { write: Some(write), .. } = &format.spec().codec else {
        return Err(EncodeError::OnlyRead { format });
    };
    let start = out.len();
    write(game, out).inspect_err(|_| out.truncate(start))
}

impl RecordRef<'_> {
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
        self.convert_ahead(to, fill, (&mut Ahead::default(), || &[]), out)
    }

    /// [`RecordRef::convert`] of one record after the other: where the bytes that are given on demand begin
    /// with the next one, its position may be transcoded with this one's.
    pub fn convert_ahead<'a>(
        &self,
        to: Format,
        fill: &Fill,
        ahead: (&mut Ahead, impl FnOnce() -> &'a [u8]),
        out: &mut Vec<u8>,
    ) -> Result<Written, ConvertError> {
        if let (Some(packed), Codec::Packed(target)) = (self.parts(), &to.spec().codec) {
            return self.transcode(packed, to, target, fill, ahead, out);
        }
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
        let said = self.fields();
        to.check_needs(said, fill)?;
        let fill = Fill { no_move: fill.no_move || said.contains(Field::BestMove), ..*fill };
        let mut written = encode(to, record, &fill, out)?;
        if said.contains(Field::BestMove) {
            written.invented = written.invented.without(Fields::of(Field::BestMove));
        }
        if self.has_malformed_move() {
            written.lost = written.lost.union(Fields::of(Field::BestMove));
        }
        Ok(written)
    }
}

/// Why a record cannot be converted.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ConvertError {
    /// The record cannot be read.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// The record cannot be written.
    #[error(transparent)]
    Encode(#[from] EncodeError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fills_are_read_in_any_order_and_written_in_one() {
        let fill: Fill = "eval=-5, result=draw,ply=0,move=none".parse().unwrap();
        assert_eq!(fill.to_string(), "move=none,eval=-5,ply=0,result=draw");
        assert_eq!(fill.fields(), Format::Psv.needs());
        assert_eq!("".parse(), Ok(Fill::default()));
        for (text, message) in [
            ("eval", "\"eval\" is not of the form field=value"),
            ("score=0", "unknown field \"score\"; known are move, eval, ply, result and end_ply"),
            ("ply=-1", "\"-1\" cannot be filled in for ply; expected a number from 0 to 65535"),
            ("eval=1,eval=2", "eval is given twice"),
        ] {
            assert_eq!(text.parse::<Fill>().unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn plans_name_what_is_lost_and_what_is_missing() {
        let none = Fill::default();
        let plan = conversion_plan(Format::Psv, Format::Hcpe, &none).unwrap();
        assert_eq!((plan.lost.to_string(), plan.invented), ("ply".into(), Fields::NONE));
        let plan = conversion_plan(Format::Psv, Format::Hcp, &none).unwrap();
        assert_eq!(plan.lost, Format::Psv.fields());
        let error = conversion_plan(Format::Hcpe, Format::Psv, &none).unwrap_err();
        assert_eq!(error.to_string(), "psv needs ply, which hcpe does not hold and no fill names");
        let fill = "ply=0".parse().unwrap();
        let plan = conversion_plan(Format::Hcpe, Format::Psv, &fill).unwrap();
        assert_eq!(plan.invented, Fields::of(Field::Ply));
        let error = conversion_plan(Format::Hcp, Format::Psv, &fill).unwrap_err();
        assert_eq!(
            error.to_string(),
            "psv needs move, eval, result, which hcp does not hold and no fill names"
        );
        let plan = conversion_plan(Format::Hcp, Format::Sfen, &none).unwrap();
        assert_eq!(plan.invented, Fields::of(Field::Ply));
        let plan = conversion_plan(Format::Hcpe, Format::Sfen, &none).unwrap();
        assert_eq!(plan.invented, Fields::NONE);
    }
}
