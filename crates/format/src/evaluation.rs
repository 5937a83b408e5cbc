//! Converts between win probabilities and evaluations in centipawns.
//!
//! The curve and its scale follow Apery and dlshogi. Archives of both format families store a mate as 30,000 minus its
//! number of plies.

/// The evaluation at which the odds of winning are e to 1. dlshogi's teacher data uses this value (Apery uses
/// 756.0864962951762).
pub const EVAL_SCALE: f32 = 756.0865;

/// The evaluation of a win by mate in centipawns, before the number of plies is subtracted.
pub const MATE_EVAL: i16 = 30_000;

const MATED_EVAL: i16 = -MATE_EVAL;

/// Evaluations of at least this size are mates. A win probability below 1 (`f32`) never converts to such an evaluation.
const LEAST_MATE_EVAL: i16 = MATE_EVAL - 1000;

/// The evaluation of a mate in `plies` plies, for the side that mates if `wins`, otherwise for the side that is mated.
/// A mate in more than 1,000 plies counts as 1,000 plies, so that the evaluation is still recognised as a mate.
pub fn eval_of_mate(wins: bool, plies: usize) -> i16 {
    const MOST_PLIES: i16 = MATE_EVAL - LEAST_MATE_EVAL;
    let plies = i16::try_from(plies).unwrap_or(MOST_PLIES).min(MOST_PLIES);
    if wins { MATE_EVAL - plies } else { plies - MATE_EVAL }
}

/// Whether an evaluation is the evaluation of a mate.
pub const fn is_mate_eval(eval_cp: i16) -> bool {
    eval_cp.unsigned_abs() >= LEAST_MATE_EVAL.unsigned_abs()
}

/// The evaluation in centipawns of a position with win probability `value`: −scale · ln(1/v − 1). Never the evaluation
/// of a mate.
pub fn eval_of_value(value: f32, scale: f32) -> i16 {
    let most = f32::from(LEAST_MATE_EVAL - 1);
    let eval = -scale * libm::logf(1.0 / value - 1.0);
    // Infinite for 0 and 1.
    eval.clamp(-most, most).round() as i16
}

/// The win probability of an evaluation in centipawns: 1 / (1 + e^(−eval / scale)). 1 from 30,000 up and 0 from −30,000
/// down.
pub fn value_of_eval(eval_cp: i16, scale: f32) -> f32 {
    match eval_cp {
        MATE_EVAL.. => 1.0,
        i16::MIN..=MATED_EVAL => 0.0,
        _ => 1.0 / (1.0 + libm::expf(-f32::from(eval_cp) / scale)),
    }
}

/// Mixes win probabilities `a` and `b`, each given as the probabilities of a win and of a loss, with weights 1 − `mix`
/// and `mix`. Returns the evaluation in centipawns, never that of a mate.
///
/// Rounding makes a win probability near 1 equal to 1, so the probability of a loss cannot be computed from it.
fn eval_of_mixture(a: [f64; 2], b: [f64; 2], mix: f64, scale: f64) -> i16 {
    let [win, loss] = [0, 1].map(|side| (1.0 - mix) * a[side] + mix * b[side]);
    let most = f64::from(LEAST_MATE_EVAL - 1);
    (scale * libm::log(win / loss)).clamp(-most, most).round() as i16
}

/// The evaluation in centipawns after mixing the result of a game into an evaluation.
///
/// `result` is 1 for a win of the side whose view `eval_cp` is, 0.5 for a draw and 0 for a loss. `mix` is its weight,
/// from 0 to 1. Mixing for the other side (−`eval_cp`, 1 − `result`) gives the same evaluation with the other sign.
///
/// ```
/// use kyokumen_format::eval_mixed_with_result;
/// assert_eq!(eval_mixed_with_result(10_000, 1.0, 0.3, 600.0), 10_214);
/// assert_eq!(eval_mixed_with_result(-10_000, 0.0, 0.3, 600.0), -10_214);
/// ```
pub fn eval_mixed_with_result(eval_cp: i16, result: f32, mix: f32, scale: f32) -> i16 {
    let scale = f64::from(scale);
    let probability = |eval: f64| 1.0 / (1.0 + libm::exp(-eval / scale));
    let eval = f64::from(eval_cp);
    let stored = [probability(eval), probability(-eval)];
    let result = f64::from(result);
    eval_of_mixture(stored, [result, 1.0 - result], f64::from(mix), scale)
}

