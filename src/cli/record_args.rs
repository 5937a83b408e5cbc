//! Options of reading records and of running, shared by many commands.

use std::path::PathBuf;

use clap::Args;

use super::option::{self, heading, location, threads, whole_number, word};
use crate::cli::progress::ProgressMode;
use crate::format::move16::Dialect;
use crate::records::filters::RecordFilters;
use crate::records::format_name::FormatName;

/// Input files.
#[derive(Args, Clone, Debug)]
pub(super) struct InputArgs {
    /// Input files or URLs, read as one sequence of records; `-` is standard input and needs --from
    #[arg(value_name = "INPUT", required_unless_present = "input", value_parser = location())]
    inputs: Vec<PathBuf>,

    /// Same as INPUT
    #[arg(short, long, value_name = "INPUT", conflicts_with = "inputs", value_parser = location())]
    input: Vec<PathBuf>,
}

impl InputArgs {
    pub(super) fn into_paths(self) -> Vec<PathBuf> {
        if self.input.is_empty() { self.inputs } else { self.input }
    }
}

/// Input format and record filters.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(super) struct RecordArgs {
    /// Format of the inputs, such as psv or psv.zst; see `kyokumen formats` [default: from the extension, or else from
    /// the content]
    #[arg(long, value_name = "FORMAT", help_heading = heading::RECORDS)]
    pub(super) from: Option<FormatName>,

    /// Encoding of packed moves: apery, yaneuraou or rshogi [default: detected from the stored moves]
    #[arg(long, value_name = "DIALECT", value_parser = dialect, help_heading = heading::RECORDS, hide_short_help = true)]
    pub(super) dialect: Option<Dialect>,

    #[command(flatten)]
    filters: RecordFilters,

    /// Read only the first N records of all inputs together
    #[arg(long, value_name = "N", value_parser = whole_number::<u64>(..), help_heading = heading::RECORDS)]
    pub(super) limit: Option<u64>,
}

impl RecordArgs {
    pub(super) fn filters(self) -> RecordFilters {
        self.filters.with_default_seed()
    }
}

pub(super) fn dialect(text: &str) -> Result<Dialect, String> {
    Dialect::from_name(text)
        .ok_or_else(|| format!("expected one of {}", Dialect::ALL.map(Dialect::name).join(", ")))
}

/// Options that do not change the outputs.
#[derive(Args, Clone, Copy, Debug)]
pub(super) struct WorkArgs {
    /// Number of threads; 0 uses all cores [default: 0]
    #[arg(long, default_value = "0", hide_default_value = true, value_parser = threads(), help_heading = heading::RUNNING)]
    threads: usize,

    /// Show progress on standard error: `bar`, `plain` (a line every ten seconds), `json` (a line every second, and all
    /// messages as JSON) or `none`; `auto` is `bar` on a terminal and otherwise `plain` [default: auto]
    #[arg(long, value_name = "auto|bar|plain|json|none", default_value = "auto", hide_default_value = true, value_parser = word::<ProgressMode>, help_heading = heading::RUNNING)]
    pub(super) progress: ProgressMode,
}

/// [`WorkArgs`] and `--force`, for commands that cannot be resumed.
#[derive(Args, Clone, Copy, Debug)]
pub(super) struct RunArgs {
    #[command(flatten)]
    pub(super) work: WorkArgs,

    /// Replace existing outputs
    #[arg(long, help_heading = heading::RUNNING)]
    pub(super) force: bool,
}

impl WorkArgs {
    pub(super) fn threads(self) -> usize {
        option::log_threads(self.threads);
        self.threads
    }
}
