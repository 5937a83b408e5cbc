//! `kyokumen-bench`: measures the speed figures of the README and of `docs/speed.md` on this machine.
//!
//! Each figure is the median of several rounds in one process. The program does not assert times.

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

use clap::{Parser, Subcommand};

/// Measure the speed figures of the README on this machine
#[derive(Parser)]
#[command(name = "kyokumen-bench", version)]
struct Arguments {
    #[command(subcommand)]
    benchmark: Benchmark,
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

fn main() -> anyhow::Result<()> {
    match &Arguments::parse().benchmark {
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