/// Like [`eval_mixed_with_result`], for a win probability instead of an evaluation.
pub fn value_mixed_with_result(value: f32, result: f32, mix: f32, scale: f32) -> i16 {
    let [value, result] = [value, result].map(|win| [f64::from(win), 1.0 - f64::from(win)]);
    eval_of_mixture(value, result, f64::from(mix), f64::from(scale))
}

/// The evaluation `eval_cp` × `to` / `from`, rounded to the nearest centipawn, halves away from 0. Never the evaluation
/// of a mate, unless `eval_cp` is one, which is returned unchanged. Also returns whether that limit changed it.
///
/// ```
/// use kyokumen_format::rescaled_eval;
/// assert_eq!(rescaled_eval(-5, 600.0, 300.0), (-3, false));
/// assert_eq!(rescaled_eval(20_000, 1.0, 2.0), (28_999, true));
/// assert_eq!(rescaled_eval(29_997, 1.0, 2.0), (29_997, false));
/// ```
pub fn rescaled_eval(eval_cp: i16, from: f64, to: f64) -> (i16, bool) {
    if is_mate_eval(eval_cp) {
        return (eval_cp, false);
    }
    let most = f64::from(LEAST_MATE_EVAL - 1);
    let eval = (f64::from(eval_cp) * to / from).round();
    (eval.clamp(-most, most) as i16, eval.abs() > most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mate_evaluations_lie_within_1000_of_30000() {
        assert_eq!(
            [(true, 3), (false, 0), (true, 1001), (false, 30_001), (true, usize::MAX)]
                .map(|(wins, plies)| eval_of_mate(wins, plies)),
            [29_997, -30_000, 29_000, -29_000, 29_000]
        );
        let evals = [29_000, -29_999, 31_111, i16::MIN, 28_999, -28_999, 12_500, 0];
        let mates = [true, true, true, true, false, false, false, false];
        assert_eq!(evals.map(is_mate_eval), mates);
        assert!(!is_mate_eval(eval_of_value(1.0_f32.next_down(), EVAL_SCALE)));
    }

    /// Against ln(1 + e^x) for both sides, which is exact without probabilities.
    #[test]
    fn results_are_mixed_into_every_evaluation_alike_for_both_sides() {
        let soft = |x: f64| x.max(0.0) + libm::log1p(libm::exp(-x.abs()));
        for scale in [361.0, 600.0, EVAL_SCALE] {
            for mix in [0.01, 0.3, 0.5] {
                for eval in 1 - LEAST_MATE_EVAL..LEAST_MATE_EVAL {
                    let mixed =
                        |sign: i16, result| eval_mixed_with_result(sign * eval, result, mix, scale);
                    let (win, loss) = (mixed(1, 1.0), mixed(1, 0.0));
                    assert_eq!([mixed(-1, 0.0), mixed(-1, 1.0)], [-win, -loss], "{eval}");
                    // With k = mix / (1 − mix): the odds (p + k) / q of a win are e^x + k (1 + e^x).
                    let (x, k) = (f64::from(eval) / f64::from(scale), f64::from(mix));
                    let k = k / (1.0 - k);
                    let log_odds = if x > 0.0 {
                        x + libm::log1p(k * (1.0 + libm::exp(-x)))
                    } else {
                        libm::log(k) + soft(x) + libm::log1p(libm::exp(x - soft(x)) / k)
                    };
                    let exact = f64::from(scale) * log_odds;
                    let exact = exact.min(f64::from(LEAST_MATE_EVAL - 1));
                    assert!(
                        (f64::from(win) - exact).abs() < 0.51,
                        "{eval} {mix} {scale}: {win} {exact}"
                    );
                    assert!(loss <= win);
                }
            }
        }
    }

    #[test]
    fn evaluations_and_values_are_inverse() {
        for (value, eval) in [(0.5, 0), (0.731_058_6, 756), (0.268_941_4, -756), (0.9, 1661)] {
            assert_eq!(eval_of_value(value, EVAL_SCALE), eval);
        }
        assert_eq!([0.0, 1.0].map(|value| eval_of_value(value, EVAL_SCALE)), [-28_999, 28_999]);
        for eval in (-6000..=6000).step_by(100) {
            let there = eval_of_value(value_of_eval(eval, EVAL_SCALE), EVAL_SCALE);
            assert!((there - eval).abs() <= 2, "{eval} {there}");
        }
        let mates = [MATE_EVAL, -MATE_EVAL].map(|eval| value_of_eval(eval, EVAL_SCALE));
        assert_eq!(mates.map(f32::to_bits), [1.0_f32, 0.0].map(f32::to_bits));
    }
}
