//! `relabel --engine`.

use std::sync::atomic::AtomicBool;

use anyhow::Context;

use super::RelabelArgs;
use super::outcome::{described, set_evaluator, show, summary, with_evaluator};
use crate::cli::call::Call;
use crate::cli::exit::{ExitStatus, Usage};
use crate::cli::job_args::run_watched_job;
use crate::cli::option::{ENGINE_TIMEOUT, engine_command};
use crate::engine::progress::Progress;
use crate::error::Error;
use crate::jobs::plan::JobPlan;
use crate::jobs::record_run::Completed;
use crate::relabel::engine::UsiEvaluator;
use crate::relabel::relabel;
use crate::storage::signals::Interrupt;
use crate::usi::{EngineSettings, SearchLimit};

/// Records per block. A block is written after the engine has evaluated all of its records.
const ENGINE_BLOCK_RECORDS: u64 = 4;

const NODES_MISSING: &str = "--engine needs --nodes N, the number of nodes to search per position";

pub(super) fn call(command: &str, args: RelabelArgs) -> anyhow::Result<Call> {
    let (engine, dry_run) = (settings(command, &args)?, args.job.dry_run);
    let plan = args.plan()?;
    if dry_run {
        return Ok(described(plan));
    }
    Ok(Call::job(plan, move |mut plan, progress, cancel| {
        set_evaluator(&mut plan, engine.entry(cancel)?);
        relabel_by(engine, plan, progress, cancel)
    }))
}

pub(super) fn run(command: &str, args: RelabelArgs) -> anyhow::Result<ExitStatus> {
    let engine = settings(command, &args)?;
    let (mode, dry_run) = (args.job.progress(), args.job.dry_run);
    let mut plan = args.plan()?;
    if dry_run {
        return show(&plan);
    }
    let interrupt = Interrupt::watch().context("cannot watch for signals")?;
    with_evaluator(&mut plan, engine.entry(&interrupt.cancel()), &interrupt)?;
    let work = |plan, progress: &mut _, cancel: &_| relabel_by(engine, plan, progress, cancel);
    run_watched_job(plan, mode, &interrupt, work, summary)
}

fn settings(command: &str, args: &RelabelArgs) -> Result<EngineSettings, Usage> {
    Ok(EngineSettings {
        command: engine_command(command)?,
        options: args.engine_args.engine_option.clone(),
        limit: SearchLimit::Nodes(
            args.engine_args.nodes.ok_or_else(|| Usage(NODES_MISSING.to_owned()))?,
        ),
        patience: args.engine_args.engine_timeout.unwrap_or(ENGINE_TIMEOUT),
    })
}

fn relabel_by(
    engine: EngineSettings,
    plan: JobPlan,
    progress: &mut Progress,
    cancel: &AtomicBool,
) -> Result<Completed, Error> {
    let make = move |_: &_| Ok(UsiEvaluator::new(engine.clone()));
    relabel(plan, ENGINE_BLOCK_RECORDS, make, progress, cancel)
}
