//! `kyokumen filter`, also known as `gen-filter`.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use clap::Args;

use super::option::{place, seconds, word};
use super::record_args::{InputArgs, RecordArgs, RunArgs};
use super::report::records;
use super::search_args::SearchArgs;
use super::{Interrupted, Outcome, Usage, config, usage_if};
use crate::pipeline::counts::Counts;
use crate::pipeline::estimate::{Estimate, estimate};
use crate::pipeline::filter::{Filtered, filter};
use crate::pipeline::first_pass::FirstPass;
use crate::pipeline::identity::RETRY_UNKNOWN;
use crate::pipeline::judge::Judge;
use crate::pipeline::manifest::Manifest;
use crate::pipeline::moment::duration;
use crate::pipeline::plan::{Plan, PlanError, Request};
use crate::pipeline::platform::Interrupt;
use crate::pipeline::progress::Progress;
use crate::pipeline::run::RunError;
use crate::pipeline::run_name::{MANIFEST_SUFFIX, RunName};
use crate::pipeline::settings::{BadPolicy, FormatName, MatedPolicy, Settings, UnknownPolicy};
use crate::pipeline::shard::ShardChoice;

/// Remove positions with a proven forced mate
///
/// Every record goes to exactly one place: kept, mated, unknown, filtered, or quarantined if it cannot be
/// used. Records are written byte for byte as they were read, in their order, whatever the number of
/// threads; shards in order concatenate to the output of one run over everything. Equal positions are
/// searched once.
#[derive(Args, Clone, Debug)]
#[command(mut_arg("inputs", |inputs| inputs.required_unless_present_any(["input", "retry_unknown"])))]
#[command(after_long_help = "\
Exit status: 0 done, 1 failed, 2 usage, 3 done but bad records were skipped or quarantined, \
130 or 143 interrupted.")]
pub(super) struct FilterArgs {
    #[command(flatten)]
    inputs: InputArgs,

    #[command(flatten)]
    settings: SettingArgs,

    /// Search only what was unknown in the run with this manifest, as a rule with more --nodes; everything
    /// else is as it was found then. Inputs and settings are those of that run unless others are named
    #[arg(long, value_name = "MANIFEST", conflicts_with_all = ["inputs", "input", "shard", "config"])]
    retry_unknown: Option<PathBuf>,

    /// Take settings from a file whose keys are the long names of these options
    #[arg(long, value_name = "FILE.toml")]
    config: Option<PathBuf>,
}

/// What a configuration file can say, too.
#[derive(Args, Clone, Debug, Default)]
struct SettingArgs {
    /// Folder of the outputs, made if it is not there, or its URL
    #[arg(short, long, value_name = "DIR", value_parser = place())]
    output: Option<PathBuf>,

    /// Folder in which outputs are made that go to a URL; for --resume it must be the same again
    /// [default: that of the system]
    #[arg(long, value_name = "DIR")]
    tmp_dir: Option<PathBuf>,

    /// Format of the outputs [default: that of the inputs]
    #[arg(long, value_name = "FORMAT")]
    to: Option<FormatName>,

    #[command(flatten)]
    records: RecordArgs,

    /// Start of the outputs' names [default: the first input's]
    #[arg(long)]
    name: Option<String>,

    /// Take only the I-th of N equal parts of the input, as in 3/10; auto takes that of the job in Slurm,
    /// Kubernetes, Grid Engine and PBS, or in the variable `KYOKUMEN_SHARD`; auto/N says what the job does
    /// not know
    #[arg(long, value_name = "I/N|auto[/N]")]
    shard: Option<ShardChoice>,

    #[command(flatten)]
    search: SearchArgs,

    /// What becomes of mates: a file of their own with the proofs, nothing, or kept with the proven result
    /// [default: split]
    #[arg(long, value_name = "split|drop|relabel", value_parser = word::<MatedPolicy>)]
    mated: Option<MatedPolicy>,

    /// What becomes of positions on which the search gave up [default: keep]
    #[arg(long, value_name = "keep|drop|split", value_parser = word::<UnknownPolicy>)]
    unknown: Option<UnknownPolicy>,

    /// What becomes of records that cannot be used [default: quarantine]
    #[arg(long, value_name = "quarantine|skip|stop", value_parser = word::<BadPolicy>)]
    on_error: Option<BadPolicy>,

    #[command(flatten)]
    run: RunArgs,

    /// Go on where an interrupted run stood; from the start if there was none, not at all if it was done
    #[arg(long, conflicts_with = "force")]
    resume: bool,

