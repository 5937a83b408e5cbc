//! `kyokumen filter`, also known as `gen-filter`.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use serde::Deserialize;

use super::option::{from_text, word};
use super::{Interrupted, Outcome, Usage};
use crate::format::Fill;
use crate::pipeline::counts::Counts;
use crate::pipeline::estimate::estimate;
use crate::pipeline::filter::filter;
use crate::pipeline::judge::{InCheck, Judge, SearchSettings, WhenHopeless};
use crate::pipeline::manifest::Manifest;
use crate::pipeline::plan::{Plan, PlanError, Request};
use crate::pipeline::platform::Interrupt;
use crate::pipeline::progress::{Progress, ProgressMode, duration};
use crate::pipeline::run::RunError;
use crate::pipeline::settings::{
    BadPolicy, FormatName, MatedPolicy, RecordFilters, Settings, Shard, UnknownPolicy,
};

/// Remove positions with a proven forced mate
///
/// Every record goes to exactly one place: kept, mated, unknown, filtered, or quarantined if it cannot be
/// used. Records are written byte for byte as they were read, in their order, whatever the number of
/// threads; shards in order concatenate to the output of one run over everything. Equal positions are
/// searched once.
#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub(super) struct FilterArgs {
    /// Files of positions, read as one sequence; `-` is standard input
    #[arg(value_name = "INPUT", required_unless_present = "input")]
    #[serde(skip)]
    inputs: Vec<PathBuf>,

    /// The same as INPUT
    #[arg(short, long, value_name = "INPUT", conflicts_with = "inputs")]
    #[serde(skip)]
    input: Vec<PathBuf>,

    /// Folder of the outputs, made if it is not there
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,

    /// Format of the inputs: hcp, hcpe, psv or sfen, each also with .zst [default: by extension]
    #[arg(long, value_name = "FORMAT")]
    #[serde(deserialize_with = "from_text")]
    from: Option<FormatName>,

    /// Format of the outputs [default: that of the inputs]
    #[arg(long, value_name = "FORMAT")]
    #[serde(deserialize_with = "from_text")]
    to: Option<FormatName>,

    /// What to write into fields that the inputs lack, as in eval=0,result=draw,ply=0,move=none
    #[arg(long, value_name = "FIELD=VALUE,…")]
    #[serde(deserialize_with = "from_text")]
    fill: Option<Fill>,

    /// Start of the outputs' names [default: the first input's]
    #[arg(long)]
    name: Option<String>,

    /// Take only the I-th of N equal parts of the input, as in 3/10
    #[arg(long, value_name = "I/N")]
    #[serde(deserialize_with = "from_text")]
    shard: Option<Shard>,

    /// Plies that a search goes below the position [default: 20]
    #[arg(long, value_name = "PLIES")]
    depth: Option<u16>,

    /// Nodes after which a search gives up [default: 1048576]
    #[arg(long)]
    nodes: Option<u64>,

    /// Size of each thread's table, in MiB [default: 64]
    #[arg(long, value_name = "MIB")]
    hash_mb: Option<usize>,

    /// What to ask when the side to move is in check: is it being mated (and), does it mate (or) [default: both]
    #[arg(long, value_name = "both|and|or|skip", value_parser = word::<InCheck>)]
    in_check: Option<InCheck>,

    /// What to do once a search is unlikely to end within its nodes: stop there, or use them up
    /// [default: give-up]
    #[arg(long, value_name = "give-up|go-on", value_parser = word::<WhenHopeless>)]
    when_hopeless: Option<WhenHopeless>,

    /// What becomes of mates: a file of their own with the proofs, nothing, or kept with the proven result
    /// [default: split]
    #[arg(long, value_name = "split|drop|relabel", value_parser = word::<MatedPolicy>)]
    mated: Option<MatedPolicy>,

    /// What becomes of positions on which the search gave up [default: keep]
    #[arg(long, value_name = "keep|drop|split", value_parser = word::<UnknownPolicy>)]
    unknown: Option<UnknownPolicy>,

    /// Only records whose evaluation is at most this far from 0, in centipawns
    #[arg(long, value_name = "CP")]
    max_abs_eval: Option<u16>,

    /// Only records from this ply on
    #[arg(long, value_name = "PLY")]
    min_ply: Option<u16>,

    /// Only records up to this ply
    #[arg(long, value_name = "PLY")]
    max_ply: Option<u16>,

    /// What becomes of records that cannot be used [default: quarantine]
    #[arg(long, value_name = "quarantine|skip|stop", value_parser = word::<BadPolicy>)]
    on_error: Option<BadPolicy>,

    /// Threads; 0 is all cores [default: 0]
    #[arg(long)]
    threads: Option<usize>,

    /// Show progress on standard error [default: auto]
    #[arg(long, value_name = "auto|bar|plain|json|none", value_parser = word::<ProgressMode>)]
    progress: Option<ProgressMode>,

    /// Replace outputs that exist
    #[arg(long)]
    force: bool,

    /// Say what would be done and how long it would take
    #[arg(long)]
    dry_run: bool,

    /// Take settings from a file whose keys are the long names of these options
    #[arg(long, value_name = "FILE.toml")]
    #[serde(skip)]
    config: Option<PathBuf>,
}

