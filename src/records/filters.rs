//! Record filters: conditions on the number, the fields and the position of a record.
//!
//! Serialized, they have the names of the command-line options. Conditions on fields are checked before a position is
//! decoded, so most filtered records cost very little.

use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use super::filter_values::{Endings, Probability, Results, Sample};
use crate::format::{DecodeError, Ending, Field, Format, GameResult, RecordRef};
use crate::shogi::{Move, Position};
#[cfg(feature = "cli")]
use crate::storage::value_error::whole_number;

const DEFAULT_SEED: u64 = 1;

#[cfg(feature = "cli")]
const HEADING: &str = "Records";

/// Conditions on a record. All must hold.
///
/// Each field defines a filter for all interfaces: the command-line option, the key in configuration files and
/// manifests, and the keyword argument in Python.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[serde(rename_all = "kebab-case", default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate option")]
pub struct RecordFilters {
    /// Use only records whose evaluation is at most CP centipawns in absolute value
    #[cfg_attr(feature = "cli", arg(long = "max-abs-eval", value_name = "CP", value_parser = whole_number::<u16>(..), help_heading = HEADING))]
    #[serde(rename = "max-abs-eval")]
    pub max_abs_eval_cp: Option<u16>,
    /// Use only records whose evaluation is at least CP centipawns in absolute value
    #[cfg_attr(feature = "cli", arg(long = "min-abs-eval", value_name = "CP", value_parser = whole_number::<u16>(..), hide_short_help = true, help_heading = HEADING))]
    #[serde(rename = "min-abs-eval")]
    pub min_abs_eval_cp: Option<u16>,
    /// Drop records whose evaluation is at least CP centipawns in favour of the side that lost the game
    #[cfg_attr(feature = "cli", arg(long = "drop-contradictions", value_name = "CP", value_parser = whole_number::<u16>(..), hide_short_help = true, help_heading = HEADING))]
    #[serde(rename = "drop-contradictions")]
    pub contradictions_from_cp: Option<u16>,
    /// Use only records with this ply or a later one
    #[cfg_attr(feature = "cli", arg(long, value_name = "PLY", value_parser = whole_number::<u16>(..), help_heading = HEADING))]
    pub min_ply: Option<u16>,
    /// Use only records with this ply or an earlier one
    #[cfg_attr(feature = "cli", arg(long, value_name = "PLY", value_parser = whole_number::<u16>(..), hide_short_help = true, help_heading = HEADING))]
    pub max_ply: Option<u16>,
    /// Use only records of games with this result: black (Black won), white, draw, or several, as in black,white
    #[cfg_attr(feature = "cli", arg(long = "result", value_name = "RESULT,…", hide_short_help = true, help_heading = HEADING))]
    #[serde(rename = "result")]
    pub results: Option<Results>,
    /// Use only records of games that end at move PLIES or later. If a format has no games and no game length (psv,
    /// hcpe), only `convert` supports this: it joins consecutive records into games
    #[cfg_attr(feature = "cli", arg(long, value_name = "PLIES", value_parser = whole_number::<u16>(..), hide_short_help = true, help_heading = HEADING))]
    pub min_game_plies: Option<u16>,
    /// Use only records of games that end at move PLIES or earlier; see --min-game-plies
    #[cfg_attr(feature = "cli", arg(long, value_name = "PLIES", value_parser = whole_number::<u16>(..), hide_short_help = true, help_heading = HEADING))]
    pub max_game_plies: Option<u16>,
    /// Use only records of games that ended in one of these ways.
    #[cfg_attr(
        feature = "cli",
        arg(
            long = "ending",
            value_name = "ENDING,…",
            help = "Use only records of games with this ending: normal (mate, resignation or unspecified), \
                    repetition, declaration, move_limit, time_up, illegal_move, interruption, impasse, or several, as in \
                    normal,declaration",
            hide_short_help = true,
            help_heading = HEADING
        )
    )]
    #[serde(rename = "ending")]
    pub endings: Option<Endings>,
    /// Drop records of games with this ending; see --ending
    #[cfg_attr(feature = "cli", arg(long = "drop-ending", value_name = "ENDING,…", hide_short_help = true, help_heading = HEADING))]
    #[serde(rename = "drop-ending")]
    pub dropped_endings: Option<Endings>,
    /// Use only records with a stored move
    #[cfg_attr(feature = "cli", arg(long, hide_short_help = true, help_heading = HEADING))]
    pub has_move: bool,
    /// Use only records whose stored move is legal
    #[cfg_attr(feature = "cli", arg(long, hide_short_help = true, help_heading = HEADING))]
    pub legal_move: bool,
    /// Drop positions where the side to move is in check
    #[cfg_attr(feature = "cli", arg(long, help_heading = HEADING))]
    pub drop_in_check: bool,
    /// Use only quiet records: the side to move is not in check, and the stored move is legal and is not a capture,
    /// promotion or check
    #[cfg_attr(feature = "cli", arg(long, hide_short_help = true, help_heading = HEADING))]
    pub quiet: bool,
    /// Drop records whose stored move captures a piece. Also drops records without a legal stored move
    #[cfg_attr(feature = "cli", arg(long, hide_short_help = true, help_heading = HEADING))]
    pub drop_captures: bool,
    /// Drop records whose stored move promotes. Also drops records without a legal stored move
    #[cfg_attr(feature = "cli", arg(long, hide_short_help = true, help_heading = HEADING))]
    pub drop_promotions: bool,
    /// Drop records whose stored move gives check. Also drops records without a legal stored move
    #[cfg_attr(feature = "cli", arg(long, hide_short_help = true, help_heading = HEADING))]
    pub drop_checks: bool,
    /// Also use moves marked as not for training, such as hcpe3 moves without candidates. By default they are dropped
    /// if the output holds single records
    #[cfg_attr(feature = "cli", arg(long, hide_short_help = true, help_heading = HEADING))]
    pub keep_untrained: bool,
    /// Use every K-th record, starting with the first, counted over all inputs
    #[cfg_attr(feature = "cli", arg(long, value_name = "K", value_parser = whole_number::<NonZeroU64>(1..), hide_short_help = true, help_heading = HEADING))]
    pub every: Option<NonZeroU64>,
    /// Use a random sample: each record with this probability, as in 0.25. The choice depends only on the seed and on
    /// the number that the record has in the sequence of all inputs
    #[cfg_attr(feature = "cli", arg(long, value_name = "P", hide_short_help = true, help_heading = HEADING))]
    pub sample: Option<Probability>,
    /// Seed of --sample [default: 1]
    #[cfg_attr(feature = "cli", arg(long, value_parser = whole_number::<u64>(..), hide_short_help = true, help_heading = HEADING))]
    pub seed: Option<u64>,
}

