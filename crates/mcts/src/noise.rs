//! Random numbers of a root. They are the same on every machine.

use kyokumen_game::random::SplitMix64;
use kyokumen_shogi::Move;

use crate::settings::DirichletNoise;

/// The probability of a move with dlshogi's noise. `bits` selects the moves whose probability is raised.
pub(crate) fn raised(per_mille: u16, bits: u64, m: Move, prior: f32) -> f32 {
    let bits = SplitMix64::nth_bits(bits, u64::from(m.code().get()));
    let drawn = (u128::from(bits) * 1000) >> 64;
    if drawn < u128::from(per_mille) { f32::midpoint(prior, 1.0) } else { prior }
}

/// A number with a Gumbel distribution for a move.
pub(crate) fn gumbel(seed: u64, m: Move) -> f64 {
    let bits = SplitMix64::nth_bits(seed, u64::from(m.code().get()));
    -libm::log(-libm::log(open_unit(bits)))
}

/// The probabilities of all legal moves with Dirichlet noise.
pub(crate) fn with_dirichlet(noise: DirichletNoise, seed: u64, policy: &[f32]) -> Vec<f32> {
    let mut random = SplitMix64::new(seed);
    let concentration = f64::from(noise.concentration);
    let drawn: Vec<f64> =
        shares(policy).iter().map(|share| gamma(share * concentration, &mut random)).collect();
    let sum: f64 = drawn.iter().sum();
    // All numbers can be too small to be represented if the concentration is tiny.
    if sum <= 0.0 {
        return policy.to_vec();
    }
    let weight = f64::from(noise.weight);
    let mix = |(&p, drawn): (&f32, f64)| (1.0 - weight) * f64::from(p) + weight * drawn / sum;
    policy.iter().zip(drawn).map(|pair| mix(pair) as f32).collect()
}

/// The share of each move in the concentration (`KataGo`, `Search::computeDirichletAlphaDistribution`): half is divided
/// equally, half in proportion to the logarithm of the probability, if it is above the mean. Probabilities above 1 %
/// count as 1 %.
fn shares(policy: &[f32]) -> Vec<f64> {
    let count = policy.len() as f64;
    let logs: Vec<f64> =
        policy.iter().map(|&p| libm::log(f64::from(p).min(0.01) + 1e-20)).collect();
    let mean = logs.iter().sum::<f64>() / count;
    let above: Vec<f64> = logs.iter().map(|log| (log - mean).max(0.0)).collect();
    let sum: f64 = above.iter().sum();
    let share =
        |above| if sum > 0.0 { f64::midpoint(above / sum, 1.0 / count) } else { 1.0 / count };
    above.into_iter().map(share).collect()
}

/// A number with a gamma distribution of the given shape and scale 1 (Marsaglia and Tsang 2000, "A simple method for
/// generating gamma variables").
fn gamma(shape: f64, random: &mut SplitMix64) -> f64 {
    if shape < 1.0 {
        let unit = open_unit(random.next_bits());
        return gamma(shape + 1.0, random) * libm::pow(unit, 1.0 / shape);
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let normal = normal(random);
        let cube_root = 1.0 + c * normal;
        if cube_root <= 0.0 {
            continue;
        }
        let v = cube_root * cube_root * cube_root;
        let limit = 0.5 * normal * normal + d - d * v + d * libm::log(v);
        if libm::log(open_unit(random.next_bits())) < limit {
            return d * v;
        }
    }
}

/// A number with a normal distribution (Box and Muller 1958).
fn normal(random: &mut SplitMix64) -> f64 {
    let radius = (-2.0 * libm::log(open_unit(random.next_bits()))).sqrt();
    radius * libm::cos(std::f64::consts::TAU * open_unit(random.next_bits()))
}

/// A number above 0 and below 1.
fn open_unit(bits: u64) -> f64 {
    const BITS: u32 = 52;
    ((bits >> (u64::BITS - BITS)) as f64 + 0.5) / (1_u64 << BITS) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNT: usize = 20_000;

    fn mean_and_variance(numbers: &[f64]) -> (f64, f64) {
        let count = numbers.len() as f64;
        let mean = numbers.iter().sum::<f64>() / count;
        (mean, numbers.iter().map(|number| (number - mean) * (number - mean)).sum::<f64>() / count)
    }

    #[track_caller]
    fn near(actual: f64, expected: f64) {
        assert!((actual - expected).abs() < 0.05 * expected.abs(), "{actual}, not {expected}");
    }

    #[test]
    fn mean_and_variance_of_a_gamma_distribution_are_its_shape() {
        for shape in [0.1, 0.7, 1.0, 4.5] {
            let mut random = SplitMix64::new(1);
            let numbers: Vec<f64> = (0..COUNT).map(|_| gamma(shape, &mut random)).collect();
            let (mean, variance) = mean_and_variance(&numbers);
            near(mean, shape);
            near(variance, shape);
        }
    }

    /// The mean is Euler's constant and the variance π² / 6.
    #[test]
    fn numbers_have_a_gumbel_distribution() {
        let m = Move::from_usi("7g7f").unwrap();
        let numbers: Vec<f64> = (0..COUNT as u64).map(|seed| gumbel(seed, m)).collect();
        let (mean, variance) = mean_and_variance(&numbers);
        near(mean, 0.577_215_664_9);
        near(variance, std::f64::consts::PI * std::f64::consts::PI / 6.0);
    }

    /// The values follow from the definition: the logarithms are −4.605, −4.605 and −6.908, with a mean of −5.373.
    #[test]
    fn probable_moves_have_larger_shares() {
        let close = |shares: &[f64], expected: &[f64]| {
            shares.iter().zip(expected).all(|(share, expected)| (share - expected).abs() < 1e-9)
        };
        let third = 1.0 / 3.0;
        let (probable, other) = (f64::midpoint(0.5, third), third / 2.0);
        assert!(close(&shares(&[0.9, 0.099, 0.001]), &[probable, probable, other]));
        assert!(close(&shares(&[0.5, 0.3, 0.2]), &[third; 3]));
    }

    #[test]
    fn noise_keeps_the_sum_of_the_probabilities() {
        let policy = [0.7, 0.25, 0.05];
        let mut means = [0.0; 3];
        for seed in 0..2_000 {
            let noise = DirichletNoise { concentration: 10.83, weight: 0.25 };
            let noisy = with_dirichlet(noise, seed, &policy);
            assert!((noisy.iter().sum::<f32>() - 1.0).abs() < 1e-5, "{noisy:?}");
            assert!(noisy.iter().zip(policy).all(|(noisy, p)| *noisy >= 0.75 * p));
            for (mean, noisy) in means.iter_mut().zip(noisy) {
                *mean += f64::from(noisy) / 2_000.0;
            }
        }
        // The three shares are equal, since all probabilities exceed 1 %.
        for (mean, p) in means.into_iter().zip(policy) {
            near(mean, 0.75 * f64::from(p) + 0.25 / 3.0);
        }
    }

    #[test]
    fn a_tiny_concentration_is_no_error() {
        let noise = DirichletNoise { concentration: 1e-6, weight: 0.25 };
        let noisy = with_dirichlet(noise, 1, &[0.5, 0.5]);
        assert!((noisy.iter().sum::<f32>() - 1.0).abs() < 1e-5, "{noisy:?}");
    }
}
