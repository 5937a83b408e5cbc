//! Options of `relabel`.
//!
//! Nothing has its default here: what is not said may stand in a configuration file.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde_json::Map;

use crate::cli::exit::Usage;
use crate::cli::job_args::JobArgs;
use crate::cli::option::{
    decimal_number, heading, mate_limits, positive, positive_seconds, whole_number,
};
use crate::cli::record_args::RecordArgs;
use crate::format::{EVAL_SCALE, Fill};
use crate::jobs::plan::{JobPlan, JobRequest};
use crate::jobs::settings::{RelabelSettings, Settings};
use crate::records::format_name::FormatName;

/// Headings of options that apply only with a network, or only with an engine.
const NETWORK: &str = "With a network";
const ENGINE: &str = "With an engine";

/// What a configuration file can say, too.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct SettingArgs {
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
    #[arg(long, value_name = "WEIGHT", value_parser = decimal_number, help_heading = heading::OUTPUTS)]
    pub(super) mix: Option<f32>,

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

impl SettingArgs {
    /// Builds the plan without the evaluator's manifest entry, for which the evaluator must be started.
    pub(super) fn plan(
        self,
        inputs: Vec<PathBuf>,
        config: Option<PathBuf>,
    ) -> anyhow::Result<JobPlan> {
        let mix = self.mix.unwrap_or(0.0);
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
        let request = self.job.request(inputs, self.records, settings)?;
        let request =
            JobRequest { to: self.to, read_from: config.into_iter().collect(), ..request };
        Ok(JobPlan::new(request)?)
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
