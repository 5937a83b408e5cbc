//! Counts of what happened to every record, and the check that no record was lost.
//!
//! The sums must balance: input = kept + mated + unknown + rows + evaluations + filtered + bad.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::format::{Game, InfoCounts};
use crate::records::filters::Condition;
use crate::records::position_verdict::PositionVerdict;
use crate::records::source::RangeRead;
use crate::search::Stop;

/// How a record was written that is neither filtered out nor bad.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Disposition {
    /// Written to the kept records without labels of a proof.
    Kept,
    /// Written to the kept records with the labels of the proof.
    Relabelled,
    /// Written to the mated records.
    MatedWritten,
    /// Mated, not written.
    MatedDropped,
    /// Written to the unknown records.
    UnknownWritten,
    /// Unknown, not written.
    UnknownDropped,
    /// Written as a row of a table, with any verdict.
    TableRow,
    /// Written with a new evaluation.
    Evaluated,
    /// Written with its old evaluation, because the old evaluation is a proven mate or the record is not for training.
    EvaluationUnchanged,
}

/// Numbers of records by what happened to them and by verdict.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Records read.
    pub input: u64,
    /// Records written to the kept records without labels of a proof.
    pub kept: u64,
    /// Mated positions.
    pub mated: MatedCounts,
    /// Records with an unknown verdict that were not kept.
    pub unknown: UnknownCounts,
    /// Records written as rows of a table, with any verdict.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rows: u64,
    /// Records that were evaluated instead of searched.
    #[serde(default, skip_serializing_if = "EvaluationCounts::is_empty")]
    pub evaluations: EvaluationCounts,
    /// Records that were filtered out, by the first condition that failed.
    pub filtered: BTreeMap<Condition, u64>,
    /// Bad records.
    pub bad: BadCounts,
    /// Verdicts on the records that reached the search.
    pub verdicts: VerdictCounts,
    /// Warnings about records that were used, by kind.
    pub warnings: BTreeMap<String, u64>,
    /// Records that lost a field because the output format cannot hold it, by field.
    pub lost: BTreeMap<String, u64>,
    /// Records whose missing field was filled in, by field.
    #[serde(rename = "invented")]
    pub filled_in: BTreeMap<String, u64>,
    /// Records that lack a field of the output format, by field. Only some commands count them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub missing: BTreeMap<String, u64>,
    /// Games that were written, whole or in part.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub games: u64,
    /// Positions without a move, written to a format of games.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub positions: u64,
    /// Names, comments and similar data that the output format cannot hold, by kind.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lost_info: BTreeMap<String, u64>,
    /// Nodes searched.
    pub nodes: u64,
}

/// What happened to the mated positions.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct MatedCounts {
    /// Written to the mated records.
    pub split: u64,
    /// Not written.
    pub dropped: u64,
    /// Written to the kept records with the labels of the proof.
    pub relabelled: u64,
}

impl MatedCounts {
    /// The sum.
    pub const fn all(&self) -> u64 {
        self.split + self.dropped + self.relabelled
    }
}

/// Numbers of evaluated records.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct EvaluationCounts {
    /// Records with a new evaluation.
    pub new: u64,
    /// Records that keep their old evaluation: proven mates, and positions that are not for training.
    pub stayed: u64,
}

impl EvaluationCounts {
    /// The sum.
    pub const fn all(&self) -> u64 {
        self.new + self.stayed
    }

    const fn is_empty(&self) -> bool {
        self.all() == 0
    }
}

/// What happened to the records with an unknown verdict that were not kept.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct UnknownCounts {
    /// Written to the unknown records.
    pub split: u64,
    /// Not written.
    pub dropped: u64,
}

/// What happened to the bad records.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct BadCounts {
    /// Written to the quarantine.
    pub quarantined: u64,
    /// Not written.
    pub skipped: u64,
}

impl BadCounts {
    /// The sum.
    pub const fn all(&self) -> u64 {
        self.quarantined + self.skipped
    }
}

