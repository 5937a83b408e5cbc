//! Positions that come again: draws, perpetual check, and positions with more or less in hand.
//!
//! The fourth time ends a game (rules of the Japan Shogi Association): as a draw, or, if one side has done nothing but
//! give check since the first time, with a loss of that side. Which earlier positions count inside a search is the
//! search's affair.

use super::hand::Hand;
use super::position::Position;

/// What a position that came before means, to the side to move.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Repetition {
    /// Nobody gave check all the while.
    Draw,
    /// The opponent gave check all the while.
    Win,
    /// The side to move did.
    Loss,
}

/// The positions of a game, or of a game and a path of a search, from the first to the last.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PositionHistory {
    /// Keys of board and side to move, apart from the rest: every look-up reads them.
    keys: Vec<u64>,
    entries: Vec<Entry>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Entry {
    /// That of the side to move first.
    hands: [Hand; 2],
    /// How many times in a row the side to move was in check, this time included.
    checks: u16,
}

impl PositionHistory {
    /// Adds the next position.
    pub fn push(&mut self, position: &Position) {
        let before = self.entries.len().checked_sub(2).map_or(0, |i| self.entries[i].checks);
        let checks = if position.in_check() { before.saturating_add(1) } else { 0 };
        let mover = position.side_to_move();
        self.keys.push(position.board_key());
        self.entries
            .push(Entry { hands: [mover, !mover].map(|color| position.hand(color)), checks });
    }

    /// Takes out all but the first `len`.
    pub fn truncate(&mut self, len: usize) {
        self.keys.truncate(len);
        self.entries.truncate(len);
    }

    /// How many there are.
    pub const fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// What it means that the last position has come for the `times`th time; `None` if it has come less often.
    pub fn repetition(&self, times: usize) -> Option<Repetition> {
        let last = self.len().checked_sub(1)?;
        let hands = self.entries[last].hands;
        let mut same = self.earlier().filter(|&i| self.entries[i].hands == hands);
        let plies = last - same.nth(times.checked_sub(2)?)?;
        // Of the side to move every other position counts, of the other side those between.
        let of_mover = 2 * usize::from(self.entries[last].checks) > plies;
        let of_opponent = 2 * usize::from(self.entries[last - 1].checks) >= plies;
        Some(match (of_mover, of_opponent) {
            (true, _) => Repetition::Win,
            (false, true) => Repetition::Loss,
            _ => Repetition::Draw,
        })
    }

    /// Whether the last board came before with another hand of the side to move: true if it has more now, false if
    /// less. The latest such board counts.
    pub fn has_gained(&self) -> Option<bool> {
        let [mover, _] = self.entries.last()?.hands;
        self.earlier().find_map(|i| {
            let [before, _] = self.entries[i].hands;
            // What one side has more the other has less.
            (mover != before).then(|| mover.dominates(before))
        })
    }

    /// Where the last board and side to move came before, latest first.
    fn earlier(&self) -> impl Iterator<Item = usize> {
        let last = self.len().saturating_sub(1);
        let key = self.keys.last().copied();
        // Nothing comes again in less than four plies.
        (0..(last + 1).saturating_sub(4)).rev().filter(move |&i| Some(self.keys[i]) == key)
    }
}
