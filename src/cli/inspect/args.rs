//! What `kyokumen inspect` is asked.

use std::path::PathBuf;

use clap::Args;

use crate::cli::exit::Usage;
use crate::cli::option::{location, threads, whole_number};
use crate::cli::record_args::dialect;
use crate::cli::search_args::SearchArgs;
use crate::format::move16::Dialect;
use crate::ops::inspect::{RecordChoice, RecordRange};
use crate::records::format_name::FormatName;

/// Default number of records of each file on a page.
const PAGE_RECORDS: u64 = 20;

/// Limit of `--sample`, more than anybody looks at.
const MAX_SAMPLE: u64 = 1_000_000;

/// Show what is in files of positions: format, dialect, records with their boards
///
/// The dialect (order of the pieces in hand, padding, whether the stored moves can be played) is judged
/// by a sample: of a file that is not compressed some 4096 records from all of it, of a stream or text its
/// first 4096 records.
#[derive(Args, Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
#[command(after_long_help = "\
Examples:
  kyokumen inspect games.psv --range 7..9 --kanji
  kyokumen inspect *.hcpe --sample 50 --html boards.html
  kyokumen inspect hard.psv --html boards.html --solve --nodes 100000

Exit status: 0 done, 1 failed, 2 usage, 3 done but there is no record to be shown, or a bad one.")]
pub(in crate::cli) struct InspectArgs {
    /// Files of positions; `-` is standard input
    #[arg(value_name = "FILE", required = true, value_parser = location())]
    pub(super) files: Vec<PathBuf>,

    /// Records to show of each file, counted from 0: a..b (without b), a.., ..b or a [default: the first; of a page the
    /// first 20]
    #[arg(long, value_name = "A..B")]
    pub(super) range: Option<RecordRange>,

    /// Show so many records of each file, chosen at random; those that `kyokumen sample --count` takes of a file of
    /// records
    #[arg(long, value_name = "N", conflicts_with = "range", value_parser = whole_number::<usize>(..=MAX_SAMPLE))]
    pub(super) sample: Option<usize>,

    /// Which of all samples [default: 1]
    #[arg(long, default_value_t = 1, hide_default_value = true, requires = "sample", value_parser = whole_number::<u64>(..))]
    seed: u64,

    /// Format of the files, one of `kyokumen formats`, as in psv or psv.zst [default: by extension, or
    /// by content where that says nothing]
    #[arg(long, value_name = "FORMAT")]
    pub(super) from: Option<FormatName>,

    /// How packed moves are encoded: apery, yaneuraou or rshogi [default: as most are legal]
    #[arg(long, value_name = "DIALECT", value_parser = dialect)]
    pub(super) dialect: Option<Dialect>,

    /// Boards and moves in kanji, as Japanese game records show them
    #[arg(long, conflicts_with = "html")]
    pub(super) kanji: bool,

    /// The bytes of each record too
    #[arg(long, conflicts_with = "html")]
    pub(super) hex: bool,

    /// One JSON object a record, nothing else
    #[arg(long, conflicts_with = "html")]
    pub(super) json: bool,

    /// Write the boards to a page that needs nothing but a browser
    #[arg(long, value_name = "BOARDS.html", value_parser = location())]
    pub(super) html: Option<PathBuf>,

    /// Replace the page if it exists
    #[arg(long, requires = "html")]
    pub(super) force: bool,

    /// Search each position of the page for a mate, and show it
    #[arg(long, requires = "html")]
    pub(super) solve: bool,

    #[command(flatten)]
    pub(super) search: SearchArgs,

    /// Threads that search; 0 is all cores [default: 0]
    #[arg(long, default_value_t = 0, hide_default_value = true, value_parser = threads(), requires = "solve")]
    pub(super) threads: usize,
}

impl InspectArgs {
    /// Fails if search limits are given without `--solve`.
    pub(super) fn check(&self) -> Result<(), Usage> {
        if !self.solve && self.search != SearchArgs::default() {
            let why = "limits of a search are for --solve, which searches the positions of a page";
            return Err(Usage(why.to_owned()));
        }
        Ok(())
    }

    pub(super) fn choice(&self) -> RecordChoice {
        let first = if self.html.is_some() { PAGE_RECORDS } else { 1 };
        match (self.range, self.sample) {
            (Some(range), _) => RecordChoice::Range(range),
            (None, Some(count)) => RecordChoice::Sample { count, seed: self.seed },
            (None, None) => RecordChoice::First(first),
        }
    }
}
