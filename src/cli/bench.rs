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
mod solve;
mod throughput;

use clap::{Args, Subcommand};

use crate::cli::exit::Outcome;

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
