//! Writing a record in any format: what is lost is reported, what is missing is never made up.
//!
//! A field that the target must hold and the source lacks is written only if a [`Fill`] names its value.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::error::{DecodeError, EncodeError};
use super::field::{Field, Fields};
use super::record::{GameResult, Record};
use super::{Format, hcp, hcpe, psv, sfen_text};

/// Values for fields that the source lacks.
///
/// ```
/// use kyokumen::format::Fill;
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
    /// How the game ended.
    pub result: Option<GameResult>,
}

/// Why a text is no [`Fill`].
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum FillError {
    #[error("{part:?} is not of the form field=value")]
    NoValue { part: String },
    #[error("unknown field {name:?}; known are move, eval, ply and result")]
    UnknownField { name: String },
    #[error("{value:?} cannot be filled in for {field}; expected {expected}")]
    Value { field: Field, value: String, expected: &'static str },
    #[error("{field} is given twice")]
    Twice { field: Field },
}

impl Fill {
    /// Fields that this names a value for.
    pub fn fields(&self) -> Fields {
        let named = [
            (Field::BestMove, self.no_move),
            (Field::EvalCp, self.eval_cp.is_some()),
            (Field::Ply, self.ply.is_some()),
            (Field::Result, self.result.is_some()),
        ];
        named.into_iter().filter_map(|(field, given)| given.then_some(field)).collect()
    }

    /// The values that say least, for these fields: no move, an evaluation of 0, ply 0, a draw.
    ///
    /// ```
    /// use kyokumen::format::{Fill, Fields};
    /// assert_eq!(Fill::neutral(Fields::ALL).to_string(), "move=none,eval=0,ply=0,result=draw");
    /// ```
    pub fn neutral(fields: Fields) -> Self {
        Self {
            no_move: fields.contains(Field::BestMove),
            eval_cp: fields.contains(Field::EvalCp).then_some(0),
            ply: fields.contains(Field::Ply).then_some(0),
            result: fields.contains(Field::Result).then_some(GameResult::Draw),
        }
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
            let Some(field) = Field::ALL.into_iter().find(|field| field.name() == name) else {
                return Err(FillError::UnknownField { name: name.to_owned() });
            };
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
            Field::Result => {
                self.result = Some(match value {
                    "draw" => GameResult::Draw,
                    "black" => GameResult::BlackWin,
                    "white" => GameResult::WhiteWin,
                    _ => return Err("draw, black or white"),
                });
            }
        }
        Ok(())
    }
}

impl fmt::Display for Fill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let result = self.result.map(|result| match result {
            GameResult::Draw => "draw",
            GameResult::BlackWin => "black",
            GameResult::WhiteWin => "white",
        });
        let parts = [
            self.no_move.then(|| "move=none".to_owned()),
            self.eval_cp.map(|eval_cp| format!("eval={eval_cp}")),
            self.ply.map(|ply| format!("ply={ply}")),
            result.map(|result| format!("result={result}")),
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

/// A conversion that would have to make something up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("{to} needs {fields}, which {from} does not hold and no fill names")]
pub struct MissingFill {
    /// Source format.
    pub from: Format,
    /// Target format.
    pub to: Format,
    /// Fields without a value.
    pub fields: Fields,
}

/// Judges a conversion before it begins.
///
/// Text may lack fields in some lines only: that shows when they are converted.
///
/// # Errors
/// [`MissingFill`] if the target needs fields that the source format cannot hold and `fill` lacks.
pub fn conversion_plan(from: Format, to: Format, fill: &Fill) -> Result<Plan, MissingFill> {
    let lacking = to.fields().without(from.fields());
    let invented = match to {
        Format::Sfen if from.fields().is_empty() => {
            Fields::of(Field::Ply).union(lacking.intersection(fill.fields()))
        }
        Format::Sfen => lacking.intersection(fill.fields()),
        _ => lacking,
    };
    let fields = invented.without(fill.fields());
    if to != Format::Sfen && !fields.is_empty() {
        return Err(MissingFill { from, to, fields });
    }
    Ok(Plan { lost: from.fields().without(to.fields()), invented })
}

/// Appends a record in a format, canonically; text with its line end. After an error `out` is as before.
///
/// A record without a move is written with "no move", which packed formats can say; whether the source
/// said so or is silent is known to [`RecordRef::convert`](super::RecordRef::convert).
///
/// # Errors
/// [`EncodeError`] if a king is missing or a field that neither the record nor `fill` has.
pub fn encode(
    format: Format,
    record: &Record,
    fill: &Fill,
    out: &mut Vec<u8>,
) -> Result<Written, EncodeError> {
    let filled = fill.apply(record, format.fields());
    match format {
        Format::Hcp => hcp::encode(&filled, out)?,
        Format::Hcpe => hcpe::encode(&filled, out)?,
        Format::Psv => psv::encode(&filled, out)?,
        Format::Sfen => sfen_text::encode(&filled, out),
    }
    let said = record.fields();
    let lacking = format.fields().without(said);
    let mut invented = lacking.intersection(fill.fields());
    if format == Format::Sfen && sfen_text::is_plain(&filled) {
        // A plain SFEN always has a move number.
        invented = invented.union(lacking.intersection(Fields::of(Field::Ply)));
    }
    Ok(Written { lost: said.without(format.fields()), invented })
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

/// The value of a field that the format must hold.
pub(super) fn required<T>(value: Option<T>, field: Field) -> Result<T, EncodeError> {
    value.ok_or(EncodeError::Missing { fields: Fields::of(field) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fills_are_read_in_any_order_and_written_in_one() {
        let fill: Fill = "eval=-5, result=draw,ply=0,move=none".parse().unwrap();
        assert_eq!(fill.to_string(), "move=none,eval=-5,ply=0,result=draw");
        assert_eq!(fill.fields(), Fields::ALL);
        assert_eq!("".parse(), Ok(Fill::default()));
        for (text, message) in [
            ("eval", "\"eval\" is not of the form field=value"),
            ("score=0", "unknown field \"score\"; known are move, eval, ply and result"),
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
        assert_eq!(plan.lost, Fields::ALL);
        let error = conversion_plan(Format::Hcpe, Format::Psv, &none).unwrap_err();
        assert_eq!(error.to_string(), "psv needs ply, which hcpe does not hold and no fill names");
        let fill = "ply=0".parse().unwrap();
        let plan = conversion_plan(Format::Hcpe, Format::Psv, &fill).unwrap();
        assert_eq!(plan.invented, Fields::of(Field::Ply));
        let error = conversion_plan(Format::Hcp, Format::Psv, &fill).unwrap_err();
        assert_eq!(error.fields.to_string(), "move, eval, result");
        let plan = conversion_plan(Format::Hcp, Format::Sfen, &none).unwrap();
        assert_eq!(plan.invented, Fields::of(Field::Ply));
        let plan = conversion_plan(Format::Hcpe, Format::Sfen, &none).unwrap();
        assert_eq!(plan.invented, Fields::NONE);
    }
}
