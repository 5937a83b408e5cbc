//! The scale that converts evaluations to win rates, fitted to the results of the games.
//!
//! The curve is 1 / (1 + e^(−evaluation / scale)), as in Apery and dlshogi (scale 756.0865). The coefficient 1 / scale
//! is fitted by maximum likelihood. This is a logistic regression without intercept: at evaluation 0 both sides are
//! equally likely to win. A draw counts as half a win and half a loss.

use serde::Serialize;

use super::outcomes::{OutcomesByEval, Z_95};
use crate::format::is_mate_eval;

/// The fitted scale and the number of records used.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct EvalScale {
    /// The scale: the evaluation in centipawns where the odds of winning are e to 1. `None` if no scale fits.
    pub scale_cp: Option<f64>,
    /// Lower end of the 95 % interval of the scale, from the observed information. It assumes independent records. The
    /// records of one game are not independent, so the true interval is wider.
    pub low_cp: Option<f64>,
    /// Upper end of the interval. `None` if it is unbounded.
    pub high_cp: Option<f64>,
    /// The reason if there is no scale.
    pub why_none: Option<NoScale>,
    /// Mean of −ln(p), where p is the probability that the curve gives to the actual result. A coin flip has
    /// ln 2 = 0.693.
    pub log_loss: Option<f64>,
    /// Number of records used: records with evaluation and result.
    pub records: u64,
    /// Number of the used records with evaluation 0. They fit every scale.
    pub eval_0: u64,
    /// Number of records left out because their evaluation is a mate (absolute value 29,000 or more).
    pub mates: u64,
    /// Number of records left out because they lack an evaluation or a result.
    pub incomplete: u64,
}

/// The reason why no scale fits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NoScale {
    /// No record has both a result and an evaluation that is neither 0 nor a mate.
    NoEvals,
    /// The win rate does not rise with the evaluation.
    NotRising,
    /// The evaluations predict the results perfectly or nearly so. The scale would be less than one centipawn.
    Separated,
}

/// Evaluations with their counts, in ascending order.
struct Sample {
    evals: Vec<EvalCount>,
}

/// Records and wins at one evaluation. A draw is half a win.
struct EvalCount {
    eval_cp: f64,
    records: f64,
    wins: f64,
}

/// Largest coefficient to try: a scale of one centipawn.
const MAX_COEFFICIENT: f64 = 1.0;

impl EvalScale {
    /// Fits the scale to `outcomes`. `records` is the number of all records, including incomplete ones.
    pub(super) fn fitted(outcomes: &OutcomesByEval, records: u64) -> Self {
        let (mut used, mut eval_0, mut mates) = (0, 0, 0);
        let mut evals = Vec::new();
        for (eval_cp, outcomes) in outcomes.sorted() {
            let records = outcomes.records();
            if is_mate_eval(eval_cp) {
                mates += records;
                continue;
            }
            used += records;
            eval_0 += if eval_cp == 0 { records } else { 0 };
            let wins = outcomes.win as f64 + outcomes.draw as f64 / 2.0;
            evals.push(EvalCount { eval_cp: eval_cp.into(), records: records as f64, wins });
        }
        let incomplete = records - used - mates;
        let none = Self {
            scale_cp: None,
            low_cp: None,
            high_cp: None,
            why_none: None,
            log_loss: None,
            records: used,
            eval_0,
            mates,
            incomplete,
        };
        let sample = Sample { evals };
        match sample.coefficient() {
            Err(why) => Self { why_none: Some(why), ..none },
            Ok(coefficient) => {
                let margin = Z_95 / sample.information(coefficient).sqrt();
                let least = coefficient - margin;
                Self {
                    scale_cp: Some(coefficient.recip()),
                    low_cp: Some((coefficient + margin).recip()),
                    high_cp: (least > 0.0).then(|| least.recip()),
                    log_loss: Some(sample.log_loss(coefficient)),
                    ..none
                }
            }
        }
    }
}

impl Sample {
    /// Finds the root of the slope, which decreases everywhere. Uses Newton steps, and bisection if a step would leave
    /// the bracket.
    fn coefficient(&self) -> Result<f64, NoScale> {
        if self.evals.iter().all(|count| count.eval_cp == 0.0) {
            return Err(NoScale::NoEvals);
        }
        if self.slope(0.0) <= 0.0 {
            return Err(NoScale::NotRising);
        }
        if self.slope(MAX_COEFFICIENT) > 0.0 {
            return Err(NoScale::Separated);
        }
        let (mut low, mut high) = (0.0, MAX_COEFFICIENT);
        let mut coefficient = 0.0;
        for _ in 0..200 {
            let step = self.slope(coefficient) / self.information(coefficient);
            let newton = coefficient + step;
            let next =
                if newton > low && newton < high { newton } else { f64::midpoint(low, high) };
            if (next - coefficient).abs() <= 1e-15 * next {
                return Ok(next);
            }
            *(if self.slope(next) > 0.0 { &mut low } else { &mut high }) = next;
            coefficient = next;
        }
        Ok(coefficient)
    }

    /// First derivative of the log-likelihood.
    fn slope(&self, coefficient: f64) -> f64 {
        let slopes = self.evals.iter().map(|count| {
            let expected = count.records * win_rate(coefficient * count.eval_cp);
            count.eval_cp * (count.wins - expected)
        });
        slopes.sum()
    }