/// A condition that failed. Only the first failed condition of a record is counted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Condition {
    /// A comment line of a text format, which is not a record.
    Comment,
    /// The record is marked as not for training.
    NotForTraining,
    /// Not selected by `--every`.
    Every,
    /// Not in the random sample.
    Sample,
    /// The record has no evaluation to compare.
    NoEval,
    /// The evaluation is too far from 0.
    MaxAbsEval,
    /// The evaluation is too near to 0.
    MinAbsEval,
    /// The record has no ply to compare.
    NoPly,
    /// Too early in the game.
    MinPly,
    /// Too late in the game.
    MaxPly,
    /// The record has no result to compare.
    NoResult,
    /// The game was won by another side, or drawn.
    Result,
    /// The record has no game length to compare.
    NoGamePlies,
    /// The game is too short.
    MinGamePlies,
    /// The game is too long.
    MaxGamePlies,
    /// The game ended in another way.
    Ending,
    /// The evaluation favours the side that lost the game.
    Contradiction,
    /// No move is stored, or its bits are not a move.
    NoMove,
    /// The side to move is in check.
    InCheck,
    /// The stored move is illegal.
    IllegalMove,
    /// The stored move is a capture.
    Capture,
    /// The stored move is a promotion.
    Promotion,
    /// The stored move gives check.
    Check,
    /// The stored move is a capture, a promotion or a check, or the side to move is in check.
    NotQuiet,
    /// An equal position came before.
    Duplicate,
}