    /// Write down after so many seconds how far the run has come [default: 10]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    checkpoint_every: Option<Duration>,

    /// Write how far the run has come to a file for Prometheus, as the textfile collector of the node
    /// exporter reads it
    #[arg(long, value_name = "FILE.prom")]
    metrics: Option<PathBuf>,

    /// Say what would be done and how long it would take
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(args: FilterArgs) -> anyhow::Result<Outcome> {
    let FilterArgs { inputs, mut settings, retry_unknown, config } = args;
    if let Some(path) = config {
        settings = settings.or(config::read(&path)?);
    }
    let (mode, dry_run) = (settings.run.progress(), settings.dry_run);
    let request = match retry_unknown {
        Some(manifest) => settings.retry(&manifest)?,
        None => settings.request(inputs.into_paths())?,
    };
    let plan = Plan::new(request).map_err(plan_error)?;
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
    let mut progress = Progress::new(mode, plan.records).with_verdicts();
    if let Some(path) = &plan.metrics {
        let shard = plan.shard.map(|shard| shard.to_string());
        progress = progress.with_metrics(path.clone(), &plan.stem, shard.as_deref());
    }
    let staging = plan.staging.as_ref();
    let folder = staging.map_or(&plan.folder, |staging| &staging.url).clone();
    let filtered = filter(plan, &mut progress, &interrupt.cancel());
    drop(progress);
    let Filtered { manifest, was_done } = filtered.map_err(|error| run_error(error, &interrupt))?;
    if was_done {
        let of = manifest.shard.map_or("the run".to_owned(), |shard| format!("shard {shard}"));
        eprintln!("nothing to do: {of} was done before");
        return Ok(Outcome::Done);
    }
    report(&manifest, &folder);
    let is_clean = manifest.counts.bad_records() == 0;
    Ok(if is_clean { Outcome::Done } else { Outcome::BadRecords })
}

/// A run that a signal ended, or that failed.
pub(super) fn run_error(error: RunError, interrupt: &Interrupt) -> anyhow::Error {
    match (error, interrupt.signal()) {
        (error, Some(signal)) if error.is_interruption() => {
            Interrupted { signal, what: error.to_string() }.into()
        }
        (error, _) => usage_if(error.is_usage(), error),
    }
}

pub(super) fn plan_error(error: PlanError) -> anyhow::Error {
    usage_if(error.is_usage(), error)
}

impl SettingArgs {
    /// These, and where they say nothing the others.
    fn or(self, others: Self) -> Self {
        Self {
            output: self.output.or(others.output),
            tmp_dir: self.tmp_dir.or(others.tmp_dir),
            to: self.to.or(others.to),
            records: self.records.or(others.records),
            name: self.name.or(others.name),
            shard: self.shard.or(others.shard),
            search: self.search.or(others.search),
            mated: self.mated.or(others.mated),
            unknown: self.unknown.or(others.unknown),
            on_error: self.on_error.or(others.on_error),
            run: self.run.or(others.run),
            resume: self.resume || others.resume,
            checkpoint_every: self.checkpoint_every.or(others.checkpoint_every),
            metrics: self.metrics.or(others.metrics),
            dry_run: self.dry_run || others.dry_run,
        }
    }

    /// A second pass over what an earlier run did not find out.
    fn retry(self, manifest: &Path) -> anyhow::Result<Request> {
        let first = FirstPass::read(manifest);
        let first = first.map_err(|error| usage_if(error.is_usage(), error))?;
        let mut earlier = first.settings().clone();
        earlier.remove(RETRY_UNKNOWN);
        earlier.remove("threads");
        let mut settings = self.or(config::of_manifest(&earlier)?);
        let file = manifest.file_name().unwrap_or_default().to_string_lossy();
        let name = RunName::of_file(&file, MANIFEST_SUFFIX);
        settings.name = settings.name.or(name.map(|name| name.stem));
        let shard = first.shard().map(str::parse).transpose();
        settings.shard = shard.context("the manifest names no shard")?;
        settings.records.from = settings.records.from.or(first.format());
        settings.records.dialect = settings.records.dialect.or(first.dialect());
        tracing::info!("{} to be searched again", records(first.unknown()));
        let inputs = first.inputs();
        Ok(Request { first_pass: Some(Arc::new(first)), ..settings.request(inputs)? })
    }

