//! Rounds of a measurement: how often and how long, and the median of them.

use std::time::{Duration, Instant};

use clap::Args;

use crate::cli::option::whole_number;

/// Options of every benchmark.
#[derive(Args, Clone, Copy)]
pub(crate) struct Rounds {
    /// Rounds; the median counts [default: 3]
    #[arg(long, default_value_t = 3, hide_default_value = true, value_parser = whole_number::<u32>(1..))]
    rounds: u32,

    /// One JSON object a line for each figure
    #[arg(long)]
    pub(crate) json: bool,
}

impl Rounds {
    /// What the rounds gave, the same each time, and the median of what they took.
    pub(crate) fn measure<T, E>(
        self,
        mut round: impl FnMut() -> Result<(T, Duration), E>,
    ) -> Result<(T, Duration), E> {
        let (mut result, first) = round()?;
        let mut times = vec![first];
        for _ in 1..self.rounds {
            let (again, elapsed) = round()?;
            result = again;
            times.push(elapsed);
        }
        Ok((result, median(times)))
    }
}

/// The one in the middle, of an even number the mean of both.
pub(crate) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    let (below, above) = ((times.len() - 1) / 2, times.len() / 2);
    (times[below] + times[above]) / 2
}

/// The same of figures.
#[cfg(feature = "network")]
pub(crate) fn median_of(mut figures: Vec<f64>) -> f64 {
    figures.sort_unstable_by(f64::total_cmp);
    let (below, above) = ((figures.len() - 1) / 2, figures.len() / 2);
    f64::midpoint(figures[below], figures[above])
}

pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let started = Instant::now();
    let result = work();
    (result, started.elapsed())
}

pub(crate) fn per_second(count: u64, elapsed: Duration) -> f64 {
    count as f64 / elapsed.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_rounds() {
        let median = |times: &[u64]| {
            median(times.iter().map(|&ms| Duration::from_millis(ms)).collect()).as_millis()
        };
        assert_eq!([median(&[5]), median(&[9, 1]), median(&[8, 1, 3])], [5, 5, 3]);
        let mut times = [7, 1, 4].into_iter().map(Duration::from_millis);
        let rounds = Rounds { rounds: 3, json: false };
        let measured: Result<_, ()> = rounds.measure(|| Ok(("same", times.next().unwrap())));
        assert_eq!(measured, Ok(("same", Duration::from_millis(4))));
    }
}
