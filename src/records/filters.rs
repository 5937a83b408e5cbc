//! Which records are taken: conditions on their number, their fields and their position. All must hold.
//!
//! The words are those of the command line. What needs nothing but bytes is asked before anything is
//! decoded, so that a record that is filtered out costs very little.

use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use super::counts::Condition;
use crate::format::{DecodeError, Ending, Field, Format, GameResult, RecordRef};
use crate::random::SplitMix64;
use crate::shogi::{Move, Position};
use crate::storage::value_error::ParseValueError;

/// Conditions on a record; all must hold.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct RecordFilters {
    /// Whether positions are taken of which the game's writer says that they are not to be trained on.
    /// Where games are written they stay in any case.
    pub keep_untrained: bool,
    /// Takes every n-th record, beginning with the first.
    pub every: Option<NonZeroU64>,
    /// A random part of the records.
    #[serde(flatten)]
    pub sample: Option<Sample>,
    /// Largest distance of the evaluation from 0, in centipawns.
    #[serde(rename = "max-abs-eval")]
    pub max_abs_eval_cp: Option<u16>,
    /// Smallest distance of the evaluation from 0, in centipawns.
    #[serde(rename = "min-abs-eval", skip_serializing_if = "Option::is_none")]
    pub min_abs_eval_cp: Option<u16>,
    /// From this distance of the evaluation from 0 on, in centipawns, the side that is better may not have lost the
    /// game.
    #[serde(rename = "drop-contradictions", skip_serializing_if = "Option::is_none")]
    pub contradictions_from_cp: Option<u16>,
    /// Smallest ply.
    pub min_ply: Option<u16>,
    /// Largest ply.
    pub max_ply: Option<u16>,
    /// Results of the game.
    #[serde(rename = "result")]
    pub results: Option<Results>,
    /// Smallest number of moves of the whole game.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_game_plies: Option<u16>,
    /// Largest number of moves of the whole game.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_game_plies: Option<u16>,
    /// How the game must have ended.
    #[serde(rename = "ending", skip_serializing_if = "Option::is_none")]
    pub endings: Option<Endings>,
    /// How the game may not have ended.
    #[serde(rename = "drop-ending", skip_serializing_if = "Option::is_none")]
    pub dropped_endings: Option<Endings>,
    /// Whether a move must be stored.
    pub has_move: bool,
    /// Whether the side to move may not be in check.
    pub drop_in_check: bool,
    /// Whether a move must be stored that can be played.
    pub legal_move: bool,
    /// Whether a move must be stored that can be played and is no capture, promotion or check, the side to move not
    /// being in check.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub quiet: bool,
}

/// Options that a manifest says only where they are set: older ones do not know them.
pub(crate) const SAID_IF_SET: [&str; 7] = [
    "min-abs-eval",
    "drop-contradictions",
    "quiet",
    "min-game-plies",
    "max-game-plies",
    "ending",
    "drop-ending",
];

impl RecordFilters {
    /// Whether a record is taken: number `number` over all inputs, from 0.
    ///
    /// # Errors
    /// [`DecodeError`] if a condition asks for what cannot be read.
    pub fn takes(&self, number: u64, record: &RecordRef<'_>) -> Result<bool, DecodeError> {
        if self.failed_by_fields(number, record)?.is_some() {
            return Ok(false);
        }
        if !self.ask_rules() {
            return Ok(true);
        }
        let position = Position::try_from(record.setup()?).ok();
        Ok(self.failed_by_rules(position.as_ref(), record.best_move()?).is_none())
    }