    fn request(self, inputs: Vec<PathBuf>) -> anyhow::Result<Request> {
        if self.resume && self.run.force {
            return Err(Usage("--resume goes on with what --force would replace".into()).into());
        }
        let output =
            self.output.ok_or_else(|| Usage("no folder for the outputs: -o DIR".to_owned()))?;
        let shard = self.shard.map(ShardChoice::settle).transpose();
        let shard = shard.map_err(|error| Usage(error.to_string()))?;
        let settings = Settings {
            search: self.search.settings()?,
            mated: self.mated.unwrap_or_default(),
            unknown: self.unknown.unwrap_or_default(),
            on_error: self.on_error.unwrap_or_default(),
            filters: self.records.filters(),
            fill: self.records.fill.unwrap_or_default(),
            threads: self.run.threads(),
        };
        Ok(Request {
            inputs,
            output,
            tmp_dir: self.tmp_dir,
            from: self.records.from,
            dialect: self.records.dialect,
            to: self.to,
            name: self.name,
            shard,
            force: self.run.force,
            resume: self.resume,
            checkpoint_every: self.checkpoint_every,
            metrics: self.metrics,
            first_pass: None,
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
        writeln!(out, "write {}", plan.destination(path).display())?;
    }
    let interrupt = Interrupt::watch().context("cannot watch for signals")?;
    let make_judge = || Judge::new(&plan.settings.search);
    match estimate(plan, make_judge, &interrupt.cancel())? {
        Some(estimate) => write_estimate(&mut out, &estimate)?,
        None => {
            writeln!(out, "no estimate: the number of records is known only after reading them")?;
        }
    }
    Ok(Outcome::Done)
}

fn write_estimate(out: &mut impl Write, estimate: &Estimate) -> std::io::Result<()> {
    let &Estimate { records: number, sampled, seconds, bytes } = estimate;
    let speed = number as f64 / seconds.expected;
    writeln!(
        out,
        "{}: about {}, between {} and {} (19 of 20 times; measured on {sampled}), {speed:.0} records/s",
        records(number),
        duration(seconds.expected),
        duration(seconds.low),
        duration(seconds.high),
    )?;
    let mib = |bytes: f64| bytes / f64::from(1 << 20);
    let (expected, low, high) = (mib(bytes.expected), mib(bytes.low), mib(bytes.high));
    writeln!(out, "outputs of about {expected:.1} MiB, between {low:.1} and {high:.1}")
}

fn report(manifest: &Manifest, folder: &Path) {
    eprintln!("{}", summary(&manifest.counts));
    let counts = &manifest.counts;
    report_fields(&counts.lost, &counts.invented);
    for output in &manifest.outputs {
        eprintln!("  {} ({})", folder.join(&output.file).display(), records(output.records));
    }
}

/// One line for each field that records lost or gained.
pub(super) fn report_fields(lost: &BTreeMap<String, u64>, invented: &BTreeMap<String, u64>) {
    for (what, fields) in [("lost", lost), ("filled in", invented)] {
        for (field, &number) in fields {
            eprintln!("  {field} {what} in {}", records(number));
        }
    }
}

/// One line whose figures add up to the first.
fn summary(counts: &Counts) -> String {
    let unknown = counts.unknown.split + counts.unknown.dropped;
    let unknown_kept = counts.verdicts.unknown.values().sum::<u64>() - unknown;
    let filtered: u64 = counts.filtered.values().sum();
    let kept = counts.kept + counts.mated.relabelled;
    let mated = counts.mated.split + counts.mated.dropped;
    let of_them = match unknown_kept {
        0 => String::new(),
        unknown => format!(" ({unknown} of them unknown)"),
    };
    let mut line = format!("{}: {kept} kept{of_them}, {mated} mated", records(counts.input));
    for (count, word) in
        [(unknown, "unknown"), (filtered, "filtered"), (counts.bad_records(), "bad")]
    {
        if count > 0 {
            line.extend([", ", &count.to_string(), " ", word]);
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::judge::Stop;

    #[test]
    fn the_summary_tells_the_unknown_that_were_kept() {
        let mut counts = Counts { input: 9, kept: 6, ..Counts::default() };
        counts.mated.split = 2;
        assert_eq!(summary(&counts), "9 records: 6 kept, 2 mated");
        counts.verdicts.unknown.extend([(Stop::Nodes, 3), (Stop::Depth, 1)]);
        counts.unknown.split = 1;
        assert_eq!(summary(&counts), "9 records: 6 kept (3 of them unknown), 2 mated, 1 unknown");
    }
}
