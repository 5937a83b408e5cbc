//! Evaluators of positions, and the conversion of their results to record fields.

use std::sync::atomic::AtomicBool;

use crate::error::Error;
use crate::format::{
    EVAL_SCALE, GameResult, Reevaluation, SearchedMoves, eval_mixed_with_result, eval_of_mate,
    eval_of_value, value_mixed_with_result,
};
use crate::jobs::settings::RelabelSettings;
use crate::shogi::{Color, Move, Position};

/// Evaluates positions.
pub trait PositionEvaluator: Send {
    /// Evaluates positions independently of each other. Every position has a legal move. Returns soon after `cancel` is
    /// set.
    ///
    /// # Errors
    /// [`Error`] if the evaluation fails or is cancelled.
    fn evaluate(
        &mut self,
        positions: &[Position],
        cancel: &AtomicBool,
    ) -> Result<Vec<Evaluated>, Error>;
}

/// The evaluation of a position.
#[derive(Clone, PartialEq, Debug)]
pub struct Evaluated {
    /// The score, seen from the side to move.
    pub score: Score,
    /// The moves found by a search. Empty without a search.
    pub searched: SearchedMoves,
    /// The best move of the engine if it is illegal. It is not written.
    pub rejected_move: Option<String>,
}

/// The score of a position, seen from the side to move.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub enum Score {
    /// Probability of winning, from 0 to 1.
    Value(f32),
    /// Evaluation in centipawns.
    Centipawns(i16),
    /// A proven mate.
    Mate {
        /// Whether the side to move can force mate. Otherwise it is mated by force.
        wins: bool,
        /// Length in plies. 0 if unknown.
        plies: usize,
    },
}

/// The result of the game is to be mixed in, but the record has no result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct NoResult;

impl Evaluated {
    /// The stored evaluation of a record.
    pub(super) fn stored(eval_cp: i16) -> Self {
        let (score, searched) = (Score::Centipawns(eval_cp), SearchedMoves::default());
        Self { score, searched, rejected_move: None }
    }

    pub(super) const fn mate(wins: bool, plies: usize, best_move: Option<Move>) -> Self {
        Self {
            score: Score::Mate { wins, plies },
            searched: SearchedMoves { best_move, candidates: Vec::new() },
            rejected_move: None,
        }
    }

    /// The new fields of a record. Mixes the result of the game, seen by `mover`, into the score. Mates are not mixed.
    pub(super) fn mixed(
        self,
        settings: &RelabelSettings,
        mover: Color,
        result: Option<GameResult>,
    ) -> Result<Reevaluation, NoResult> {
        let searched = settings.policy.then_some(self.searched);
        let &RelabelSettings { mix, scale, .. } = settings;
        let result = || {
            Ok(match result.ok_or(NoResult)?.winner() {
                None => 0.5,
                Some(winner) if winner == mover => 1.0,
                Some(_) => 0.0,
            })
        };
        let eval_cp = match self.score {
            Score::Mate { wins, plies } => eval_of_mate(wins, plies),
            Score::Centipawns(eval_cp) if mix == 0.0 => eval_cp,
            Score::Centipawns(eval_cp) => eval_mixed_with_result(eval_cp, result()?, mix, scale),
            Score::Value(value) if mix == 0.0 => eval_of_value(value, scale),
            Score::Value(value) => value_mixed_with_result(value, result()?, mix, scale),
        };
        Ok(Reevaluation { eval_cp, searched })
    }
}

impl Default for RelabelSettings {
    /// The evaluation without the result of the game, on the scale of dlshogi.
    fn default() -> Self {
        let evaluator = serde_json::Map::new();
        Self { evaluator, keep_eval: false, mix: 0.0, scale: EVAL_SCALE, policy: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn eval(score: Score, mix: f32, result: Option<GameResult>) -> Result<i16, NoResult> {
        let evaluated =
            Evaluated { score, searched: SearchedMoves::default(), rejected_move: None };
        let settings = RelabelSettings { mix, ..RelabelSettings::default() };
        evaluated.mixed(&settings, Color::White, result).map(|new| new.eval_cp)
    }

    #[test]
    fn results_are_mixed_in_from_the_side_to_move() {
        let [win, loss] = [GameResult::WhiteWin, GameResult::BlackWin].map(Some);
        // 0.5, then 0.75, 0.25 and 0.5: 756.0865 · ln 3 = 830.6.
        let even = Score::Value(0.5);
        assert_eq!(eval(even, 0.0, None), Ok(0));
        assert_eq!(eval(even, 0.5, win), Ok(831));
        assert_eq!(eval(even, 0.5, loss), Ok(-831));
        assert_eq!(eval(even, 0.5, Some(GameResult::Draw)), Ok(0));
        assert_eq!(eval(even, 0.5, None), Err(NoResult));
        assert_eq!(eval(Score::Centipawns(123), 0.0, None), Ok(123));
        assert_eq!(eval(Score::Centipawns(831), 0.5, loss), Ok(-386));
    }

    #[test]
    fn proven_mates_are_not_mixed() {
        let mate = |wins, plies| eval(Score::Mate { wins, plies }, 0.5, None);
        assert_eq!([mate(true, 3), mate(false, 0)], [Ok(29_997), Ok(-30_000)]);
    }
}