pub(super) fn run(args: FilterArgs) -> anyhow::Result<Outcome> {
    let args = args.with_config()?;
    let (mode, dry_run) = (args.progress.unwrap_or_default(), args.dry_run);
    let plan = Plan::new(args.request()?).map_err(plan_error)?;
    if plan.settings.mated == MatedPolicy::Relabel && plan.to.format.fields().is_empty() {
        tracing::warn!(
            "{} records hold positions only: relabelled mates stay as they are",
            plan.to
        );
    }
    if dry_run {
        return show_plan(&plan);
    }
    let interrupt = Interrupt::watch().context("cannot watch for signals")?;
    let mut progress = Progress::new(mode, plan.records).with_mates();
    let folder = plan.folder.clone();
    let manifest = filter(plan, &mut progress, &interrupt.cancel());
    drop(progress);
    let manifest = manifest.map_err(|error| run_error(error, &interrupt))?;
    report(&manifest, &folder);
    let is_clean = manifest.counts.bad_records() == 0;
    Ok(if is_clean { Outcome::Done } else { Outcome::BadRecords })
}

/// A run that a signal ended, or that failed.
pub(super) fn run_error(error: RunError, interrupt: &Interrupt) -> anyhow::Error {
    match (error, interrupt.signal()) {
        (RunError::Interrupted, Some(signal)) => Interrupted { signal }.into(),
        (error, _) => error.into(),
    }
}

pub(super) fn plan_error(error: PlanError) -> anyhow::Error {
    if error.is_usage() {
        Usage(format!("{:#}", anyhow::Error::from(error))).into()
    } else {
        error.into()
    }
}

impl FilterArgs {
    /// These arguments, and where they say nothing those of the configuration file.
    fn with_config(self) -> anyhow::Result<Self> {
        let Some(path) = &self.config else { return Ok(self) };
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        let config: Self =
            toml::from_str(&text).map_err(|error| Usage(format!("{}: {error}", path.display())))?;
        Ok(self.or(config))
    }

    fn or(self, config: Self) -> Self {
        Self {
            inputs: self.inputs,
            input: self.input,
            output: self.output.or(config.output),
            from: self.from.or(config.from),
            to: self.to.or(config.to),
            fill: self.fill.or(config.fill),
            name: self.name.or(config.name),
            shard: self.shard.or(config.shard),
            depth: self.depth.or(config.depth),
            nodes: self.nodes.or(config.nodes),
            hash_mb: self.hash_mb.or(config.hash_mb),
            in_check: self.in_check.or(config.in_check),
            when_hopeless: self.when_hopeless.or(config.when_hopeless),
            mated: self.mated.or(config.mated),
            unknown: self.unknown.or(config.unknown),
            max_abs_eval: self.max_abs_eval.or(config.max_abs_eval),
            min_ply: self.min_ply.or(config.min_ply),
            max_ply: self.max_ply.or(config.max_ply),
            on_error: self.on_error.or(config.on_error),
            threads: self.threads.or(config.threads),
            progress: self.progress.or(config.progress),
            force: self.force || config.force,
            dry_run: self.dry_run || config.dry_run,
            config: self.config,
        }
    }

