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
        Some(self.meaning(same.nth(times.checked_sub(2)?)?))
    }

    /// What it means that the last position came before, at most so many plies ago; `None` if it did not. Only the
    /// latest time that its board came counts: with other hands it is no repetition, whatever came before it.
    ///
    /// dlshogi ends games of self-play by this, with 16 plies (`Position::isDraw`).
    pub fn repetition_within(&self, plies: usize) -> Option<Repetition> {
        let last = self.len().checked_sub(1)?;
        let latest = self.earlier().next()?;
        let is_same = self.entries[latest].hands == self.entries[last].hands;
        (is_same && last - latest <= plies).then(|| self.meaning(latest))
    }

    /// What the repetition of position `earlier` means for the side to move.
    fn meaning(&self, earlier: usize) -> Repetition {
        let last = self.len() - 1;
        let plies = last - earlier;
        // Of the side to move every other position counts, of the other side those between.
        let of_mover = 2 * usize::from(self.entries[last].checks) > plies;
        let of_opponent = 2 * usize::from(self.entries[last - 1].checks) >= plies;
        match (of_mover, of_opponent) {
            (true, _) => Repetition::Win,
            (false, true) => Repetition::Loss,
            _ => Repetition::Draw,
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Move;

    fn history(sfen: &str, moves: &str) -> PositionHistory {
        let mut position: Position = sfen.parse().unwrap();
        let mut history = PositionHistory::default();
        history.push(&position);
        for m in moves.split_whitespace() {
            position.make(Move::from_usi(m).unwrap());
            history.push(&position);
        }
        history
    }

    #[test]
    fn a_repetition_counts_within_so_many_plies() {
        let moves = "9i8i 1a2a 8i9i 2a1a";
        let once = history("8k/9/9/9/9/9/9/9/K8 b - 1", moves);
        assert_eq!(once.repetition_within(3), None);
        assert_eq!(once.repetition_within(4), Some(Repetition::Draw));
        assert_eq!(once.repetition(4), None);
        // Sixteen plies ago, and eighteen.
        let walk = |back: &str| {
            let there = "9i9h 1a1b 9h9g 1b1c 9g9f 1c1d 9f9e 1d1e";
            history("8k/9/9/9/9/9/9/9/K8 b - 1", &format!("{there} {back}"))
        };
        let sixteen = walk("9e8f 1e2d 8f8g 2d2c 8g8h 2c2b 8h9i 2b1a");
        assert_eq!(sixteen.repetition_within(16), Some(Repetition::Draw));
        let eighteen = walk("9e8f 1e2d 8f8g 2d2c 8g8h 2c2b 8h8i 2b2a 8i9i 2a1a");
        assert_eq!(eighteen.repetition_within(16), None);
        assert_eq!(eighteen.repetition_within(18), Some(Repetition::Draw));
    }

    #[test]
    fn a_perpetual_check_loses_the_second_time_too() {
        let checks = history("4k4/R8/9/9/9/9/9/9/4K4 b - 1", "9b9a 5a5b 9a9b 5b5a");
        assert_eq!(checks.repetition_within(16), Some(Repetition::Loss));
        let checked = history("4k4/R8/9/9/9/9/9/9/4K4 b - 1", "9b9a 5a5b 9a9b 5b5a 9b9a");
        assert_eq!(checked.repetition_within(16), Some(Repetition::Win));
    }

    #[test]
    fn a_board_with_other_hands_hides_what_came_before_it() {
        let sfens = ["8k/9/9/9/9/9/9/9/K8 b P 1", "8k/9/9/9/9/9/9/9/1K7 b P 1"];
        let [there, away] = sfens.map(|sfen| sfen.parse::<Position>().unwrap());
        let richer: Position = "8k/9/9/9/9/9/9/9/K8 b 2P 1".parse().unwrap();
        let mut history = PositionHistory::default();
        for position in [&there, &away, &away, &away, &richer, &away, &away, &away, &there] {
            history.push(position);
        }
        assert_eq!(history.repetition(2), Some(Repetition::Draw));
        assert_eq!(history.repetition_within(16), None);
    }
}
