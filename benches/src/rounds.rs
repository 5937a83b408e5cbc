//! Rounds of a measurement, the median of their times, and the output of results.

use std::io;
use std::io::Write;
use std::time::{Duration, Instant};

use clap::Args;
use serde::Serialize;

/// Options of every benchmark.
#[derive(Args, Clone, Copy)]
pub(crate) struct Rounds {
    /// Number of rounds; the result is their median [default: 3]
    #[arg(long, default_value_t = 3, hide_default_value = true, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,

    /// Print one JSON object per line for each figure
    #[arg(long)]
    pub(crate) json: bool,
}

impl Rounds {
    /// Returns the result of the last round and the median of the times. All rounds have the same result.
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

/// The median: the middle value, or the mean of the two middle values.
pub(crate) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    let (below, above) = ((times.len() - 1) / 2, times.len() / 2);
    (times[below] + times[above]) / 2
}

/// The median of figures.
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

/// Writes one JSON object and a line end to standard output.
pub(crate) fn json_line(value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    io::stdout().write_all(&line)
}

/// Milliseconds with three decimals. More decimals would be noise.
pub(crate) fn milliseconds(elapsed: Duration) -> f64 {
    (elapsed.as_secs_f64() * 1e6).round() / 1e3
}

pub(crate) fn per_second(count: u64, elapsed: Duration) -> f64 {
    count as f64 / elapsed.as_secs_f64()
}

#[derive(Serialize)]
struct Figure {
    what: String,
    records: u64,
    threads: usize,
    elapsed_ms: f64,
    records_per_s: f64,
}

/// Prints the records per second of an operation on whole files.
pub(crate) fn write_summary(
    what: String,
    records: u64,
    threads: usize,
    elapsed: Duration,
    rounds: Rounds,
) -> io::Result<()> {
    let figure = Figure {
        what,
        records,
        threads,
        elapsed_ms: (elapsed.as_secs_f64() * 1e4).round() / 10.0,
        records_per_s: per_second(records, elapsed).round(),
    };
    if rounds.json {
        return json_line(&figure);
    }
    let Figure { what, elapsed_ms, records_per_s, .. } = figure;
    writeln!(io::stdout(), "{what:<58} {elapsed_ms:>8.1} ms {records_per_s:>11.0} records/s")
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
