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
mod rounds;
#[cfg(feature = "network")]
mod selfplay;
mod solve;
mod throughput;

use clap::{Args, Subcommand};

use crate::cli::exit::ExitStatus;

/// Measure the figures of the README on this machine
#[derive(Args)]
pub(super) struct BenchArgs {
    #[command(subcommand)]
    what: Benchmark,
}

#[derive(Subcommand)]
enum Benchmark {
    Perft(perft::PerftArgs),
    Formats(formats::FormatsArgs),
    Solve(solve::SolveArgs),
    Filter(filter::FilterArgs),
    Files(files::FilesArgs),
    Archives(archives::ArchivesArgs),
    Marubatsu(marubatsu::MarubatsuArgs),
    #[cfg(feature = "network")]
    #[command(name = "selfplay")]
    SelfPlay(selfplay::SelfPlayArgs),
}

pub(super) fn run(args: &BenchArgs) -> anyhow::Result<ExitStatus> {
    match &args.what {
        Benchmark::Perft(args) => perft::run(args),
        Benchmark::Formats(args) => formats::run(args),
        Benchmark::Solve(args) => solve::run(args),
        Benchmark::Filter(args) => filter::run(args),
        Benchmark::Files(args) => files::run(args),
        Benchmark::Archives(args) => archives::run(args),
        Benchmark::Marubatsu(args) => marubatsu::run(args),
        #[cfg(feature = "network")]
        Benchmark::SelfPlay(args) => selfplay::run(args),
    }
}
