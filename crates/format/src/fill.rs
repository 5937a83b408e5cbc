//! Fill values: values for fields that a record lacks.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use kyokumen_shogi::{Move, Position, Setup};

use crate::Format;
use crate::error::{EncodeError, Error, ErrorKind};
use crate::field::{Field, Fields};
use crate::game::Game;
use crate::game_result::GameResult;
use crate::layout::Tail;
use crate::played::Played;
use crate::record::Record;

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
    /// Whether to write "no move" for a missing move.
    pub no_move: bool,
    /// The move for records without one. It is an error if the move is illegal in a record.
    pub best_move: Option<Move>,
    /// Evaluation in centipawns, from the side to move.
    pub eval_cp: Option<i16>,
    /// Move number.
    pub ply: Option<u16>,
    /// Result of the game.
    pub result: Option<GameResult>,
    /// Number of the last move of the game.
    pub end_ply: Option<u16>,
}

impl Fill {
    const FILLABLE: Fields =
        Fields::of_all(&[Field::BestMove, Field::EvalCp, Field::Ply, Field::Result, Field::EndPly]);

    /// Fields that have a fill value.
    pub fn fields(&self) -> Fields {
        let given = [
            (Field::BestMove, self.no_move || self.best_move.is_some()),
            (Field::EvalCp, self.eval_cp.is_some()),
            (Field::Ply, self.ply.is_some()),
            (Field::Result, self.result.is_some()),
            (Field::EndPly, self.end_ply.is_some()),
        ];
        given.into_iter().filter_map(|(field, is_given)| is_given.then_some(field)).collect()
    }

    /// The neutral values of these fields: no move, an evaluation of 0, ply 0, a draw.
    ///
    /// ```
    /// use kyokumen_format::{Fields, Fill, Format};
    /// let fill = Fill::neutral(Format::Psv.needs());
    /// assert_eq!(fill.to_string(), "move=none,eval=0,ply=0,result=draw");
    /// ```
    pub fn neutral(fields: Fields) -> Self {
        Self {
            no_move: fields.contains(Field::BestMove),
            best_move: None,
            eval_cp: fields.contains(Field::EvalCp).then_some(0),
            ply: fields.contains(Field::Ply).then_some(0),
            result: fields.contains(Field::Result).then_some(GameResult::Draw),
            end_ply: fields.contains(Field::EndPly).then_some(0),
        }
    }

    /// Fills in the missing fields of `target` in all moves of a game. Returns the filled fields of each move.
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
        if game.is_position {
            return vec![common];
        }
        game.moves.iter_mut().map(fill_eval).collect()
    }

    /// These values, completed with the values of `others`.
    #[must_use]
    pub fn or(self, others: Self) -> Self {
        let has_move = self.fields().contains(Field::BestMove);
        Self {
            no_move: self.no_move || (others.no_move && !has_move),
            best_move: self.best_move.or(others.best_move.filter(|_| !has_move)),
            eval_cp: self.eval_cp.or(others.eval_cp),
            ply: self.ply.or(others.ply),
            result: self.result.or(others.result),
            end_ply: self.end_ply.or(others.end_ply),
        }
    }

    /// The fields among `fields` that are filled in and that a network learns from: evaluation and result.
    pub fn labels(&self, fields: Fields) -> Fields {
        let labels = Fields::of_all(&[Field::EvalCp, Field::Result]);
        self.fields().intersection(fields).intersection(labels)
    }

    /// The move to fill in, if any.
    ///
    /// # Errors
    /// [`EncodeError::IllegalFill`] if it is illegal in the position of the record.
    pub fn move_in(&self, setup: &Setup) -> Result<Option<Move>, EncodeError> {
        let Some(best_move) = self.best_move else { return Ok(None) };
        let position = Position::try_from(setup).ok();
        if position.is_some_and(|position| position.is_legal(best_move)) {
            Ok(Some(best_move))
        } else {
            Err(EncodeError::IllegalFill { best_move })
        }
    }

    /// The record with the move filled in. Unchanged if the record has a move, `target` has no moves or no move is
    /// given.
    pub(crate) fn with_move<'a>(
        &self,
        record: &'a Record,
        target: Fields,
    ) -> Result<Cow<'a, Record>, EncodeError> {
        if record.best_move.is_some() || !target.contains(Field::BestMove) {
            return Ok(Cow::Borrowed(record));
        }
        Ok(match self.move_in(&record.setup)? {
            None => Cow::Borrowed(record),
            best_move => Cow::Owned(Record { best_move, ..record.clone() }),
        })
    }

    /// The record with its missing fields of `target` filled in, except the move.
    pub(crate) fn apply(&self, record: &Record, target: Fields) -> Record {
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
    /// Fills in the missing fields. Values that the format does not hold are ignored when the tail is written.
    pub(crate) fn complete_tail(&self, tail: &mut Tail) {
        tail.eval_cp = tail.eval_cp.or(self.eval_cp);
        tail.ply = tail.ply.or(self.ply);
        tail.result = tail.result.or(self.result);
        tail.end_ply = tail.end_ply.or(self.end_ply);
    }
}

impl FromStr for Fill {
    type Err = Error;

    /// Parses `eval=0,result=draw,ply=0,move=none` (or a move in USI notation). Any subset, in any order.
    fn from_str(text: &str) -> Result<Self, Error> {
        let error = |message| Error { place: None, kind: ErrorKind::Fill(message) };
        let mut fill = Self::default();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let Some((name, value)) = part.split_once('=') else {
                return Err(error(format!("{part:?} is not of the form field=value")));
            };
            let (name, value) = (name.trim(), value.trim());
            let field = Field::ALL.into_iter().find(|field| field.name() == name);
            let Some(field) = field.filter(|&field| Self::FILLABLE.contains(field)) else {
                let known = "expected move, eval, ply, result or end_ply";
                return Err(error(format!("unknown field {name:?}; {known}")));
            };
            if fill.fields().contains(field) {
                return Err(error(format!("{field} is given twice")));
            }
            fill.set(field, value).map_err(|expected| {
                error(format!("{value:?} cannot be filled in for {field}; expected {expected}"))
            })?;
        }
        Ok(fill)
    }
}

impl Fill {
    /// Sets a field. On error returns the expected value.
    fn set(&mut self, field: Field, value: &str) -> Result<(), &'static str> {
        match field {
            Field::BestMove if value == "none" => self.no_move = true,
            Field::BestMove => {
                let expected = "none or a move in USI notation, such as 7g7f or P*5e";
                self.best_move = Some(Move::from_usi(value).ok_or(expected)?);
            }
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
            self.best_move.map(|best_move| format!("move={best_move}")),
            self.eval_cp.map(|eval_cp| format!("eval={eval_cp}")),
            self.ply.map(|ply| format!("ply={ply}")),
            self.result.map(|result| format!("result={}", result.name())),
            self.end_ply.map(|end_ply| format!("end_ply={end_ply}")),
        ];
        f.write_str(&parts.into_iter().flatten().collect::<Vec<_>>().join(","))
    }
}
