//! `kyokumen relabel`.

mod by_engine;
#[cfg(feature = "network")]
mod by_network;
pub(super) mod outcome;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use clap::{ArgGroup, Args};
use serde_json::Map;

use self::outcome::{show, summary};
use crate::cli::call::Call;
use crate::cli::exit::{EXIT_STATUS_HELP, ExitStatus, Usage};
use crate::cli::job_args::{JobArgs, run_watched_job};
use crate::cli::option::heading::{ENGINE, NETWORK};
use crate::cli::option::{
    decimal_number, engine_option, heading, mate_limits, positive, positive_seconds, whole_number,
};
use crate::cli::record_args::{InputArgs, RecordArgs};
use crate::cli::runtime_args::RuntimeArgs;
use crate::format::{EVAL_SCALE, Fill};
use crate::jobs::plan::{JobPlan, JobRequest};
use crate::jobs::settings::{RelabelSettings, Settings};
use crate::records::format_name::FormatName;
use crate::relabel::blend;
use crate::storage::signals::Interrupt;

/// Replace the evaluations of records with those from a network or a USI engine
///
/// Each record is evaluated by a network, by a tree search with the network (--playouts), or by a USI engine.
/// --keep-eval evaluates nothing: it mixes the game results into the stored evaluations.
///
/// Only the evaluation changes. --policy also replaces the stored move of a record and, if the format holds them, the
/// visits of the moves; the moves played in games stay. If the format stays the same, all other bytes of packed records
/// are copied.
///
/// If inputs and output hold games, games stay whole. Filters, --limit and --shard are then refused.
///
/// Mate evaluations in the input (29000 or more in absolute value) are kept. --mix does not change new mate
/// evaluations.
#[derive(Args, Clone, Debug)]
#[command(mut_arg("dry_run", |arg| arg.help("Show the inputs and the outputs; write nothing")))]
#[command(group = ArgGroup::new("evaluator").required(true).args(["model", "engine", "keep_eval"]))]
#[command(after_long_help = format!("\
Examples:
  kyokumen relabel old.hcpe -o new --model net.onnx
  kyokumen relabel games.hcpe3 -o new --model net.onnx --playouts 800 --policy
  kyokumen relabel positions.hcp -o new --to psv --fill result=draw,ply=0 \\
      --engine ./engine --nodes 100000 --policy
  kyokumen relabel old.psv -o new --model net.onnx --mix 0.3 --shard 3/10 --resume
  kyokumen relabel old.psv -o new --keep-eval --mix 0.3

{EXIT_STATUS_HELP}"))]
pub(super) struct RelabelArgs {
    #[command(flatten)]
    inputs: InputArgs,

    /// Network: an ONNX file of the dlshogi family, or an evaluator program as in "run:python3 evaluator.py".
    /// For an NNUE file, use --engine
    #[arg(long, value_name = "NET.onnx", conflicts_with = "engine", help_heading = NETWORK)]
    pub(super) model: Option<PathBuf>,

    #[command(flatten)]
    pub(super) network: NetworkArgs,

    #[command(flatten)]
    pub(super) runtime: RuntimeArgs,

    /// Command line of a USI engine; each thread starts one process
    #[arg(long, value_name = "COMMAND", help_heading = ENGINE)]
    pub(super) engine: Option<String>,

    #[command(flatten)]
    pub(super) engine_args: EngineArgs,

    /// Use the stored evaluations instead of new ones, to mix in the game results. Records without an evaluation stay
    /// unchanged
    #[arg(long, requires = "mix", conflicts_with = "policy", help_heading = heading::OUTPUTS)]
    pub(super) keep_eval: bool,

    /// Weight of the game result, from 0 to 1. The winning probability p of the evaluation becomes WEIGHT × result +
    /// (1 − WEIGHT) × p, and is then converted to centipawns. The result is 1 for a win, 0.5 for a draw, 0 for a loss.
    /// A record without a result is bad unless --fill gives one [default: 0]
    #[arg(long, value_name = "WEIGHT", value_parser = decimal_number, help_heading = heading::OUTPUTS)]
    pub(super) mix: Option<f32>,

    /// Scale between centipawns and winning probability: p = 1 / (1 + exp(−cp / SCALE)) [default: 756.0865]
    #[arg(long, value_name = "SCALE", value_parser = decimal_number, help_heading = heading::OUTPUTS)]
    pub(super) scale: Option<f32>,

    /// Also write the best move of the search and, if the format holds them, the visits of the moves. With --model this
    /// needs --playouts
    #[arg(long, help_heading = heading::OUTPUTS)]
    pub(super) policy: bool,

    #[command(flatten)]
    pub(super) job: JobArgs,

    /// Format of the output [default: the format of the inputs]
    #[arg(long, value_name = "FORMAT", help_heading = heading::OUTPUTS)]
    pub(super) to: Option<FormatName>,

    /// Values for fields that a record lacks, except the evaluation, as in result=draw,ply=0,move=none
    #[arg(long, value_name = "FIELD=VALUE,…", help_heading = heading::OUTPUTS)]
    pub(super) fill: Option<Fill>,

    #[command(flatten)]
    pub(super) records: RecordArgs,

    /// Read options from a TOML file whose keys are the long option names; the command line takes precedence
    #[arg(long, value_name = "FILE.toml", help_heading = heading::RUNNING)]
    config: Option<PathBuf>,
}

