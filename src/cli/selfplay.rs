//! `kyokumen selfplay`.
//!
//! Its options are those of every build; what they ask for is done where the program is built with networks.

mod args;
#[cfg(feature = "network")]
mod command;

use std::path::PathBuf;

use clap::Args;

use super::config::Layered;
use super::option::heading;
use crate::cli::exit::{ExitStatus, Usage};
#[cfg(not(feature = "network"))]
use crate::cli::option::networks::NO_NETWORKS;
use args::SettingArgs;

/// Make training data: games of a network against itself
///
/// Many games are played at a time, and their positions evaluated in batches, by ONNX files of the dlshogi family. A
/// game depends on its number, the seed, the networks and the settings below "Games" only: shards, threads, batches and
/// interruptions change no byte. Games are written in the order of their numbers. Whether the networks gave the same
/// bits for a position wherever it stood in a batch is tried at the start, and stands in the manifest as
/// `reproducible`.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = "\
Examples:
  kyokumen selfplay --model net.onnx --openings kept.hcp -o games --games 100000 --seed 1
  kyokumen selfplay --model new.onnx --model old.onnx -o games --games 1000 --playouts 200 --to psv
  kyokumen selfplay --config selfplay.toml -o games --games 10000000 --shard auto --resume

The model `uniform` finds all moves equally probable, `hashed` answers at random.

Exit status: 0 done, 1 failed, 2 usage, 129, 130 or 143 interrupted.")]
pub(super) struct SelfPlayArgs {
    #[command(flatten)]
    settings: Layered<SettingArgs>,

    /// Take settings from a file whose keys are the long names of these options
    #[arg(long, value_name = "FILE.toml", help_heading = heading::RUNNING)]
    config: Option<PathBuf>,
}

pub(super) fn run(args: SelfPlayArgs) -> anyhow::Result<ExitStatus> {
    let SelfPlayArgs { settings, config } = args;
    let settings = settings.over_file(config.as_deref())?;
    if settings.model.is_empty() {
        return Err(Usage("no network: --model NET.onnx".to_owned()).into());
    }
    #[cfg(feature = "network")]
    return command::run(settings, config);
    #[cfg(not(feature = "network"))]
    Err(Usage(NO_NETWORKS.to_owned()).into())
}
