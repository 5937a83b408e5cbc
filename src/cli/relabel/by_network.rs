//! `relabel --model`.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use anyhow::Context;
use kyokumen_mcts::MateLimits;

use super::RelabelArgs;
use super::outcome::{described, set_evaluator, show, summary, with_evaluator};
use crate::cli::call::Call;
use crate::cli::exit::{ExitStatus, Usage};
use crate::cli::job_args::run_watched_job;
use crate::cli::option::networks::{BATCH, MATE_TABLE_MIB, POLICY_TEMPERATURE};
use crate::cli::option::positive;
use crate::cli::search_args::check_table;
use crate::engine::progress::Progress;
use crate::error::Error;
use crate::jobs::plan::JobPlan;
use crate::jobs::record_run::Completed;
use crate::relabel::network::{NetworkEvaluator, NetworkSettings};
use crate::relabel::relabel;
use crate::selfplay::evaluators::Model;
use crate::storage::signals::Interrupt;

const LEAF_MATE: MateLimits = MateLimits { depth: 7, nodes: 30 };
const ROOT_MATE: MateLimits = MateLimits { depth: 33, nodes: 10_000 };

/// One thread prepares positions while the device evaluates those of the other.
const THREADS_PER_ACCELERATOR: usize = 2;

pub(super) fn call(args: RelabelArgs) -> anyhow::Result<Call> {
    let (network, dry_run) = (settings(&args)?, args.job.dry_run);
    check_table(network.mate_table_mib)?;
    let plan = args.plan()?;
    if dry_run {
        return Ok(described(plan));
    }
    Ok(Call::job(plan, move |mut plan, progress, cancel| {
        set_evaluator(&mut plan, network.entry(cancel)?);
        relabel_by(network, plan, progress, cancel)
    }))
}

pub(super) fn run(args: RelabelArgs) -> anyhow::Result<ExitStatus> {
    let network = settings(&args)?;
    check_table(network.mate_table_mib)?;
    let (mode, dry_run) = (args.job.progress(), args.job.dry_run);
    let mut plan = args.plan()?;
    if dry_run {
        return show(&plan);
    }
    let interrupt = Interrupt::watch().context("cannot watch for signals")?;
    with_evaluator(&mut plan, network.entry(&interrupt.cancel()), &interrupt)?;
    let work = |plan, progress: &mut _, cancel: &_| relabel_by(network, plan, progress, cancel);
    run_watched_job(plan, mode, &interrupt, work, summary)
}

fn relabel_by(
    network: NetworkSettings,
    mut plan: JobPlan,
    progress: &mut Progress,
    cancel: &AtomicBool,
) -> Result<Completed, Error> {
    let block_records = network.batch as u64;
    if plan.settings.threads == 0 && network.models.iter().all(Model::is_accelerated) {
        plan.settings.threads = THREADS_PER_ACCELERATOR * network.models.len();
    }
    let started = AtomicUsize::new(0);
    let make = move |cancel: &_| {
        let thread = started.fetch_add(1, Ordering::Relaxed);
        NetworkEvaluator::new(network.clone(), thread, cancel)
    };
    relabel(plan, block_records, make, progress, cancel)
}

fn settings(args: &RelabelArgs) -> Result<NetworkSettings, Usage> {
    let network = &args.network;
    let playouts = network.playouts.unwrap_or(0);
    if args.policy && playouts == 0 {
        return Err(Usage("--policy needs a search: set --playouts".to_owned()));
    }
    let policy_temperature = network.policy_temperature.unwrap_or(POLICY_TEMPERATURE);
    let policy_temperature = positive("--policy-temperature", policy_temperature)?;
    let limits = |(depth, nodes)| MateLimits { depth, nodes };
    Ok(NetworkSettings {
        // The parser requires one of --model and --engine.
        models: Model::of_devices(args.model.as_slice(), &args.runtime.runtimes()?, Some(1)),
        policy_temperature,
        batch: network.batch.unwrap_or(BATCH),
        playouts,
        root_mate: network
            .root_mate
            .map_or(if playouts > 0 { ROOT_MATE } else { MateLimits::NONE }, limits),
        leaf_mate: network.leaf_mate.map_or(LEAF_MATE, limits),
        mate_table_mib: network.hash_mb.unwrap_or(MATE_TABLE_MIB),
    })
}