impl RecordFilters {
    #[inline]
    fn sample(&self) -> Option<Sample> {
        let seed = self.seed.unwrap_or(DEFAULT_SEED);
        self.sample.map(|probability| Sample { probability, seed })
    }

    /// Sets the default seed of a sample without a seed. Removes a seed without a sample.
    #[must_use]
    pub fn with_default_seed(self) -> Self {
        Self { seed: self.sample().map(|sample| sample.seed), ..self }
    }

    /// Whether a record passes the filters. `number` is its number over all inputs, from 0.
    ///
    /// # Errors
    /// [`DecodeError`] if a condition needs a field that cannot be decoded.
    pub fn takes(&self, number: u64, record: &RecordRef<'_>) -> Result<bool, DecodeError> {
        Ok(self.failed_condition(number, record)?.is_none())
    }

    /// The first failed condition of a record. `number` is its number over all inputs, from 0.
    pub(crate) fn failed_condition(
        &self,
        number: u64,
        record: &RecordRef<'_>,
    ) -> Result<Option<Condition>, DecodeError> {
        let failed = self.failed_field_condition(number, record)?;
        if failed.is_some() || !self.needs_position() {
            return Ok(failed);
        }
        let position = Position::try_from(record.setup()?).ok();
        Ok(self.failed_position_condition(position.as_ref(), record.best_move()?))
    }

    /// The settings under the long names of the options, without the ones that are not set.
    pub(crate) fn given(&self) -> impl Iterator<Item = (String, Value)> + use<> {
        let settings = match serde_json::to_value(self.with_default_seed()) {
            Ok(Value::Object(settings)) => settings,
            _ => Map::new(),
        };
        settings.into_iter().filter(|(_, value)| !value.is_null() && *value != false)
    }