    /// Fields that a format must have for these conditions, with the long name of the option that asks.
    pub(crate) fn asked(&self) -> impl Iterator<Item = (&'static str, Field)> {
        [
            ("max-abs-eval", self.max_abs_eval_cp.is_some(), Field::EvalCp),
            ("min-abs-eval", self.min_abs_eval_cp.is_some(), Field::EvalCp),
            ("drop-contradictions", self.contradictions_from_cp.is_some(), Field::EvalCp),
            ("drop-contradictions", self.contradictions_from_cp.is_some(), Field::Result),
            ("min-ply", self.min_ply.is_some(), Field::Ply),
            ("max-ply", self.max_ply.is_some(), Field::Ply),
            ("result", self.results.is_some(), Field::Result),
            ("min-game-plies", self.min_game_plies.is_some(), Field::EndPly),
            ("max-game-plies", self.max_game_plies.is_some(), Field::EndPly),
            ("ending", self.endings.is_some(), Field::Ending),
            ("drop-ending", self.dropped_endings.is_some(), Field::Ending),
            ("has-move", self.has_move, Field::BestMove),
            ("legal-move", self.legal_move, Field::BestMove),
            ("quiet", self.quiet, Field::BestMove),
        ]
        .into_iter()
        .filter_map(|(option, is_asked, field)| is_asked.then_some((option, field)))
    }

    /// Whether there is any condition besides what the writers of games say.
    #[inline]
    pub(crate) fn leave_out(&self) -> bool {
        Self { keep_untrained: false, ..*self } != Self::default()
    }

    /// Whether any record of this format may fail by its number or its fields.
    pub(crate) fn ask_fields_of(&self, format: Format) -> bool {
        // Nothing of one size says that it is a comment, or not to be trained on.
        self.leave_out() || format.record_len().is_none()
    }

    /// Whether any condition is about the length of games.
    pub(crate) const fn ask_game_plies(&self) -> bool {
        self.min_game_plies.is_some() || self.max_game_plies.is_some()
    }

    /// All but the conditions on the length of games.
    pub(crate) fn without_game_plies(&self) -> Self {
        Self { min_game_plies: None, max_game_plies: None, ..*self }
    }

    /// Whether any condition holds for all records of a game or for none.
    const fn ask_about_games(&self) -> bool {
        self.results.is_some()
            || self.ask_game_plies()
            || self.endings.is_some()
            || self.dropped_endings.is_some()
    }

    /// The conditions that hold for all records of a game or for none.
    fn of_games(&self) -> Self {
        let Self { results, min_game_plies, max_game_plies, endings, dropped_endings, .. } = *self;
        Self {
            results,
            min_game_plies,
            max_game_plies,
            endings,
            dropped_endings,
            ..Self::default()
        }
    }

    /// Whether there is any condition that may hold for some records of a game and not for others.
    pub(crate) fn leave_out_of_games(&self) -> bool {
        Self { keep_untrained: false, ..*self } != self.of_games()
    }

    /// Endings that are asked for, with the long name of the option that asks.
    pub(crate) fn asked_endings(&self) -> impl Iterator<Item = (&'static str, Ending)> {
        let asked = [("ending", self.endings), ("drop-ending", self.dropped_endings)];
        asked.into_iter().flat_map(|(option, endings)| {
            let asked = Ending::ALL.into_iter();
            asked
                .filter(move |&ending| endings.is_some_and(|set| set.contains(Some(ending))))
                .map(move |ending| (option, ending))
        })
    }

    /// Whether [`Self::failed_by_rules`] has anything to ask.
    pub(crate) const fn ask_rules(&self) -> bool {
        self.drop_in_check || self.legal_move || self.quiet
    }

    /// The first condition on number and fields that does not hold, in the order of [`Condition`].
    ///
    /// `number` counts the records of all inputs, from 0. Nothing but text is decoded.
    #[inline]
    pub(crate) fn failed_by_fields(
        &self,
        number: u64,
        record: &RecordRef<'_>,
    ) -> Result<Option<Condition>, DecodeError> {
        if record.is_not_for_training() && !self.keep_untrained {
            return Ok(Some(Condition::NotForTraining));
        }
        if record.is_comment() && self.leave_out() {
            return Ok(Some(Condition::Comment));
        }
        if self.every.is_some_and(|every| number % every != 0) {
            return Ok(Some(Condition::Every));
        }
        if self.sample.is_some_and(|sample| !sample.takes(number)) {
            return Ok(Some(Condition::Sample));
        }
        if let failed @ Some(_) = self.failed_by_eval(record)? {
            return Ok(failed);
        }
        if let failed @ Some(_) = self.failed_by_ply(record)? {
            return Ok(failed);
        }
        if self.ask_about_games()
            && let failed @ Some(_) =
                self.failed_by_game((record.result()?, record.ending()?), || record.end_ply())?
        {
            return Ok(failed);
        }
        if let failed @ Some(_) = self.failed_by_contradiction(record)? {
            return Ok(failed);
        }
        let needs_move = self.has_move || self.legal_move || self.quiet;
        let lacks_move = needs_move && record.best_move()?.is_none();
        Ok(lacks_move.then_some(Condition::NoMove))
    }

