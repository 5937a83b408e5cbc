//! Probabilities of winning as evaluations of the field, and back.
//!
//! The curve and its scale are those of Apery and dlshogi; mates as 30,000 less their plies is what archives of both
//! families hold.

/// Centipawns where the odds are e to 1: that of dlshogi's teacher data (756.0864962951762 in Apery's).
pub const EVAL_SCALE: f32 = 756.0865;

/// The evaluation of a proven win, in centipawns, before its plies are taken off.
pub const MATE_EVAL: i16 = 30_000;

const MATED_EVAL: i16 = -MATE_EVAL;

/// Evaluations from here on are mates. A win probability below 1 (`f32`) never converts to one as large.
const LEAST_MATE_EVAL: i16 = MATE_EVAL - 1000;

/// The evaluation of a mate in `plies` plies: for the side that mates if `wins`, else for the other one. A longer mate
/// counts as one in 1,000 plies, so that its evaluation remains that of a mate.
pub fn eval_of_mate(wins: bool, plies: usize) -> i16 {
    const MOST_PLIES: i16 = MATE_EVAL - LEAST_MATE_EVAL;
    let plies = i16::try_from(plies).unwrap_or(MOST_PLIES).min(MOST_PLIES);
    if wins { MATE_EVAL - plies } else { plies - MATE_EVAL }
}

/// Whether an evaluation is that of a proven mate.
pub const fn is_mate_eval(eval_cp: i16) -> bool {
    eval_cp.unsigned_abs() >= LEAST_MATE_EVAL.unsigned_abs()
}

/// The evaluation, in centipawns, of a position that is won with probability `value`: −scale · ln(1/v − 1), never that
/// of a proven win or loss.
pub fn eval_of_value(value: f32, scale: f32) -> i16 {
    let most = f32::from(LEAST_MATE_EVAL - 1);
    let eval = -scale * libm::logf(1.0 / value - 1.0);
    // Infinite for 0 and 1.
    eval.clamp(-most, most).round() as i16
}

/// The probability of winning that an evaluation in centipawns stands for: 1 / (1 + e^(−eval / scale)); 0 and 1 for
/// mates.
pub fn value_of_eval(eval_cp: i16, scale: f32) -> f32 {
    match eval_cp {
        MATE_EVAL.. => 1.0,
        i16::MIN..=MATED_EVAL => 0.0,
        _ => 1.0 / (1.0 + libm::expf(-f32::from(eval_cp) / scale)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mates_are_told_by_their_distance_from_30000() {
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

    #[test]
    fn evaluations_and_values_are_each_other_s_inverse() {
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