/// Numbers of records by verdict.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct VerdictCounts {
    /// The side to move can force mate.
    pub win: u64,
    /// The side to move is being mated by force.
    pub loss: u64,
    /// Neither is the case.
    pub no_mate: u64,
    /// Undecided, by stop reason.
    pub unknown: BTreeMap<Stop, u64>,
    /// Not searched, because the side to move is in check and such positions are skipped.
    pub not_searched: u64,
}

impl Counts {
    /// Counts a verdict. `None` is a position that was not searched.
    pub fn count_verdict(&mut self, verdict: Option<PositionVerdict>) {
        let verdicts = &mut self.verdicts;
        *match verdict {
            Some(PositionVerdict::Win) => &mut verdicts.win,
            Some(PositionVerdict::Loss) => &mut verdicts.loss,
            Some(PositionVerdict::NoMate) => &mut verdicts.no_mate,
            Some(PositionVerdict::Unknown(stop)) => verdicts.unknown.entry(stop).or_default(),
            None => &mut verdicts.not_searched,
        } += 1;
    }

    /// Counts what happened to a record.
    pub fn count_disposition(&mut self, disposition: Disposition) {
        *match disposition {
            Disposition::Kept => &mut self.kept,
            Disposition::Relabelled => &mut self.mated.relabelled,
            Disposition::MatedWritten => &mut self.mated.split,
            Disposition::MatedDropped => &mut self.mated.dropped,
            Disposition::UnknownWritten => &mut self.unknown.split,
            Disposition::UnknownDropped => &mut self.unknown.dropped,
            Disposition::TableRow => &mut self.rows,
            Disposition::Evaluated => &mut self.evaluations.new,
            Disposition::EvaluationUnchanged => &mut self.evaluations.stayed,
        } += 1;
    }

    /// Counts a written game. `lost` holds lost names, comments and similar data, but not fields of records.
    pub(crate) fn count_game(&mut self, game: &Game, lost: InfoCounts) {
        let what = if game.is_position { &mut self.positions } else { &mut self.games };
        *what += 1;
        add_tally(&mut self.lost_info, lost.by_kind().into_iter());
    }

    /// Adds the counts of other records.
    pub fn add(&mut self, other: &Self) {
        self.input += other.input;
        self.kept += other.kept;
        self.mated.split += other.mated.split;
        self.mated.dropped += other.mated.dropped;
        self.mated.relabelled += other.mated.relabelled;
        self.unknown.split += other.unknown.split;
        self.unknown.dropped += other.unknown.dropped;
        self.rows += other.rows;
        self.evaluations.new += other.evaluations.new;
        self.evaluations.stayed += other.evaluations.stayed;
        add_each(&mut self.filtered, &other.filtered);
        self.bad.quarantined += other.bad.quarantined;
        self.bad.skipped += other.bad.skipped;
        self.verdicts.win += other.verdicts.win;
        self.verdicts.loss += other.verdicts.loss;
        self.verdicts.no_mate += other.verdicts.no_mate;
        add_each(&mut self.verdicts.unknown, &other.verdicts.unknown);
        self.verdicts.not_searched += other.verdicts.not_searched;
        add_each(&mut self.warnings, &other.warnings);
        add_each(&mut self.lost, &other.lost);
        add_each(&mut self.filled_in, &other.filled_in);
        add_each(&mut self.missing, &other.missing);
        self.games += other.games;
        self.positions += other.positions;
        add_each(&mut self.lost_info, &other.lost_info);
        self.nodes = self.nodes.saturating_add(other.nodes);
    }

    /// Records written to the main output: kept records, records with other labels, or rows of a table.
    pub(crate) const fn all_kept(&self) -> u64 {
        self.kept + self.mated.relabelled + self.evaluations.all() + self.rows
    }

    /// Positions with a proven mate.
    pub fn mates(&self) -> u64 {
        self.verdicts.win + self.verdicts.loss
    }

    /// Bad records.
    pub fn bad_records(&self) -> u64 {
        self.bad.all()
    }

