//! Options shared by the commands that move records: `shuffle`, `dedup`, `split`, `sample`, `interleave`.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;

use super::exit::run_error;
use super::json_lines;
use super::message::say;
use super::option::{heading, location, word};
use super::record_args::{InputArgs, RunArgs, dialect};
use super::report::{self, records, with_counts};
use crate::cli::exit::ExitStatus;
use crate::engine::progress::Progress;
use crate::error::Error;
use crate::format::move16::Dialect;
use crate::ops::rearrange::{
    AverageCounts, OperationManifest, RearrangePlan, RearrangeRequest, Resources,
};
use crate::records::bad_record::BadPolicy;
use crate::records::filters::{Condition, RecordFilters};
use crate::records::format_name::FormatName;
use crate::storage::memory::Memory;
use crate::storage::path_text::path_of;
use crate::storage::quantity::quantity;
use crate::storage::signals::Interrupt;

/// Inputs, filters and memory. `--seed` is also the seed of the command if it has one.
#[derive(Args, Clone, Debug)]
// Games always stay whole.
#[command(mut_arg("keep_untrained", |arg| arg.hide(true)))]
pub(super) struct RearrangeArgs {
    #[command(flatten)]
    inputs: InputArgs,

    /// Format of the inputs, such as psv or psv.zst; see `kyokumen formats` [default: from the extension, or else from
    /// the content]
    #[arg(long, value_name = "FORMAT", help_heading = heading::RECORDS)]
    from: Option<FormatName>,

    /// Encoding of packed moves: apery, yaneuraou or rshogi [default: detected from the stored moves]
    #[arg(long, value_name = "DIALECT", value_parser = dialect, help_heading = heading::RECORDS)]
    dialect: Option<Dialect>,

    #[command(flatten)]
    filters: RecordFilters,

    /// Memory for records; the rest goes to temporary files [default: 2G]
    #[arg(long, value_name = "SIZE", default_value = "2G", hide_default_value = true, help_heading = heading::RUNNING)]
    memory: Memory,

    /// What to do with truncated records: `stop` ends the command without an output, `skip` drops them, `quarantine`
    /// moves them to a separate file. Unreadable positions are noticed only if a filter or the command decodes them;
    /// remove them first with `kyokumen verify --quarantine` [default: stop]
    #[arg(long, value_name = "stop|skip|quarantine", value_parser = word::<BadPolicy>, help_heading = heading::OUTPUTS)]
    on_error: Option<BadPolicy>,

    #[command(flatten)]
    run: RunArgs,
}

impl RearrangeArgs {
    /// A request with one output.
    pub(super) fn request(&self, output: &OutputArgs) -> RearrangeRequest {
        let OutputArgs { output, to, tmp_dir } = output.clone();
        json_lines::set_output(&output);
        let request = self.request_without_tmp_dir(output, to);
        RearrangeRequest { resources: Resources { tmp_dir, ..request.resources }, ..request }
    }

    /// A request of a command that writes no temporary files.
    pub(super) fn request_without_tmp_dir(
        &self,
        output: PathBuf,
        to: Option<FormatName>,
    ) -> RearrangeRequest {
        let args = self.clone();
        tracing::info!("memory for records: {}", args.memory);
        RearrangeRequest {
            inputs: args.inputs.into_paths(),
            references: Vec::new(),
            output,
            from: args.from,
            dialect: args.dialect,
            filters: args.filters,
            to,
            name: None,
            force: args.run.force,
            on_error: args.on_error.unwrap_or(BadPolicy::Stop),
            resources: Resources {
                threads: args.run.work.threads(),
                memory: args.memory,
                tmp_dir: None,
            },
        }
    }

    pub(super) fn seed(&self) -> u64 {
        self.filters.seed.unwrap_or(1)
    }