    /// The first condition that does not hold for a game that ended so, and has so many moves: 0 says nothing.
    pub(crate) fn failed_by_game<E>(
        &self,
        (result, ending): (Option<GameResult>, Option<Ending>),
        plies: impl FnOnce() -> Result<Option<u16>, E>,
    ) -> Result<Option<Condition>, E> {
        if let Some(results) = self.results {
            match result {
                None => return Ok(Some(Condition::NoResult)),
                Some(result) if !results.contains(result) => return Ok(Some(Condition::Result)),
                Some(_) => {}
            }
        }
        if self.ask_game_plies()
            && let failed @ Some(_) = self.failed_by_game_plies(plies()?)
        {
            return Ok(failed);
        }
        let is_dropped = self.dropped_endings.is_some_and(|dropped| dropped.contains(ending));
        let is_kept = self.endings.is_none_or(|kept| kept.contains(ending));
        Ok((is_dropped || !is_kept).then_some(Condition::Ending))
    }

    /// The condition on the length of its game that does not hold.
    pub(crate) fn failed_by_game_plies(&self, plies: Option<u16>) -> Option<Condition> {
        let Some(plies) = plies.filter(|&plies| plies > 0) else {
            return self.ask_game_plies().then_some(Condition::NoGamePlies);
        };
        if self.min_game_plies.is_some_and(|least| plies < least) {
            return Some(Condition::MinGamePlies);
        }
        self.max_game_plies.is_some_and(|most| plies > most).then_some(Condition::MaxGamePlies)
    }

    /// Whether the evaluation is large, and the side that it is for lost: not by a draw, which even a won game may end
    /// in.
    fn failed_by_contradiction(
        &self,
        record: &RecordRef<'_>,
    ) -> Result<Option<Condition>, DecodeError> {
        let Some(least) = self.contradictions_from_cp else { return Ok(None) };
        let Some(eval_cp) = record.eval_cp()? else { return Ok(Some(Condition::NoEval)) };
        let Some(result) = record.result()? else { return Ok(Some(Condition::NoResult)) };
        if eval_cp.unsigned_abs() < least || result == GameResult::Draw {
            return Ok(None);
        }
        let to_move = record.setup()?.side_to_move();
        let better = if eval_cp > 0 { to_move } else { !to_move };
        Ok((eval_cp != 0 && result != GameResult::win_of(better))
            .then_some(Condition::Contradiction))
    }

    #[inline]
    fn failed_by_eval(&self, record: &RecordRef<'_>) -> Result<Option<Condition>, DecodeError> {
        if self.max_abs_eval_cp.is_none() && self.min_abs_eval_cp.is_none() {
            return Ok(None);
        }
        let Some(eval_cp) = record.eval_cp()? else { return Ok(Some(Condition::NoEval)) };
        let distance = eval_cp.unsigned_abs();
        if self.max_abs_eval_cp.is_some_and(|most| distance > most) {
            return Ok(Some(Condition::MaxAbsEval));
        }
        Ok(self
            .min_abs_eval_cp
            .is_some_and(|least| distance < least)
            .then_some(Condition::MinAbsEval))
    }

    #[inline]
    fn failed_by_ply(&self, record: &RecordRef<'_>) -> Result<Option<Condition>, DecodeError> {
        if self.min_ply.is_none() && self.max_ply.is_none() {
            return Ok(None);
        }
        let Some(ply) = record.ply()? else { return Ok(Some(Condition::NoPly)) };
        if self.min_ply.is_some_and(|least| ply < least) {
            return Ok(Some(Condition::MinPly));
        }
        Ok(self.max_ply.is_some_and(|most| ply > most).then_some(Condition::MaxPly))
    }

