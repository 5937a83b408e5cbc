//! `kyokumen relabel`.

mod args;
mod by_engine;
#[cfg(feature = "network")]
mod by_network;
mod outcome;

use std::path::PathBuf;

use clap::Args;

use super::config::Layered;
use super::option::heading;
use super::record_args::InputArgs;
use crate::cli::exit::{ExitStatus, Usage};
#[cfg(not(feature = "network"))]
use crate::cli::option::networks::NO_NETWORKS;
use args::SettingArgs;

/// Give records new evaluations: by a network, or by an engine that speaks USI
///
/// Every record is evaluated by a network's value, by a search with it (--playouts), or by an engine, several of which
/// run at a time (--threads). Only the evaluation changes, with --policy also the best move and, where the format holds
/// them, the visits of the moves: all other bytes stay where the format does. Evaluations of proven mates stay, and new
/// ones are not mixed with results. Games stay games.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = "\
Examples:
  kyokumen relabel old.hcpe -o new --model net.onnx
  kyokumen relabel games.hcpe3 -o new --model net.onnx --playouts 800 --policy
  kyokumen relabel positions.hcp -o new --to psv --fill result=draw,ply=0 --engine ./engine --nodes 100000 --policy
  kyokumen relabel old.psv -o new --model net.onnx --mix 0.3 --shard 3/10 --resume

Exit status: 0 done, 1 failed, 2 usage, 3 done but nothing was read, or bad records were skipped or quarantined, \
129, 130 or 143 interrupted.")]
pub(super) struct RelabelArgs {
    #[command(flatten)]
    inputs: InputArgs,

    #[command(flatten)]
    settings: Layered<SettingArgs>,

    /// Take settings from a file whose keys are the long names of these options
    #[arg(long, value_name = "FILE.toml", help_heading = heading::RUNNING)]
    config: Option<PathBuf>,
}

pub(super) fn run(args: RelabelArgs) -> anyhow::Result<ExitStatus> {
    let RelabelArgs { inputs, settings, config } = args;
    let mut settings = settings.over_file(config.as_deref())?;
    let inputs = inputs.into_paths();
    match (settings.model.take(), settings.engine.take()) {
        (Some(_), Some(_)) => Err(Usage("--model or --engine, not both".to_owned()).into()),
        (None, None) => {
            let none = "what is to evaluate: --model NET.onnx or --engine COMMAND";
            Err(Usage(none.to_owned()).into())
        }
        #[cfg(feature = "network")]
        (Some(model), None) => by_network::run(&model, settings, inputs, config),
        #[cfg(not(feature = "network"))]
        (Some(_), None) => Err(Usage(NO_NETWORKS.to_owned()).into()),
        (None, Some(command)) => by_engine::run(&command, settings, inputs, config),
    }
}