/// Options of the evaluation by a network.
#[derive(Args, Clone, Copy, Debug, Default)]
#[group(conflicts_with_all = ["engine", "keep_eval"])]
pub(super) struct NetworkArgs {
    /// Simulations per position; 0 uses the value of the network without a search [default: 0]
    #[arg(long, help_heading = NETWORK, value_name = "N", value_parser = whole_number::<u32>(..))]
    pub(super) playouts: Option<u32>,

    /// Positions per batch [default: 32]
    #[arg(long, help_heading = NETWORK, value_name = "N", value_parser = whole_number::<usize>(1..=1 << 16))]
    pub(super) batch: Option<usize>,

    /// Softmax temperature of the policy in a search [default: 1.66]
    #[arg(long, help_heading = NETWORK, value_name = "T", value_parser = decimal_number)]
    pub(super) policy_temperature: Option<f32>,

    /// Limits of the mate search for each record; 0,0 disables it [default: 33,10000 with --playouts, else 0,0]
    #[arg(long, help_heading = NETWORK, value_name = "PLIES,NODES", value_parser = mate_limits)]
    pub(super) root_mate: Option<(u16, u64)>,

    /// Limits of the mate search at each leaf of the tree; 0,0 disables it [default: 7,30]
    #[arg(long, help_heading = NETWORK, value_name = "PLIES,NODES", value_parser = mate_limits)]
    pub(super) leaf_mate: Option<(u16, u64)>,

    /// Size of the transposition table of the mate searches, in MiB per thread [default: 16]
    #[arg(long, help_heading = NETWORK, value_name = "MIB", value_parser = whole_number::<usize>(1..=1 << 20))]
    pub(super) hash_mb: Option<usize>,
}

/// Options of the evaluation by an engine.
#[derive(Args, Clone, Debug, Default)]
#[group(conflicts_with_all = ["model", "keep_eval"])]
pub(super) struct EngineArgs {
    /// Nodes per position, sent as `go nodes N`
    #[arg(long, help_heading = ENGINE, value_name = "N", value_parser = whole_number::<u64>(..))]
    pub(super) nodes: Option<u64>,

    /// Set an option of the engine; may be repeated
    #[arg(long, help_heading = ENGINE, value_name = "NAME=VALUE", value_parser = engine_option)]
    pub(super) engine_option: Vec<(String, String)>,

    /// Restart the engine if it is not ready after this time, or reports no progress in a search for this time. If the
    /// first process sends no `usiok` in this time, the run ends [default: 60]
    #[arg(long, help_heading = ENGINE, value_name = "SECONDS", value_parser = positive_seconds)]
    pub(super) engine_timeout: Option<Duration>,
}

pub(super) fn call(mut args: RelabelArgs) -> anyhow::Result<Call> {
    if let Some(engine) = args.engine.take() {
        return by_engine::call(&engine, args);
    }
    if args.keep_eval {
        let dry_run = args.job.dry_run;
        let plan = args.plan()?;
        return Ok(if dry_run { outcome::described(plan) } else { Call::job(plan, blend) });
    }
    #[cfg(feature = "network")]
    return by_network::call(args);
    #[cfg(not(feature = "network"))]
    Err(Usage(crate::cli::option::networks::NO_NETWORKS.to_owned()).into())
}

pub(super) fn run(mut args: RelabelArgs) -> anyhow::Result<ExitStatus> {
    if let Some(engine) = args.engine.take() {
        return by_engine::run(&engine, args);
    }
    if args.keep_eval {
        return by_stored_eval(args);
    }
    #[cfg(feature = "network")]
    return by_network::run(args);
    #[cfg(not(feature = "network"))]
    Err(crate::cli::exit::Usage(crate::cli::option::networks::NO_NETWORKS.to_owned()).into())
}

fn by_stored_eval(args: RelabelArgs) -> anyhow::Result<ExitStatus> {
    let (mode, dry_run) = (args.job.progress(), args.job.dry_run);
    let plan = args.plan()?;
    if dry_run {
        return show(&plan);
    }
    let interrupt = Interrupt::watch().context("cannot watch for signals")?;
    run_watched_job(plan, mode, &interrupt, blend, summary)
}

impl RelabelArgs {
    /// Builds the plan without the evaluator's manifest entry, because that requires the evaluator to run.
    pub(super) fn plan(self) -> anyhow::Result<JobPlan> {
        let inputs = self.inputs.into_paths();
        self.job.label_messages(&inputs);
        let mix = self.mix.unwrap_or(0.0);
        if !(0.0..=1.0).contains(&mix) {
            return Err(Usage(format!("--mix: expected a number from 0 to 1, not {mix}")).into());
        }
        let scale = positive("--scale", self.scale.unwrap_or(EVAL_SCALE))?;
        let (evaluator, keep_eval) = (Map::new(), self.keep_eval);
        let settings = Settings {
            fill: self.fill.unwrap_or_default(),
            relabel: Some(RelabelSettings {
                evaluator,
                keep_eval,
                mix,
                scale,
                policy: self.policy,
            }),
            ..Settings::default()
        };
        Ok(JobPlan::new(JobRequest {
            to: self.to,
            config_files: self.config.into_iter().collect(),
            ..self.job.request(inputs, self.records, settings)
        })?)
    }
}
