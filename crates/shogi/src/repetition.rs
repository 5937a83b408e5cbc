//! Repetition of positions: draws, perpetual check, and positions with more or fewer pieces in hand.
//!
//! The fourth occurrence of a position ends a game (rules of the Japan Shogi Association). The game is a draw, unless
//! one side gave check with every move since the first occurrence. That side loses. A search decides itself which
//! earlier positions count.

use super::hand::Hand;
use super::position::Position;

/// The result of a repetition for the side to move.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Repetition {
    /// Neither side gave check with every move since the earlier occurrence.
    Draw,
    /// The opponent gave check with every move.
    Win,
    /// The side to move gave check with every move.
    Loss,
}

/// The positions of a game, or of a game and a search path, from the first to the last.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PositionHistory {
    /// Keys of board and side to move. They are separate from `entries` because every look-up reads them.
    keys: Vec<u64>,
    entries: Vec<Entry>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Entry {
    /// The hand of the side to move, then the hand of the opponent.
    hands: [Hand; 2],
    /// Number of consecutive turns on which the side to move was in check, including this one.
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

    /// Keeps only the first `len` positions.
    pub fn truncate(&mut self, len: usize) {
        self.keys.truncate(len);
        self.entries.truncate(len);
    }

    /// Number of positions.
    pub const fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether the history is empty.
    pub const fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The result if the last position has occurred at least `times` times; otherwise `None`.
    pub fn repetition(&self, times: usize) -> Option<Repetition> {
        let last = self.len().checked_sub(1)?;
        let hands = self.entries[last].hands;
        let mut same = self.earlier().filter(|&i| self.entries[i].hands == hands);
        Some(self.meaning(same.nth(times.checked_sub(2)?)?))
    }

    /// The result if the last position also occurred at most `plies` plies ago; otherwise `None`. Only the latest
    /// earlier occurrence of the board counts: if the hands differ there, this is not a repetition, even if the same
    /// position occurred before.
    ///
    /// dlshogi ends self-play games by this rule, with 16 plies (`Position::isDraw`).
    pub fn repetition_within(&self, plies: usize) -> Option<Repetition> {
        let last = self.len().checked_sub(1)?;
        let latest = self.earlier().next()?;
        let is_same = self.entries[latest].hands == self.entries[last].hands;
        (is_same && last - latest <= plies).then(|| self.meaning(latest))
    }

    /// The result of repeating position number `earlier`, for the side to move.
    fn meaning(&self, earlier: usize) -> Repetition {
        let last = self.len() - 1;
        let plies = last - earlier;
        // In this range the side to move has `plies / 2 + 1` turns, the opponent `plies / 2`.
        let mover_in_check = 2 * usize::from(self.entries[last].checks) > plies;
        let opponent_in_check = 2 * usize::from(self.entries[last - 1].checks) >= plies;
        match (mover_in_check, opponent_in_check) {
            (true, _) => Repetition::Win,
            (false, true) => Repetition::Loss,
            _ => Repetition::Draw,
        }
    }

    /// Compares the hand of the side to move with its hand at the latest earlier occurrence of the board where it
    /// differs. `true` if it now has at least as many pieces of each kind, otherwise `false`. `None` if there is no
    /// such occurrence.
    pub fn has_gained(&self) -> Option<bool> {
        let [mover, _] = self.entries.last()?.hands;
        self.earlier().find_map(|i| {
            let [before, _] = self.entries[i].hands;
            // One side has lost the pieces that the other has gained, so one hand is enough.
            (mover != before).then(|| mover.dominates(before))
        })
    }

    /// Numbers of the earlier positions with the same board and side to move as the last one, latest first.
    fn earlier(&self) -> impl Iterator<Item = usize> {
        let last = self.len().saturating_sub(1);
        let key = self.keys.last().copied();
        // No position can recur in fewer than four plies.
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
    fn a_repetition_counts_only_within_the_given_plies() {
        let moves = "9i8i 1a2a 8i9i 2a1a";
        let once = history("8k/9/9/9/9/9/9/9/K8 b - 1", moves);
        assert_eq!(once.repetition_within(3), None);
        assert_eq!(once.repetition_within(4), Some(Repetition::Draw));
        assert_eq!(once.repetition(4), None);
        // Occurrences 16 and 18 plies apart.
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
    fn perpetual_check_loses_on_the_second_occurrence() {
        let checks = history("4k4/R8/9/9/9/9/9/9/4K4 b - 1", "9b9a 5a5b 9a9b 5b5a");
        assert_eq!(checks.repetition_within(16), Some(Repetition::Loss));
        let checked = history("4k4/R8/9/9/9/9/9/9/4K4 b - 1", "9b9a 5a5b 9a9b 5b5a 9b9a");
        assert_eq!(checked.repetition_within(16), Some(Repetition::Win));
    }

    #[test]
    fn the_same_board_with_other_hands_hides_earlier_occurrences() {
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