    /// Fields that the conditions need, each with the long name of its option.
    pub(crate) fn required_fields(&self) -> impl Iterator<Item = (&'static str, Field)> {
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
            ("drop-captures", self.drop_captures, Field::BestMove),
            ("drop-promotions", self.drop_promotions, Field::BestMove),
            ("drop-checks", self.drop_checks, Field::BestMove),
        ]
        .into_iter()
        .filter_map(|(option, is_set, field)| is_set.then_some((option, field)))
    }

    /// Long name of an option that is set, besides `keep-untrained`. Conditions on single records come before
    /// conditions on games.
    pub(crate) fn first_option(&self) -> Option<&'static str> {
        // All fields are named, so a new filter without a row here does not compile.
        let Self {
            max_abs_eval_cp,
            min_abs_eval_cp,
            contradictions_from_cp,
            min_ply,
            max_ply,
            results,
            min_game_plies,
            max_game_plies,
            endings,
            dropped_endings,
            has_move,
            legal_move,
            drop_in_check,
            quiet,
            drop_captures,
            drop_promotions,
            drop_checks,
            keep_untrained: _,
            every,
            sample,
            seed: _,
        } = *self;
        let options = [
            ("max-abs-eval", max_abs_eval_cp.is_some()),
            ("min-abs-eval", min_abs_eval_cp.is_some()),
            ("drop-contradictions", contradictions_from_cp.is_some()),
            ("min-ply", min_ply.is_some()),
            ("max-ply", max_ply.is_some()),
            ("has-move", has_move),
            ("legal-move", legal_move),
            ("drop-in-check", drop_in_check),
            ("quiet", quiet),
            ("drop-captures", drop_captures),
            ("drop-promotions", drop_promotions),
            ("drop-checks", drop_checks),
            ("every", every.is_some()),
            ("sample", sample.is_some()),
            ("result", results.is_some()),
            ("min-game-plies", min_game_plies.is_some()),
            ("max-game-plies", max_game_plies.is_some()),
            ("ending", endings.is_some()),
            ("drop-ending", dropped_endings.is_some()),
        ];
        options.into_iter().find_map(|(option, is_set)| is_set.then_some(option))
    }

    /// The conditions without `keep_untrained` and without the seed of a sample, which alone drop nothing.
    fn conditions(&self) -> Self {
        Self { keep_untrained: false, seed: None, ..*self }
    }

    /// Whether there is any condition besides `keep_untrained`.
    #[inline]
    pub(crate) fn drops_any(&self) -> bool {
        self.conditions() != Self::default()
    }

    /// Whether any condition depends on the number of a record over all inputs.
    pub(crate) const fn uses_numbers(&self) -> bool {
        self.every.is_some() || self.sample.is_some()
    }

    /// Whether a record of this format can fail [`Self::failed_field_condition`].
    pub(crate) fn can_drop_by_fields(&self, format: Format) -> bool {
        // Fixed-size records are never comments and cannot be marked as not for training.
        self.drops_any() || format.record_len().is_none()
    }

    pub(crate) const fn limits_game_plies(&self) -> bool {
        self.min_game_plies.is_some() || self.max_game_plies.is_some()
    }

    pub(crate) fn without_game_plies(&self) -> Self {
        Self { min_game_plies: None, max_game_plies: None, ..*self }
    }

    /// Whether any condition is about games instead of single records.
    const fn has_game_conditions(&self) -> bool {
        self.results.is_some()
            || self.limits_game_plies()
            || self.endings.is_some()
            || self.dropped_endings.is_some()
    }

    /// The conditions about games. They hold for all records of a game or for none.
    fn game_conditions(&self) -> Self {
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

    /// Whether any condition can hold for only some records of a game.
    pub(crate) fn drops_within_games(&self) -> bool {
        self.conditions() != self.game_conditions()
    }

    /// Endings named by a filter, each with the long name of its option.
    pub(crate) fn named_endings(&self) -> impl Iterator<Item = (&'static str, Ending)> {
        let sets = [("ending", self.endings), ("drop-ending", self.dropped_endings)];
        sets.into_iter().flat_map(|(option, endings)| {
            Ending::ALL
                .into_iter()
                .filter(move |&ending| endings.is_some_and(|set| set.contains(Some(ending))))
                .map(move |ending| (option, ending))
        })
    }

    /// Whether there are conditions for [`Self::failed_position_condition`].
    pub(crate) const fn needs_position(&self) -> bool {
        self.drop_in_check || self.needs_legal_move()
    }

    const fn needs_legal_move(&self) -> bool {
        self.legal_move
            || self.quiet
            || self.drop_captures
            || self.drop_promotions
            || self.drop_checks
    }

    /// The first failed condition on number and fields.
    ///
    /// `number` counts the records of all inputs, from 0. The position of a packed record is decoded only for
    /// `contradictions_from_cp`.
    #[inline]
    pub(crate) fn failed_field_condition(
        &self,
        number: u64,
        record: &RecordRef<'_>,
    ) -> Result<Option<Condition>, DecodeError> {
        if record.is_not_for_training() && !self.keep_untrained {
            return Ok(Some(Condition::NotForTraining));
        }
        if record.is_comment() && self.drops_any() {
            return Ok(Some(Condition::Comment));
        }
        if self.every.is_some_and(|every| number % every != 0) {
            return Ok(Some(Condition::Every));
        }
        if self.sample().is_some_and(|sample| !sample.takes(number)) {
            return Ok(Some(Condition::Sample));
        }
        if let failed @ Some(_) = self.failed_eval_condition(record)? {
            return Ok(failed);
        }
        if let failed @ Some(_) = self.failed_ply_condition(record)? {
            return Ok(failed);
        }
        if self.has_game_conditions()
            && let failed @ Some(_) = self
                .failed_game_condition((record.result()?, record.ending()?), || record.end_ply())?
        {
            return Ok(failed);
        }
        if let failed @ Some(_) = self.failed_contradiction_condition(record)? {
            return Ok(failed);
        }
        let needs_move = self.has_move || self.needs_legal_move();
        let lacks_move = needs_move && record.best_move()?.is_none();
        Ok(lacks_move.then_some(Condition::NoMove))
    }

    /// The first failed condition about the game.
    pub(crate) fn failed_game_condition<E>(
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
        if self.limits_game_plies()
            && let failed @ Some(_) = self.failed_game_length_condition(plies()?)
        {
            return Ok(failed);
        }
        let is_dropped = self.dropped_endings.is_some_and(|dropped| dropped.contains(ending));
        let is_kept = self.endings.is_none_or(|kept| kept.contains(ending));
        Ok((is_dropped || !is_kept).then_some(Condition::Ending))
    }

    /// The failed condition on the length of the game, if any. `None` and 0 plies mean that the length is unknown.
    pub(crate) fn failed_game_length_condition(&self, plies: Option<u16>) -> Option<Condition> {
        let Some(plies) = plies.filter(|&plies| plies > 0) else {
            return self.limits_game_plies().then_some(Condition::NoGamePlies);
        };
        if self.min_game_plies.is_some_and(|least| plies < least) {
            return Some(Condition::MinGamePlies);
        }
        self.max_game_plies.is_some_and(|most| plies > most).then_some(Condition::MaxGamePlies)
    }

    /// Fails if the evaluation is large and the better side lost. A draw is not a contradiction, because even a won
    /// game may end in a draw.
    fn failed_contradiction_condition(
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
    fn failed_eval_condition(
        &self,
        record: &RecordRef<'_>,
    ) -> Result<Option<Condition>, DecodeError> {
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
    fn failed_ply_condition(
        &self,
        record: &RecordRef<'_>,
    ) -> Result<Option<Condition>, DecodeError> {
        if self.min_ply.is_none() && self.max_ply.is_none() {
            return Ok(None);
        }
        let Some(ply) = record.ply()? else { return Ok(Some(Condition::NoPly)) };
        if self.min_ply.is_some_and(|least| ply < least) {
            return Ok(Some(Condition::MinPly));
        }
        Ok(self.max_ply.is_some_and(|most| ply > most).then_some(Condition::MaxPly))
    }

    /// The first failed condition on the position, in the order of [`Condition`].
    ///
    /// `position` is `None` if the side to move could capture the king. Such a position counts as not in check, and no
    /// move in it is legal.
    #[inline]
    pub(crate) fn failed_position_condition(
        &self,
        position: Option<&Position>,
        best_move: Option<Move>,
    ) -> Option<Condition> {
        if self.drop_in_check && position.is_some_and(Position::in_check) {
            return Some(Condition::InCheck);
        }
        if !self.needs_legal_move() {
            return None;
        }
        let legal = position.zip(best_move).filter(|(position, m)| position.is_legal(*m));
        let Some((position, m)) = legal else { return Some(Condition::IllegalMove) };
        let is_capture = || position.captured_by(m).is_some();
        if self.drop_captures && is_capture() {
            return Some(Condition::Capture);
        }
        if self.drop_promotions && m.is_promotion() {
            return Some(Condition::Promotion);
        }
        if self.drop_checks && position.gives_check(m) {
            return Some(Condition::Check);
        }
        let is_quiet = || {
            !(position.in_check() || is_capture() || m.is_promotion() || position.gives_check(m))
        };
        (self.quiet && !is_quiet()).then_some(Condition::NotQuiet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn game_conditions_apply_to_all_records_of_a_game() {
        let none = RecordFilters::default();
        let of_game = RecordFilters { min_game_plies: Some(1), keep_untrained: true, ..none };
        assert!(!of_game.drops_within_games() && of_game.drops_any());
        assert!(!RecordFilters { seed: Some(1), ..none }.drops_any());
        assert!(!RecordFilters { seed: Some(1), ..of_game }.drops_within_games());
        assert!(RecordFilters { min_ply: Some(1), ..of_game }.drops_within_games());
        let failed = |plies| of_game.failed_game_length_condition(plies);
        assert_eq!([None, Some(0)].map(failed), [Some(Condition::NoGamePlies); 2]);
        assert_eq!(failed(Some(1)), None);
    }
}