    /// The first condition on the position that does not hold, in the order of [`Condition`].
    ///
    /// Where the side to move could capture the king there is no position: the filter reports no check, and no
    /// move can be played.
    #[inline]
    pub(crate) fn failed_by_rules(
        &self,
        position: Option<&Position>,
        best_move: Option<Move>,
    ) -> Option<Condition> {
        if self.drop_in_check && position.is_some_and(Position::in_check) {
            return Some(Condition::InCheck);
        }
        let is_legal = || position.zip(best_move).is_some_and(|(position, m)| position.is_legal(m));
        if (self.legal_move || self.quiet) && !is_legal() {
            return Some(Condition::IllegalMove);
        }
        let is_quiet =
            || position.zip(best_move).is_some_and(|(position, m)| is_quiet(position, m));
        (self.quiet && !is_quiet()).then_some(Condition::NotQuiet)
    }
}

/// Whether nothing happens on the board: no check before a move or by it, no capture, no promotion.
fn is_quiet(position: &Position, m: Move) -> bool {
    let is_capture = position.captured_by(m).is_some();
    !(position.in_check() || is_capture || m.is_promotion() || position.gives_check(m))
}

/// A random part of the records, the same on any machine and in any shard.
///
/// Record number `n`, counted from 0 over all inputs, is taken if the `n`-th number of `SplitMix64` behind
/// the seed lies below the probability times 2⁶⁴.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Sample {
    /// With which each record is taken.
    #[serde(rename = "sample")]
    pub probability: Probability,
    /// Seed of the random numbers.
    pub seed: u64,
}

impl Sample {
    /// Whether the record with this number is in it.
    pub fn takes(self, number: u64) -> bool {
        u128::from(SplitMix64::nth_bits(self.seed, number)) < self.probability.threshold()
    }
}

/// A probability above 0.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Probability(f64);

impl Probability {
    /// The probability, if it is one and not 0.
    pub fn new(probability: f64) -> Option<Self> {
        (probability > 0.0 && probability <= 1.0).then_some(Self(probability))
    }

    #[expect(clippy::cast_sign_loss, reason = "it is above 0")]
    fn threshold(self) -> u128 {
        (self.0 * 2_f64.powi(64)) as u128
    }
}

impl FromStr for Probability {
    type Err = ParseValueError;

    fn from_str(text: &str) -> Result<Self, ParseValueError> {
        let probability = text.parse().ok().and_then(Self::new);
        probability.ok_or_else(|| {
            ParseValueError::new(
                text,
                "no probability",
                "a number above 0 and at most 1, as in 0.25",
            )
        })
    }
}

/// A set of results of games, not empty: `black,draw`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Results([bool; GameResult::ALL.len()]);

impl Results {
    /// Whether a result is in the set.
    pub const fn contains(self, result: GameResult) -> bool {
        self.0[result as usize]
    }
}

impl FromStr for Results {
    type Err = ParseValueError;

    fn from_str(text: &str) -> Result<Self, ParseValueError> {
        let mut results = Self([false; GameResult::ALL.len()]);
        for word in text.split(',').map(str::trim) {
            let result = GameResult::from_name(word);
            let result = result.ok_or_else(|| {
                ParseValueError::new(
                    word,
                    "no result",
                    "black, white or draw, or several with commas between",
                )
            })?;
            results.0[result as usize] = true;
        }
        Ok(results)
    }
}

impl fmt::Display for Results {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = GameResult::ALL.into_iter().filter(|&result| self.contains(result));
        f.write_str(&names.map(GameResult::name).collect::<Vec<_>>().join(","))
    }
}

