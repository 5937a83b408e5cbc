//! Evaluations on another scale, for `convert --eval-scale A:B`.

use std::fmt;
use std::str::FromStr;

use crate::format::{Game, Record, Reevaluation, rescaled_eval};
use crate::storage::value_error::ParseValueError;

/// Multiplies evaluations by `to` / `from`. Mate evaluations stay unchanged.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct EvalScale {
    from: f64,
    to: f64,
}

impl EvalScale {
    /// `None` unless both scales are above 0 and finite.
    pub fn new(from: f64, to: f64) -> Option<Self> {
        let is_scale = |scale: f64| scale > 0.0 && scale.is_finite();
        (is_scale(from) && is_scale(to)).then_some(Self { from, to })
    }

    /// Rescales an evaluation. Returns the new one if it differs, and whether it was limited.
    fn of(self, eval_cp: Option<i16>) -> (Option<i16>, bool) {
        let Some(eval_cp) = eval_cp else { return (None, false) };
        let (new, is_limited) = rescaled_eval(eval_cp, self.from, self.to);
        (Some(new).filter(|&new| new != eval_cp), is_limited)
    }

    /// Rescales the evaluation of a record. Returns whether it changed, and whether it was limited.
    pub(super) fn rescale(self, record: &mut Record) -> (bool, bool) {
        let (new, is_limited) = self.of(record.eval_cp);
        record.eval_cp = new.or(record.eval_cp);
        (new.is_some(), is_limited)
    }

    /// Rescales the evaluations of the moves of a game, and removes comments that state the old ones. Returns for each
    /// move whether its evaluation was limited.
    pub(super) fn rescale_game(self, game: &mut Game) -> Vec<bool> {
        let rescaled: Vec<_> = game.moves.iter().map(|played| self.of(played.eval_cp)).collect();
        for (number, (new, _)) in rescaled.iter().enumerate() {
            if let Some(eval_cp) = *new {
                Reevaluation { eval_cp, searched: None }.put_into(game, number);
            }
        }
        rescaled.into_iter().map(|(_, is_limited)| is_limited).collect()
    }
}

impl FromStr for EvalScale {
    type Err = ParseValueError;

    fn from_str(text: &str) -> Result<Self, ParseValueError> {
        let scale = || {
            let (from, to) = text.split_once(':')?;
            Self::new(from.parse().ok()?, to.parse().ok()?)
        };
        scale().ok_or_else(|| {
            ParseValueError::new(text, "not a pair of scales", "two numbers above 0, as in 600:361")
        })
    }
}

impl fmt::Display for EvalScale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.from, self.to)
    }
}
