//! Finds games in consecutive records, and signs that the inputs divide games.

use std::collections::{BTreeMap, HashSet};

use twox_hash::XxHash3_128;

use crate::format::{Continuation, PositionKey, Record};
use crate::shogi::{Position, Setup};

/// Largest number of squares that differ between two records of one game if a filter removed few records in between.
const MOST_CHANGED: usize = 24;

/// A game without move numbers may come nearer to the initial position by this number of squares.
const MOST_REGAINED: usize = 8;

/// Number of games whose first and last positions are compared. The positions take up to 40 MB.
const COMPARED_GAMES: usize = 1 << 20;

/// Games that begin this much later than twice the median begin late.
const LATE_PLIES: u16 = 40;

/// Whether two consecutive records belong to the same game. A filter may have removed records in between. In doubt
/// they do: several games that are taken for one stay together, so the parts still have no game in common.
pub(super) fn is_same_game(before: &Record, after: &Record) -> bool {
    if !agree(before, after) {
        return false;
    }
    match (ply(before), ply(after)) {
        (Some(before), Some(after)) => before < after,
        _ => {
            Continuation::of(before).is_some_and(|next| next.is(after))
                || may_continue(before, after)
        }
    }
}

fn ply(record: &Record) -> Option<u16> {
    record.ply.filter(|&ply| ply > 0)
}

/// Whether result and ending can be of the same game. A record without a result does not end a game.
fn agree(before: &Record, after: &Record) -> bool {
    let has_no_result = before.result.is_none() || after.result.is_none();
    (has_no_result || before.result == after.result)
        && (before.ending, before.end_ply) == (after.ending, after.end_ply)
}

/// Whether a record without move number may belong to the game of an earlier one. A game moves away from the initial
/// position, so the next game usually begins nearer to it.
fn may_continue(before: &Record, after: &Record) -> bool {
    let distance = distance_from_start(&after.setup);
    distance > 0
        && (changed_squares(&before.setup, &after.setup) <= MOST_CHANGED
            || distance + MOST_REGAINED > distance_from_start(&before.setup))
}

fn distance_from_start(setup: &Setup) -> usize {
    changed_squares(setup, &Position::start().setup())
}

fn changed_squares(before: &Setup, after: &Setup) -> usize {
    let boards = before.board().iter().zip(after.board().iter());
    boards.filter(|(before, after)| before != after).count()
}

/// The first record of a run of records of the same game.
pub(super) struct RunStart {
    /// Its move number. Without one, the number of squares that differ from the initial position.
    plies: u16,
    /// Hash of its position, except for the initial position.
    position: Option<u64>,
}

impl RunStart {
    pub(super) fn of(record: &Record) -> Self {
        let distance = distance_from_start(&record.setup);
        Self {
            plies: ply(record).unwrap_or(distance as u16),
            position: (distance > 0).then(|| hash_of(&record.setup)),
        }
    }
}

/// Hash of the position after a record that ends a run. `None` if the record has no legal move.
pub(super) fn position_after(record: &Record) -> Option<u64> {
    let mut position = Position::try_from(&record.setup).ok()?;
    position.make(record.best_move.filter(|&best_move| position.is_legal(best_move))?);
    Some(hash_of(&position.setup()))
}

fn hash_of(setup: &Setup) -> u64 {
    XxHash3_128::oneshot(PositionKey::of(setup).bytes()) as u64
}

/// Counts the games that begin in the middle of a game, for example because a game was cut at the end of a file.
#[derive(Default)]
pub(super) struct DividedGames {
    starts: HashSet<u64>,
    ends: HashSet<u64>,
    continued: u64,
    /// Number of games by their first ply.
    first_plies: BTreeMap<u16, u64>,
}

impl DividedGames {
    pub(super) fn start(&mut self, start: &RunStart) {
        *self.first_plies.entry(start.plies).or_default() += 1;
        let Some(position) = start.position.filter(|_| self.starts.len() < COMPARED_GAMES) else {
            return;
        };
        let is_new = self.starts.insert(position);
        self.continued += u64::from(is_new && self.ends.contains(&position));
    }

    /// A game ends. `after` is the position after its last move.
    pub(super) fn end(&mut self, after: Option<u64>) {
        let Some(after) = after.filter(|_| self.ends.len() < COMPARED_GAMES) else { return };
        let is_new = self.ends.insert(after);
        self.continued += u64::from(is_new && self.starts.contains(&after));
    }

    /// Number of games that begin with the position after another game. The files may be in another order than the
    /// records.
    pub(super) const fn continued(&self) -> u64 {
        self.continued
    }

    /// Number of games that begin much later than most. 0 if they are rare, because filters may have that effect.
    pub(super) fn late(&self) -> u64 {
        let games: u64 = self.first_plies.values().sum();
        let mut counted = 0;
        let median = self.first_plies.iter().find_map(|(&plies, &games_here)| {
            counted += games_here;
            (2 * counted >= games).then_some(plies)
        });
        let limit = median.unwrap_or(0).saturating_mul(2).saturating_add(LATE_PLIES);
        let late = self.first_plies.range(limit..).map(|(_, games)| games).sum();
        if late * 100 > games { late } else { 0 }
    }
}