impl Serialize for Results {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A set of endings of games, not empty: `repetition,normal`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Endings {
    named: [bool; Ending::ALL.len()],
    /// Whether games are in it of which nothing is said: they ended by mate or resignation.
    normal: bool,
}

/// The word for mate and resignation.
const NORMAL: &str = "normal";

impl Endings {
    /// Whether an ending is in the set; nothing for mate and resignation.
    pub const fn contains(self, ending: Option<Ending>) -> bool {
        match ending {
            Some(ending) => self.named[ending as usize],
            None => self.normal,
        }
    }
}

impl FromStr for Endings {
    type Err = ParseValueError;

    fn from_str(text: &str) -> Result<Self, ParseValueError> {
        let mut endings = Self { named: [false; Ending::ALL.len()], normal: false };
        for word in text.split(',').map(str::trim) {
            match Ending::from_name(word) {
                Some(ending) => endings.named[ending as usize] = true,
                None if word == NORMAL => endings.normal = true,
                None => {
                    let known = Ending::ALL.map(Ending::name).join(", ");
                    let expected = format!("{NORMAL}, {known}, or several with commas between");
                    return Err(ParseValueError::new(word, "no ending", expected));
                }
            }
        }
        Ok(endings)
    }
}

impl fmt::Display for Endings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = Ending::ALL.into_iter().filter(|&ending| self.contains(Some(ending)));
        let names = self.normal.then_some(NORMAL).into_iter().chain(named.map(Ending::name));
        f.write_str(&names.collect::<Vec<_>>().join(","))
    }
}

impl Serialize for Endings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use snapbox::{assert_data_eq, str};

    use super::*;

    #[test]
    fn endings_are_read_in_any_order_and_written_in_one() {
        let endings: Endings = "impasse, normal,repetition".parse().unwrap();
        assert_eq!(endings.to_string(), "normal,repetition,impasse");
        assert!(endings.contains(None) && !endings.contains(Some(Ending::TimeUp)));
        let error = "resignation".parse::<Endings>().unwrap_err().to_string();
        assert_data_eq!(
            error,
            str![[
                r#""resignation" is no ending: expected normal, repetition, declaration, move_limit, time_up, illegal_move, interruption, impasse, or several with commas between"#
            ]]
        );
        assert!("".parse::<Endings>().is_err());
    }

    #[test]
    fn conditions_on_games_are_those_of_all_their_records() {
        let none = RecordFilters::default();
        let of_game = RecordFilters { min_game_plies: Some(1), keep_untrained: true, ..none };
        assert!(!of_game.leave_out_of_games() && of_game.leave_out());
        assert!(RecordFilters { min_ply: Some(1), ..of_game }.leave_out_of_games());
        let failed = |plies| of_game.failed_by_game_plies(plies);
        assert_eq!([None, Some(0)].map(failed), [Some(Condition::NoGamePlies); 2]);
        assert_eq!(failed(Some(1)), None);
    }

    #[test]
    fn results_are_read_in_any_order_and_written_in_one() {
        let results: Results = "white, draw".parse().unwrap();
        assert_eq!(results.to_string(), "draw,white");
        assert!(results.contains(GameResult::Draw) && !results.contains(GameResult::BlackWin));
        for text in ["", "black,", "loss", "b"] {
            assert!(text.parse::<Results>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_probability_lies_above_0() {
        for text in ["0", "-0.1", "1.01", "nan", "inf", "half", ""] {
            assert!(text.parse::<Probability>().is_err(), "{text}");
        }
        let all = Sample { probability: "1".parse().unwrap(), seed: 3 };
        assert!((0..1000).all(|number| all.takes(number)));
    }

    #[test]
    fn a_sample_is_about_as_large_as_its_probability_says() {
        for (probability, seed) in [(0.5, 1), (0.01, 2), (0.9, u64::MAX)] {
            let sample = Sample { probability: Probability(probability), seed };
            let taken = (0..100_000).filter(|&number| sample.takes(number)).count() as f64;
            // Five standard deviations of the binomial distribution.
            let deviation = (100_000.0 * probability * (1.0 - probability)).sqrt();
            assert!((taken - 100_000.0 * probability).abs() < 5.0 * deviation, "{taken}");
        }
    }
}