    pub(super) fn run(
        &self,
        plan: Result<RearrangePlan, Error>,
        operation: impl FnOnce(
            &RearrangePlan,
            &mut Progress,
            &std::sync::atomic::AtomicBool,
        ) -> Result<OperationManifest, Error>,
    ) -> anyhow::Result<ExitStatus> {
        let plan = plan?;
        let interrupt = Interrupt::watch().context("cannot watch for signals")?;
        let mut progress = self.run.work.progress.start(plan.records);
        let manifest = operation(&plan, &mut progress, &interrupt.cancel());
        drop(progress);
        let manifest = manifest.map_err(|error| run_error(error, &interrupt))?;
        write_summary(&manifest, &plan);
        if plan.on_error == BadPolicy::Quarantine {
            say!(
                "note: records that were copied without decoding were not checked; `kyokumen verify` checks every field"
            );
        }
        Ok(ExitStatus::of_records(manifest.totals.counts.input, manifest.totals.counts.bad.all()))
    }
}

/// The files that a command with a single output writes.
#[derive(Args, Clone, Debug)]
pub(super) struct OutputArgs {
    /// Output file, compressed if its name ends in .zst; `-` is standard output. A missing folder is created
    #[arg(short, long, value_name = "OUTPUT", required = true, value_parser = location(), help_heading = heading::OUTPUTS)]
    output: PathBuf,

    /// Format of the output: the format of the inputs, compressed or not, as in psv.zst [default: from the extension,
    /// or else the format of the inputs]
    #[arg(long, value_name = "FORMAT", help_heading = heading::OUTPUTS)]
    to: Option<FormatName>,

    /// Folder for temporary files, which are deleted when the process ends [default: the folder of the output;
    /// for a pipe or URL, the system's temporary folder]
    #[arg(long, value_name = "DIR", help_heading = heading::RUNNING)]
    tmp_dir: Option<PathBuf>,
}

/// Name in the summary for records that the command itself left out. `None` for filters.
fn drop_reason(condition: Condition) -> Option<&'static str> {
    match condition {
        Condition::Duplicate => Some("duplicates"),
        Condition::Sample => Some("not in the sample"),
        Condition::Comment => Some("comments and empty lines"),
        _ => None,
    }
}

/// Maximum number of outputs listed in the summary, to fit on a screen.
const NAMED_OUTPUTS: usize = 20;

fn write_summary(manifest: &OperationManifest, plan: &RearrangePlan) {
    let counts = &manifest.totals.counts;
    let own = counts
        .filtered
        .iter()
        .filter_map(|(&condition, &number)| drop_reason(condition).map(|reason| (number, reason)));
    let by_filters =
        || counts.filtered.iter().filter(|(condition, _)| drop_reason(**condition).is_none());
    let filtered = by_filters().map(|(_, number)| number).sum();
    let others = [(filtered, "filtered"), (counts.bad.all(), "bad")];
    let line = format!("{}: {} written", records(counts.input), counts.written);
    let line = with_counts(line, &own.chain(others).collect::<Vec<_>>());
    say!("{line}{}", report::filtered(by_filters()));
    let mut games = manifest.outputs.iter().filter_map(|output| output.games).peekable();
    if games.peek().is_some() {
        say!("  {}", quantity(games.sum::<u64>(), "game"));
    }
    if let Some(averaged) = counts.averaged {
        let AverageCounts { copies, most_copies, evaluations, results, moves, .. } = averaged;
        say!(
            "  {} of {}, at most {most_copies} per average; changed: {}, {}, {}",
            quantity(averaged.records, "average"),
            records(copies),
            quantity(evaluations, "evaluation"),
            quantity(results, "result"),
            quantity(moves, "move")
        );
    }
    // All files are in one folder. Only pipes have no manifest, and the parts of `split --size` are not in the plan.
    let pipe = || plan.outputs.first().map(|output| &*output.path);
    let folder = plan.manifest.as_deref().or_else(pipe).and_then(Path::parent);
    for output in manifest.outputs.iter().take(NAMED_OUTPUTS) {
        let path = folder.unwrap_or(Path::new("")).join(path_of(&output.file));
        let games =
            output.games.map_or(String::new(), |games| format!(", {}", quantity(games, "game")));
        say!("  {} ({}{games})", path.display(), records(output.records));
    }
    let more = manifest.outputs.len().saturating_sub(NAMED_OUTPUTS);
    if more > 0 {
        say!("  and {more} more");
    }
}
