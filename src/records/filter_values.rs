//! Values of record filters: samples, and sets of results and endings.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::format::{Ending, GameResult};
use crate::random::SplitMix64;
use crate::storage::value_error::ParseValueError;

/// A random sample of the records, the same on any machine and in any shard.
///
/// Record number `n`, counted from 0 over all inputs, is taken if the `n`-th `SplitMix64` number after the seed is less
/// than the probability times 2⁶⁴.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sample {
    /// Probability that a record is taken.
    pub probability: Probability,
    /// Seed of the random numbers.
    pub seed: u64,
}

impl Sample {
    /// Whether the record with this number is in the sample.
    pub fn takes(self, number: u64) -> bool {
        u128::from(SplitMix64::nth_bits(self.seed, number)) < self.probability.threshold()
    }
}

/// A probability above 0.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(try_from = "f64")]
pub struct Probability(f64);

impl Probability {
    /// `None` unless the number is above 0 and at most 1.
    pub fn new(probability: f64) -> Option<Self> {
        (probability > 0.0 && probability <= 1.0).then_some(Self(probability))
    }

    #[expect(clippy::cast_sign_loss, reason = "it is above 0")]
    fn threshold(self) -> u128 {
        (self.0 * 2_f64.powi(64)) as u128
    }
}

impl FromStr for Probability {
    type Err = ParseValueError;

    fn from_str(text: &str) -> Result<Self, ParseValueError> {
        let number: f64 = text.parse().map_err(|_| probability_error(text))?;
        Self::new(number).ok_or_else(|| probability_error(text))
    }
}

impl TryFrom<f64> for Probability {
    type Error = ParseValueError;

    fn try_from(number: f64) -> Result<Self, ParseValueError> {
        Self::new(number).ok_or_else(|| probability_error(&number.to_string()))
    }
}

fn probability_error(text: &str) -> ParseValueError {
    ParseValueError::new(text, "not a probability", "a number above 0 and at most 1, as in 0.25")
}

/// A set of results of games, not empty: `black,draw`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Results([bool; GameResult::ALL.len()]);

impl Results {
    /// Whether a result is in the set.
    pub const fn contains(self, result: GameResult) -> bool {
        self.0[result as usize]
    }
}

impl FromStr for Results {
    type Err = ParseValueError;

    fn from_str(text: &str) -> Result<Self, ParseValueError> {
        let mut results = Self([false; GameResult::ALL.len()]);
        for word in text.split(',').map(str::trim) {
            let result = GameResult::from_name(word);
            let result = result.ok_or_else(|| {
                ParseValueError::new(
                    word,
                    "not a result",
                    "black, white or draw, or several separated by commas",
                )
            })?;
            results.0[result as usize] = true;
        }
        Ok(results)
    }
}

impl fmt::Display for Results {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = GameResult::ALL.into_iter().filter(|&result| self.contains(result));
        f.write_str(&names.map(GameResult::name).collect::<Vec<_>>().join(","))
    }
}

/// A set of endings of games, not empty: `repetition,normal`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Endings {
    named: [bool; Ending::ALL.len()],
    /// Whether the set contains games without a stated ending, which ended by mate or resignation.
    normal: bool,
}

/// The name of mate and resignation.
const NORMAL: &str = "normal";

impl Endings {
    /// Whether an ending is in the set. `None` stands for mate and resignation.
    pub const fn contains(self, ending: Option<Ending>) -> bool {
        match ending {
            Some(ending) => self.named[ending as usize],
            None => self.normal,
        }
    }
}

impl FromStr for Endings {
    type Err = ParseValueError;

    fn from_str(text: &str) -> Result<Self, ParseValueError> {
        let mut endings = Self { named: [false; Ending::ALL.len()], normal: false };
        for word in text.split(',').map(str::trim) {
            match Ending::from_name(word) {
                Some(ending) => endings.named[ending as usize] = true,
                None if word == NORMAL => endings.normal = true,
                None => {
                    let known = Ending::ALL.map(Ending::name).join(", ");
                    let expected = format!("{NORMAL}, {known}, or several separated by commas");
                    return Err(ParseValueError::new(word, "not an ending", expected));
                }
            }
        }
        Ok(endings)
    }
}

impl fmt::Display for Endings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = Ending::ALL.into_iter().filter(|&ending| self.contains(Some(ending)));
        let names = self.normal.then_some(NORMAL).into_iter().chain(named.map(Ending::name));
        f.write_str(&names.collect::<Vec<_>>().join(","))
    }
}

/// Serialises values as they are written on the command line.
macro_rules! serde_as_text {
    ($($value:ty),+) => {
        $(impl From<$value> for String {
            fn from(value: $value) -> Self {
                value.to_string()
            }
        }

        impl TryFrom<String> for $value {
            type Error = ParseValueError;

            fn try_from(text: String) -> Result<Self, ParseValueError> {
                text.parse()
            }
        })+
    };
}
serde_as_text!(Results, Endings);

#[cfg(test)]
mod tests {
    use snapbox::{assert_data_eq, str};

    use super::*;

    #[test]
    fn endings_are_parsed_in_any_order_and_displayed_in_one() {
        let endings: Endings = "impasse, normal,repetition".parse().unwrap();
        assert_eq!(endings.to_string(), "normal,repetition,impasse");
        assert!(endings.contains(None) && !endings.contains(Some(Ending::TimeUp)));
        let error = "resignation".parse::<Endings>().unwrap_err().to_string();
        assert_data_eq!(
            error,
            str![[
                r#""resignation" is not an ending: expected normal, repetition, declaration, move_limit, time_up, illegal_move, interruption, impasse, or several separated by commas"#
            ]]
        );
        assert!("".parse::<Endings>().is_err());
    }

    #[test]
    fn results_are_parsed_in_any_order_and_displayed_in_one() {
        let results: Results = "white, draw".parse().unwrap();
        assert_eq!(results.to_string(), "draw,white");
        assert!(results.contains(GameResult::Draw) && !results.contains(GameResult::BlackWin));
        for text in ["", "black,", "loss", "b"] {
            assert!(text.parse::<Results>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_probability_is_above_0_and_at_most_1() {
        for text in ["0", "-0.1", "1.01", "nan", "inf", "half", ""] {
            assert!(text.parse::<Probability>().is_err(), "{text}");
        }
        let all = Sample { probability: "1".parse().unwrap(), seed: 3 };
        assert!((0..1000).all(|number| all.takes(number)));
    }

    #[test]
    fn the_size_of_a_sample_matches_its_probability() {
        for (probability, seed) in [(0.5, 1), (0.01, 2), (0.9, u64::MAX)] {
            let sample = Sample { probability: Probability(probability), seed };
            let taken = (0..100_000).filter(|&number| sample.takes(number)).count() as f64;
            // Five standard deviations of the binomial distribution.
            let deviation = (100_000.0 * probability * (1.0 - probability)).sqrt();
            assert!((taken - 100_000.0 * probability).abs() < 5.0 * deviation, "{taken}");
        }
    }
}