    /// Negative second derivative of the log-likelihood.
    fn information(&self, coefficient: f64) -> f64 {
        let terms = self.evals.iter().map(|count| {
            let odds = coefficient * count.eval_cp;
            count.records * count.eval_cp * count.eval_cp * win_rate(odds) * win_rate(-odds)
        });
        terms.sum()
    }

    fn log_loss(&self, coefficient: f64) -> f64 {
        let (mut loss, mut records) = (0.0, 0.0);
        for count in &self.evals {
            let odds = coefficient * count.eval_cp;
            loss += count.wins * softplus(-odds) + (count.records - count.wins) * softplus(odds);
            records += count.records;
        }
        loss / records
    }
}

/// 1 / (1 + e^−odds), where `odds` is the logarithm of the odds. `libm` gives the same result on every platform.
fn win_rate(odds: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-odds))
}

/// ln(1 + e^x) without overflow.
fn softplus(x: f64) -> f64 {
    x.max(0.0) + libm::log1p(libm::exp(-x.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::stats::Outcomes;

    fn outcomes(counts: &[(i16, [u64; 3])]) -> OutcomesByEval {
        let mut by_eval = OutcomesByEval::default();
        for &(eval_cp, [win, draw, loss]) in counts {
            by_eval.add_outcomes(eval_cp, Outcomes { win, draw, loss });
        }
        by_eval
    }

    fn fitted(counts: &[(i16, [u64; 3])]) -> EvalScale {
        let records = counts.iter().map(|(_, counts)| counts.iter().sum::<u64>()).sum();
        EvalScale::fitted(&outcomes(counts), records)
    }

    fn assert_near(actual: Option<f64>, expected: f64) {
        let actual = actual.unwrap();
        assert!((actual / expected - 1.0).abs() < 1e-12, "{actual}, expected {expected}");
    }

    #[test]
    fn scale_of_a_single_evaluation_equals_the_closed_form() {
        // 75 % at 300: the odds are 3 to 1, the scale 300 / ln 3. The information is n · x² · p · (1 − p).
        let it = fitted(&[(300, [70, 10, 20]), (0, [5, 0, 2])]);
        assert_near(it.scale_cp, 300.0 / 3_f64.ln());
        let (coefficient, error) = (3_f64.ln() / 300.0, (100.0 * 9e4 * 0.1875_f64).sqrt().recip());
        assert_near(it.low_cp, (coefficient + Z_95 * error).recip());
        assert_near(it.high_cp, (coefficient - Z_95 * error).recip());
        assert_eq!((it.records, it.eval_0, it.mates, it.incomplete), (107, 7, 0, 0));
        let loss = (75.0 * (4.0_f64 / 3.0).ln() + 25.0 * 4_f64.ln() + 7.0 * 2_f64.ln()) / 107.0;
        assert_near(it.log_loss, loss);
        // The same records seen by the other side.
        let turned = fitted(&[(-300, [20, 10, 70]), (0, [2, 0, 5])]);
        assert_near(turned.scale_cp, it.scale_cp.unwrap());
    }

    #[test]
    #[expect(clippy::cast_sign_loss, reason = "win rates are not negative")]
    fn fit_recovers_the_scale_that_generated_the_results() {
        let counts: Vec<(i16, [u64; 3])> = (-4000..=4000)
            .step_by(7)
            .map(|eval_cp: i16| {
                let win = (1e9 * win_rate(f64::from(eval_cp) / 756.0865)).round() as u64;
                (eval_cp, [win, 0, 1_000_000_000 - win])
            })
            .collect();
        let it = fitted(&counts);
        assert!((it.scale_cp.unwrap() - 756.0865).abs() < 1e-5, "{it:?}");
        assert!(it.low_cp.unwrap() < 756.0865 && it.high_cp.unwrap() > 756.0865, "{it:?}");
    }

    #[test]
    fn mates_and_incomplete_records_are_left_out() {
        let with_mates =
            [(300, [70, 10, 20]), (29_000, [0, 0, 7]), (i16::MIN, [3, 0, 0]), (28_999, [1, 0, 0])];
        let it = EvalScale::fitted(&outcomes(&with_mates), 120);
        assert_eq!((it.records, it.mates, it.incomplete), (101, 10, 9));
        assert_near(it.scale_cp, 300.0 / 3_f64.ln());
    }

    #[test]
    fn a_missing_scale_has_a_reason() {
        for (counts, why) in [
            (&[][..], NoScale::NoEvals),
            (&[(0, [3, 1, 2]), (30_000, [3, 1, 2])], NoScale::NoEvals),
            (&[(100, [1, 0, 2])], NoScale::NotRising),
            (&[(100, [2, 3, 2])], NoScale::NotRising),
            (&[(100, [2, 0, 0]), (-5, [0, 0, 9])], NoScale::Separated),
        ] {
            let it = fitted(counts);
            assert_eq!((it.scale_cp, it.why_none), (None, Some(why)), "{counts:?}");
        }
        // Too few records for an upper bound.
        let it = fitted(&[(100, [2, 0, 1])]);
        assert!(it.scale_cp.is_some() && it.low_cp.is_some() && it.high_cp.is_none(), "{it:?}");
    }
}