    /// Checks that every record was counted exactly once, and every searched record has exactly one verdict.
    ///
    /// # Errors
    /// [`Error`] with the two sums that differ.
    pub fn check_balance(&self) -> Result<(), Error> {
        let mated = self.mated.all();
        let unknown = self.unknown.split + self.unknown.dropped;
        let searched = self.kept + mated + unknown + self.rows;
        let others =
            self.evaluations.all() + self.filtered.values().sum::<u64>() + self.bad_records();
        let stopped = self.verdicts.unknown.values().sum::<u64>();
        let verdicts = self.mates() + self.verdicts.no_mate + stopped + self.verdicts.not_searched;
        if self.rows > 0 {
            equal("input", self.input, "rows + filtered + bad", searched + others)?;
            return equal("verdicts", verdicts, "rows", self.rows);
        }
        equal("input", self.input, "kept + mated + unknown + filtered + bad", searched + others)?;
        equal("verdicts", verdicts, "kept + mated + unknown", searched)?;
        equal("win + loss", self.mates(), "mated", mated)
    }
}

/// The point between two blocks where a run can be resumed.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ResumePoint {
    /// Number of processed blocks.
    pub blocks: u64,
    /// Counts of their records.
    pub counts: Counts,
    /// How much of the last input range was read.
    pub read: Option<RangeRead>,
}

impl ResumePoint {
    pub(crate) fn advance(&mut self, block: &Counts, read: RangeRead) {
        self.blocks += 1;
        self.counts.add(block);
        self.read = Some(read);
    }
}

pub(crate) fn add_tally(
    counts: &mut BTreeMap<String, u64>,
    tally: impl Iterator<Item = (&'static str, u64)>,
) {
    for (name, count) in tally.filter(|&(_, count)| count > 0) {
        *counts.entry(name.to_owned()).or_default() += count;
    }
}

pub(crate) fn equal(
    left_name: &'static str,
    left: u64,
    right_name: &'static str,
    right: u64,
) -> Result<(), Error> {
    if left == right {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "the counts do not add up: {left_name} = {left}, but {right_name} = {right}"
    )))
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "required by serde")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn add_each<K: Ord + Clone>(sums: &mut BTreeMap<K, u64>, others: &BTreeMap<K, u64>) {
    for (key, count) in others {
        *sums.entry(key.clone()).or_default() += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_record_is_an_imbalance() {
        let mut counts = Counts { input: 3, ..Counts::default() };
        counts.count_verdict(Some(PositionVerdict::NoMate));
        counts.count_disposition(Disposition::Kept);
        counts.count_verdict(Some(PositionVerdict::Win));
        counts.count_disposition(Disposition::MatedWritten);
        assert_eq!(
            counts.check_balance().unwrap_err().to_string(),
            "the counts do not add up: input = 3, but kept + mated + unknown + filtered + bad = 2"
        );
        counts.filtered.insert(Condition::MinPly, 1);
        counts.check_balance().unwrap();
    }

    #[test]
    fn rows_balance_with_any_verdict() {
        let mut counts = Counts { input: 2, ..Counts::default() };
        for verdict in [PositionVerdict::Win, PositionVerdict::NoMate] {
            counts.count_verdict(Some(verdict));
            counts.count_disposition(Disposition::TableRow);
        }
        counts.check_balance().unwrap();
        counts.input += 1;
        assert_eq!(
            counts.check_balance().unwrap_err().to_string(),
            "the counts do not add up: input = 3, but rows + filtered + bad = 2"
        );
    }

    #[test]
    fn a_mate_that_was_kept_is_an_imbalance() {
        let mut counts = Counts { input: 1, ..Counts::default() };
        counts.count_verdict(Some(PositionVerdict::Loss));
        counts.count_disposition(Disposition::Kept);
        assert_eq!(
            counts.check_balance().unwrap_err().to_string(),
            "the counts do not add up: win + loss = 1, but mated = 0"
        );
    }
}
