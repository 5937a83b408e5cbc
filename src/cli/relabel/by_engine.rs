//! `relabel --engine`.

use std::time::Duration;

use anyhow::Context;

use super::RelabelArgs;
use super::outcome::{show, summary, with_evaluator};
use crate::cli::exit::{ExitStatus, Usage};
use crate::cli::job_args::run_watched_job;
use crate::relabel::relabel;
use crate::relabel::usi_engine::{EngineSettings, UsiEvaluator};
use crate::storage::signals::Interrupt;

/// Records per block. A block is written after the engine has evaluated all of its records.
const ENGINE_BLOCK_RECORDS: u64 = 4;

const NODES_MISSING: &str = "--engine needs --nodes N, the number of nodes to search per position";

const ENGINE_TIMEOUT: Duration = Duration::from_mins(1);

pub(super) fn run(command: &str, args: RelabelArgs) -> anyhow::Result<ExitStatus> {
    let words = shlex::split(command).filter(|words| !words.is_empty());
    let engine = EngineSettings {
        command: words
            .ok_or_else(|| Usage(format!("--engine: cannot parse the command line {command:?}")))?,
        options: args.engine_args.engine_option.clone(),
        nodes: args.engine_args.nodes.ok_or_else(|| Usage(NODES_MISSING.to_owned()))?,
        patience: args.engine_args.engine_timeout.unwrap_or(ENGINE_TIMEOUT),
    };
    let (mode, dry_run) = (args.job.progress(), args.job.dry_run);
    let mut plan = args.plan()?;
    if dry_run {
        return show(&plan);
    }
    let interrupt = Interrupt::watch().context("cannot watch for signals")?;
    with_evaluator(&mut plan, engine.entry(&interrupt.cancel()), &interrupt)?;
    let make = move |_: &_| Ok(UsiEvaluator::new(engine.clone()));
    let work = |plan, progress: &mut _, cancel: &_| {
        relabel(plan, ENGINE_BLOCK_RECORDS, make, progress, cancel)
    };
    run_watched_job(plan, mode, &interrupt, work, summary)
}
