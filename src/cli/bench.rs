//! `kyokumen bench`: the figures of the README, measured on this machine.
//!
//! Every figure is the median of several rounds in one process; nothing is compared with a clock.

mod archives;
mod files;
mod filter;
mod folder;
mod formats;
mod marubatsu;
mod perft;
mod solve;
mod throughput;

use std::time::{Duration, Instant};

use clap::{Args, Subcommand};

use super::Outcome;

/// Measure the figures of the README on this machine
#[derive(Args)]
pub(super) struct BenchArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    Perft(perft::PerftArgs),
    Formats(formats::FormatsArgs),
    Solve(solve::SolveArgs),
    Filter(filter::FilterArgs),
    Files(files::FilesArgs),
    Archives(archives::ArchivesArgs),
    Marubatsu(marubatsu::MarubatsuArgs),
}

pub(super) fn run(args: &BenchArgs) -> anyhow::Result<Outcome> {
    match &args.what {
        What::Perft(args) => perft::run(args),
        What::Formats(args) => formats::run(args),
        What::Solve(args) => solve::run(args),
        What::Filter(args) => filter::run(args),
        What::Files(args) => files::run(args),
        What::Archives(args) => archives::run(args),
        What::Marubatsu(args) => marubatsu::run(args),
    }
}

/// Options of every benchmark.
#[derive(Args, Clone, Copy)]
struct Rounds {
    /// Rounds; the median counts
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,

    /// One JSON object a line for each figure
    #[arg(long)]
    json: bool,
}

impl Rounds {
    /// What the rounds gave, the same each time, and the median of what they took.
    fn measure<T, E>(
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
fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    let (below, above) = ((times.len() - 1) / 2, times.len() / 2);
    (times[below] + times[above]) / 2
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let started = Instant::now();
    let result = work();
    (result, started.elapsed())
}

fn per_second(count: u64, elapsed: Duration) -> f64 {
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
