//! `kyokumen relabel`.

mod by_engine;
#[cfg(feature = "network")]
mod by_network;
mod outcome;

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Args};
use serde_json::Map;

use crate::cli::exit::{ExitStatus, Usage};
use crate::cli::job_args::JobArgs;
use crate::cli::option::{
    decimal_number, heading, mate_limits, positive, positive_seconds, whole_number,
};
use crate::cli::record_args::{InputArgs, RecordArgs};
use crate::format::{EVAL_SCALE, Fill};
use crate::jobs::plan::{JobPlan, JobRequest};
use crate::jobs::settings::{RelabelSettings, Settings};
use crate::records::format_name::FormatName;

/// Headings of options that apply only with a network, or only with an engine.
const NETWORK: &str = "With a network";
const ENGINE: &str = "With an engine";

/// Give records new evaluations: by a network, or by an engine that speaks USI
///
/// Every record is evaluated by a network's value, by a search with it (--playouts), or by an engine, several of which
/// run at a time (--threads). Only the evaluation changes, with --policy also the best move and, where the format holds
/// them, the visits of the moves: all other bytes stay where the format does. Evaluations of proven mates stay, and new
/// ones are not mixed with results. Games stay games.
#[derive(Args, Clone, Debug)]
#[command(group = ArgGroup::new("evaluator").required(true).args(["model", "engine"]))]
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

    /// Network, an ONNX file of the dlshogi family, or a program that evaluates batches, as in "run:python3
    /// evaluator.py"
    #[arg(long, value_name = "NET.onnx", conflicts_with = "engine", help_heading = NETWORK)]
    pub(super) model: Option<PathBuf>,

    #[command(flatten)]
    pub(super) network: NetworkArgs,

    /// Engine, a program that speaks USI, with its arguments; one process a thread
    #[arg(long, value_name = "COMMAND", help_heading = ENGINE)]
    pub(super) engine: Option<String>,

    #[command(flatten)]
    pub(super) asked: EngineArgs,

    /// Weight of the game's result, from 0 to 1; the rest is that of the new evaluation [default: 0]
    #[arg(long, value_name = "WEIGHT", default_value = "0", hide_default_value = true, value_parser = decimal_number, help_heading = heading::OUTPUTS)]
    pub(super) mix: f32,

    /// Centipawns where the odds are e to 1, for values as evaluations and back [default: 756.0865]
    #[arg(long, value_name = "CP", value_parser = decimal_number, help_heading = heading::OUTPUTS)]
    pub(super) scale: Option<f32>,

    /// Write the best move of the search, too, and the visits of the moves where the format holds them
    #[arg(long, help_heading = heading::OUTPUTS)]
    pub(super) policy: bool,

    #[command(flatten)]
    pub(super) job: JobArgs,

    /// Format of the output [default: that of the inputs]
    #[arg(long, value_name = "FORMAT", help_heading = heading::OUTPUTS)]
    pub(super) to: Option<FormatName>,

    /// What to write into other fields that a record lacks, as in result=draw,ply=0,move=none
    #[arg(long, value_name = "FIELD=VALUE,…", help_heading = heading::OUTPUTS)]
    pub(super) fill: Option<Fill>,

    #[command(flatten)]
    pub(super) records: RecordArgs,

    /// Take settings from a file whose keys are the long names of these options
    #[arg(long, value_name = "FILE.toml", help_heading = heading::RUNNING)]
    config: Option<PathBuf>,
}

/// How a network is asked.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(super) struct NetworkArgs {
    /// Simulations a position; 0 takes the network's value as it is [default: 0]
    #[arg(long, help_heading = NETWORK, value_name = "N", value_parser = whole_number::<u32>(..))]
    pub(super) playouts: Option<u32>,

    /// Positions that are evaluated together [default: 32]
    #[arg(long, help_heading = NETWORK, value_name = "N", value_parser = whole_number::<usize>(1..=1 << 16))]
    pub(super) batch: Option<usize>,

    /// Divides the logits of the policy in a search [default: 1.66]
    #[arg(long, help_heading = NETWORK, value_name = "T", value_parser = decimal_number)]
    pub(super) policy_temperature: Option<f32>,

    /// Mate search of every position; 0,0 is none [default: 33,10000 with --playouts, else 0,0]
    #[arg(long, help_heading = NETWORK, value_name = "PLIES,NODES", value_parser = mate_limits)]
    pub(super) root_mate: Option<(u16, u64)>,

    /// Mate search of the positions in the tree; 0,0 is none [default: 7,30]
    #[arg(long, help_heading = NETWORK, value_name = "PLIES,NODES", value_parser = mate_limits)]
    pub(super) leaf_mate: Option<(u16, u64)>,

    /// Size of the table of each thread's mate searches, in MiB [default: 16]
    #[arg(long, help_heading = NETWORK, value_name = "MIB", value_parser = whole_number::<usize>(1..=1 << 20))]
    pub(super) hash_mb: Option<usize>,
}

/// How an engine is asked.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct EngineArgs {
    /// Nodes a position: go nodes N
    #[arg(long, help_heading = ENGINE, value_name = "N", value_parser = whole_number::<u64>(..))]
    pub(super) nodes: Option<u64>,

    /// One of the engine's options; may be said several times
    #[arg(long, help_heading = ENGINE, value_name = "NAME=VALUE", value_parser = engine_option)]
    pub(super) engine_option: Vec<(String, String)>,

    /// Restart the engine if it is not ready within this time, or makes no progress in its search for this time
    /// [default: 60]
    #[arg(long, help_heading = ENGINE, value_name = "SECONDS", value_parser = positive_seconds)]
    pub(super) engine_timeout: Option<Duration>,
}

pub(super) fn run(mut args: RelabelArgs) -> anyhow::Result<ExitStatus> {
    if let Some(engine) = args.engine.take() {
        return by_engine::run(&engine, args);
    }
    #[cfg(feature = "network")]
    return by_network::run(args);
    #[cfg(not(feature = "network"))]
    Err(crate::cli::exit::Usage(crate::cli::option::networks::NO_NETWORKS.to_owned()).into())
}

impl RelabelArgs {
    /// Builds the plan without the evaluator's manifest entry, for which the evaluator must be started.
    pub(super) fn plan(self) -> anyhow::Result<JobPlan> {
        let mix = self.mix;
        if !(0.0..=1.0).contains(&mix) {
            return Err(Usage(format!("--mix: {mix} is not from 0 to 1")).into());
        }
        let scale = positive("--scale", self.scale.unwrap_or(EVAL_SCALE))?;
        let evaluator = Map::new();
        let settings = Settings {
            fill: self.fill.unwrap_or_default(),
            relabel: Some(RelabelSettings { evaluator, mix, scale, policy: self.policy }),
            ..Settings::default()
        };
        Ok(JobPlan::new(JobRequest {
            to: self.to,
            read_from: self.config.into_iter().collect(),
            ..self.job.request(self.inputs.into_paths(), self.records, settings)
        })?)
    }
}

fn engine_option(text: &str) -> Result<(String, String), &'static str> {
    let parts = text.split_once('=').filter(|(name, _)| !name.is_empty());
    let (name, value) = parts.ok_or("expected a name and a value, as in USI_Hash=256")?;
    if text.contains(['\n', '\r']) {
        return Err("expected one line");
    }
    Ok((name.to_owned(), value.to_owned()))
}