    fn request(self) -> Result<Request, Usage> {
        let output =
            self.output.ok_or_else(|| Usage("no folder for the outputs: -o DIR".to_owned()))?;
        let search = SearchSettings::default();
        let settings = Settings {
            search: SearchSettings {
                depth_plies: self.depth.unwrap_or(search.depth_plies),
                nodes: self.nodes.unwrap_or(search.nodes),
                hash_mb: self.hash_mb.unwrap_or(search.hash_mb),
                in_check: self.in_check.unwrap_or(search.in_check),
                when_hopeless: self.when_hopeless.unwrap_or(search.when_hopeless),
            },
            mated: self.mated.unwrap_or_default(),
            unknown: self.unknown.unwrap_or_default(),
            on_error: self.on_error.unwrap_or_default(),
            filters: RecordFilters {
                max_abs_eval_cp: self.max_abs_eval,
                min_ply: self.min_ply,
                max_ply: self.max_ply,
            },
            fill: self.fill.unwrap_or_default(),
            threads: self.threads.unwrap_or(0),
        };
        Ok(Request {
            inputs: if self.input.is_empty() { self.inputs } else { self.input },
            output,
            from: self.from,
            to: self.to,
            name: self.name,
            shard: self.shard,
            force: self.force,
            settings,
        })
    }
}

fn show_plan(plan: &Plan) -> anyhow::Result<Outcome> {
    let mut out = std::io::stdout().lock();
    for part in &plan.parts {
        let to = part.to.map_or("its end".to_owned(), |to| to.to_string());
        let (input, format) = (&part.input.name, part.input.format.name());
        writeln!(out, "read {input} as {format}, records {} to {to}", part.from)?;
    }
    for path in plan.outputs.iter().map(|output| &output.path).chain([&plan.manifest]) {
        writeln!(out, "write {}", path.display())?;
    }
    let mut judge = Judge::new(&plan.settings.search);
    match (plan.records, estimate(plan, &mut judge)?) {
        (Some(records), Some(estimate)) => writeln!(
            out,
            "{records} records, about {} (measured on {})",
            duration(estimate.seconds),
            estimate.sampled
        )?,
        _ => writeln!(out, "no estimate: the number of records is known only after reading them")?,
    }
    Ok(Outcome::Done)
}

fn report(manifest: &Manifest, folder: &Path) {
    eprintln!("{}", summary(&manifest.counts));
    let counts = &manifest.counts;
    report_fields(&counts.lost, &counts.invented);
    for output in &manifest.outputs {
        eprintln!("  {} ({} records)", folder.join(&output.file).display(), output.records);
    }
}

/// One line for each field that records lost or gained.
pub(super) fn report_fields(lost: &BTreeMap<String, u64>, invented: &BTreeMap<String, u64>) {
    for (what, fields) in [("lost", lost), ("filled in", invented)] {
        for (field, records) in fields {
            eprintln!("  {field} {what} in {records} records");
        }
    }
}

/// One line whose figures add up to the first.
fn summary(counts: &Counts) -> String {
    let unknown = counts.unknown.split + counts.unknown.dropped;
    let filtered: u64 = counts.filtered.values().sum();
    let kept = counts.kept + counts.mated.relabelled;
    let mated = counts.mated.split + counts.mated.dropped;
    let mut line = format!("{} records: {kept} kept, {mated} mated", counts.input);
    for (count, word) in
        [(unknown, "unknown"), (filtered, "filtered"), (counts.bad_records(), "bad")]
    {
        if count > 0 {
            line.extend([", ", &count.to_string(), " ", word]);
        }
    }
    line
}
