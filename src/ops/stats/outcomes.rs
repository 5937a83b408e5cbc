//! Game results for the side to move, by evaluation.

use std::collections::HashMap;

use serde::Serialize;

use crate::shogi::Color;

/// Quantile of the normal distribution for a two-sided interval of 95 %.
pub(super) const Z_95: f64 = 1.959_963_984_540_054;

/// Numbers of wins, draws and losses of the side to move.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[expect(missing_docs, reason = "self-explanatory names")]
pub struct Outcomes {
    pub win: u64,
    pub draw: u64,
    pub loss: u64,
}

/// The win rate with its 95 % interval. A draw counts as half a win.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct WinRate {
    /// The win rate, from 0 to 1.
    pub win_rate: f64,
    /// Lower end of the 95 % interval of Wilson (1927). It assumes independent records without draws. Draws make it too
    /// wide, and several records of one game make it too narrow.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

impl Outcomes {
    /// Number of all records.
    pub const fn records(self) -> u64 {
        self.win + self.draw + self.loss
    }

    /// Returns the win rate. `None` if there are no records.
    pub fn win_rate(self) -> Option<WinRate> {
        if self.records() == 0 {
            return None;
        }
        let records = self.records() as f64;
        let win_rate = (self.win as f64 + self.draw as f64 / 2.0) / records;
        let weight = Z_95 * Z_95 / records;
        let middle = (win_rate + weight / 2.0) / (1.0 + weight);
        let variance = win_rate * (1.0 - win_rate) / records + weight / (4.0 * records);
        let half = Z_95 * variance.sqrt() / (1.0 + weight);
        let (low, high) = ((middle - half).max(0.0), (middle + half).min(1.0));
        Some(WinRate { win_rate, low, high })
    }

    pub(super) fn count(&mut self, winner: Option<Color>, side_to_move: Color) {
        *match winner {
            None => &mut self.draw,
            Some(winner) if winner == side_to_move => &mut self.win,
            Some(_) => &mut self.loss,
        } += 1;
    }

    pub(super) const fn add(&mut self, other: Self) {
        self.win += other.win;
        self.draw += other.draw;
        self.loss += other.loss;
    }
}

/// Outcomes by evaluation. The counts are integers, so the order of the records does not matter.
#[derive(Clone, Debug, Default)]
pub(super) struct OutcomesByEval {
    outcomes: HashMap<i16, Outcomes>,
}

impl OutcomesByEval {
    pub(super) fn count(&mut self, eval_cp: i16, winner: Option<Color>, side_to_move: Color) {
        self.outcomes.entry(eval_cp).or_default().count(winner, side_to_move);
    }

    pub(super) fn add_outcomes(&mut self, eval_cp: i16, outcomes: Outcomes) {
        self.outcomes.entry(eval_cp).or_default().add(outcomes);
    }

    pub(super) fn add(&mut self, other: &Self) {
        for (&eval_cp, &outcomes) in &other.outcomes {
            self.add_outcomes(eval_cp, outcomes);
        }
    }

    /// Sorted by evaluation, ascending.
    pub(super) fn sorted(&self) -> Vec<(i16, Outcomes)> {
        let mut sorted: Vec<_> =
            self.outcomes.iter().map(|(&eval_cp, &outcomes)| (eval_cp, outcomes)).collect();
        sorted.sort_unstable_by_key(|&(eval_cp, _)| eval_cp);
        sorted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_equal_published_wilson_intervals() {
        // 81 of 263: Newcombe (1998), Statistics in Medicine 17, table I, gives 0.2553 to 0.3662.
        let it = Outcomes { win: 81, draw: 0, loss: 182 }.win_rate().unwrap();
        assert_eq!(
            format!("{:.4} {:.4} {:.4}", it.win_rate, it.low, it.high),
            "0.3080 0.2553 0.3662"
        );
        // 0 of 20: 0 to 0.1611.
        let it = Outcomes { win: 0, draw: 0, loss: 20 }.win_rate().unwrap();
        assert_eq!(format!("{:.4} {:.4}", it.low, it.high), "0.0000 0.1611");
        let half = Outcomes { win: 1, draw: 2, loss: 1 }.win_rate().unwrap();
        assert!((half.win_rate - 0.5).abs() < 1e-12 && half.low + half.high - 1.0 < 1e-12);
        assert_eq!(Outcomes::default().win_rate(), None);
    }
}
