//! How much a game spends on each of its positions. It depends only on the settings, the seed, the number of the
//! game and the values so far.

use kyokumen_game::random::SplitMix64;

use crate::course::unit;
use crate::settings::GameSettings;

/// Distinguishes the random numbers of cheap searches from others of the game.
const CHEAP_SEARCH: u64 = 0x6368_6561_7073_6561;
/// The same for the training positions among those with reduced visits.
const REDUCED: u64 = 0x7265_6475_6365_6421;
/// The same for the number of moves that the policy chooses.
const POLICY_OPENING: u64 = 0x706f_6c69_6379_6f70;

/// The search of a position.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Effort {
    /// Number of simulations. 0: only the policy chooses the move.
    pub(crate) simulations: u32,
    pub(crate) has_noise: bool,
    /// Whether the position is for training, unless the search finds a mate.
    pub(crate) is_for_training: bool,
}

/// Decides the effort for the positions of one game.
#[derive(Clone, Debug)]
pub(crate) struct Efforts {
    settings: GameSettings,
    seed: u64,
    number: u64,
    /// Number of moves that the policy chooses.
    by_policy: u16,
    /// The values of searched positions: 2v − 1, where v is Black's probability of a win.
    values: Vec<f32>,
}

impl Efforts {
    pub(crate) fn new(settings: GameSettings, seed: u64, number: u64) -> Self {
        let by_policy = settings.policy_opening.map_or(0, |opening| {
            // The number has an exponential distribution. A share of 0 would give an infinite number.
            let share = f64::from(unit(seed ^ POLICY_OPENING, number)).max(1e-9);
            let moves = f64::from(opening.mean_moves) * -libm::log(share);
            #[expect(clippy::cast_sign_loss, reason = "the logarithm of a share is not positive")]
            let moves = moves as u16;
            moves
        });
        Self { settings, seed, number, by_policy, values: Vec::new() }
    }

    /// The effort for the position before the move `ply`, counted from 0.
    pub(crate) fn at(&self, ply: u16) -> Effort {
        let full = Effort {
            simulations: self.settings.playouts,
            has_noise: true,
            is_for_training: ply >= self.settings.opening.plies,
        };
        if ply < self.by_policy {
            return Effort { simulations: 0, has_noise: false, is_for_training: false };
        }
        if let Some(cheap) = self.settings.cheap_search
            && self.unit(CHEAP_SEARCH, ply) < cheap.prob
        {
            let simulations = cheap.visits;
            return Effort { simulations, has_noise: false, is_for_training: false };
        }
        self.reduced(ply, full)
    }

    /// Adds the value of a searched position.
    pub(crate) fn push_value(&mut self, value: f32) {
        self.values.push(value);
    }

    /// Fewer simulations if one side has been winning for some time.
    fn reduced(&self, ply: u16, full: Effort) -> Effort {
        let Some(reduced) = self.settings.reduced_visits else { return full };
        let count = usize::from(reduced.lookback.max(1));
        let Some(recent) = self.values.len().checked_sub(count).map(|first| &self.values[first..])
        else {
            return full;
        };
        let sign = recent[count - 1].signum();
        let least = recent.iter().map(|value| value * sign).fold(1.0, f32::min);
        let part = (least - reduced.threshold) / (1.0 - reduced.threshold);
        // Not a number if the threshold is 1.
        if part.is_nan() || part <= 0.0 {
            return full;
        }
        let saved = part * full.simulations.saturating_sub(reduced.min) as f32;
        #[expect(clippy::cast_sign_loss, reason = "`part` is positive")]
        let saved = saved as u32;
        let share = 1.0 - part * (1.0 - reduced.weight);
        Effort {
            simulations: full.simulations - saved,
            is_for_training: full.is_for_training && self.unit(REDUCED, ply) < share,
            ..full
        }
    }

    fn unit(&self, purpose: u64, ply: u16) -> f32 {
        unit(SplitMix64::nth_bits(self.seed ^ purpose, self.number), u64::from(ply))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{PolicyOpening, ReducedVisits};

    fn reduced(values: &[f32]) -> (u32, f64) {
        let settings = GameSettings {
            reduced_visits: Some(ReducedVisits {
                threshold: 0.9,
                lookback: 3,
                min: 100,
                weight: 0.1,
            }),
            playouts: 900,
            ..GameSettings::default()
        };
        let mut training = 0;
        let mut simulations = 0;
        for number in 0..2_000 {
            let mut efforts = Efforts::new(settings, 1, number);
            for value in values {
                efforts.push_value(*value);
            }
            let effort = efforts.at(50);
            simulations = effort.simulations;
            training += u32::from(effort.is_for_training);
        }
        (simulations, f64::from(training) / 2_000.0)
    }

    #[test]
    fn visits_decrease_with_the_least_of_the_last_values() {
        assert_eq!(reduced(&[0.99, 0.99]), (900, 1.0));
        assert_eq!(reduced(&[0.99, 0.9, 0.99]), (900, 1.0));
        assert_eq!(reduced(&[0.99, -0.99, 0.99]), (900, 1.0));
        for values in [[-0.95, -1.0, -1.0], [1.0, 1.0, 0.95]] {
            let (simulations, share) = reduced(&values);
            assert!((499..=501).contains(&simulations), "{simulations}");
            assert!((share - 0.55).abs() < 0.04, "{share}");
        }
        let (simulations, share) = reduced(&[0.0, -1.0, -1.0, -1.0]);
        assert_eq!(simulations, 100);
        assert!((share - 0.1).abs() < 0.03, "{share}");
    }

    #[test]
    fn the_policy_chooses_a_mean_number_of_moves() {
        let opening = Some(PolicyOpening { mean_moves: 10.0, temperature: 1.0 });
        let settings = GameSettings { policy_opening: opening, ..GameSettings::default() };
        let moves = |number| {
            let efforts = Efforts::new(settings, 1, number);
            (0..u16::MAX).take_while(|&ply| efforts.at(ply).simulations == 0).count()
        };
        let sum: usize = (0..2_000).map(moves).sum();
        // The part after the decimal point is cut off, so the mean is about 0.5 smaller.
        assert!((18_000..20_000).contains(&sum), "{sum}");
    }
}
