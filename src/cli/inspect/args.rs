//! Options of `kyokumen inspect`.

use std::path::PathBuf;

use clap::Args;

use crate::cli::exit::Usage;
use crate::cli::option::{LanguageArgs, location, threads, whole_number};
use crate::cli::record_args::dialect;
use crate::cli::search_args::SearchArgs;
use crate::format::move16::Dialect;
use crate::ops::inspect::{RecordChoice, RecordRange};
use crate::records::format_name::FormatName;

/// Default number of records per file on an HTML page.
const PAGE_RECORDS: u64 = 20;

/// Maximum of `--sample`.
const MAX_SAMPLE: u64 = 1_000_000;

/// Show the format and move encoding of files, and single records with their boards
///
/// The order of the pieces in hand, the padding and the encoding of stored moves are determined from a sample: about
/// 4096 records spread over an uncompressed file, or the first 4096 records of a compressed file, text or pipe.
#[derive(Args, Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate option")]
#[command(mut_arg("lang", |arg| arg.requires("html")))]
#[command(after_long_help = "\
Examples:
  kyokumen inspect games.psv --range 7..9 --kanji
  kyokumen inspect *.hcpe --sample 50 --html boards.html
  kyokumen inspect hard.psv --html boards.html --solve --nodes 100000

Exit status:
  0  success
  1  failure, such as an output that exists
  2  usage error, or a file of unknown format
  3  no record to show, or a bad record")]
pub(in crate::cli) struct InspectArgs {
    /// Input files; `-` is standard input and needs --from
    #[arg(value_name = "FILE", required = true, value_parser = location())]
    pub(super) files: Vec<PathBuf>,

    /// Records of each file to show, numbered from 0: A..B (without B), A.., ..B or a single number A [default: the
    /// first record; with --html the first 20]
    #[arg(long, value_name = "A..B")]
    pub(super) range: Option<RecordRange>,

    /// Show N random records of each file. `kyokumen sample --count N` draws the same records, except in formats that
    /// hold games: there it draws whole games
    #[arg(long, value_name = "N", conflicts_with = "range", value_parser = whole_number::<usize>(..=MAX_SAMPLE))]
    pub(super) sample: Option<usize>,

    /// Random seed of --sample [default: 1]
    #[arg(long, default_value_t = 1, hide_default_value = true, requires = "sample", value_parser = whole_number::<u64>(..))]
    seed: u64,

    /// Format of the files, such as psv or psv.zst; see `kyokumen formats` [default: from the extension, or else from
    /// the content]
    #[arg(long, value_name = "FORMAT")]
    pub(super) from: Option<FormatName>,

    /// Encoding of packed moves: apery, yaneuraou or rshogi [default: detected from the stored moves]
    #[arg(long, value_name = "DIALECT", value_parser = dialect)]
    pub(super) dialect: Option<Dialect>,

    /// Show boards and moves in kanji, as in Japanese game records
    #[arg(long, conflicts_with = "html")]
    pub(super) kanji: bool,

    /// Also show the bytes of each record in hexadecimal
    #[arg(long, conflicts_with = "html")]
    pub(super) hex: bool,

    /// Print one JSON object per record
    #[arg(long, conflicts_with = "html")]
    pub(super) json: bool,

    /// Write the boards to a self-contained HTML page
    #[arg(long, value_name = "BOARDS.html", value_parser = location())]
    pub(super) html: Option<PathBuf>,

    /// Replace an existing page
    #[arg(long, requires = "html")]
    pub(super) force: bool,

    /// Search each position of the HTML page for a forced mate and show the result there
    #[arg(long, requires = "html")]
    pub(super) solve: bool,

    #[command(flatten)]
    pub(super) search: SearchArgs,

    /// Number of search threads; 0 uses all cores [default: 0]
    #[arg(long, default_value_t = 0, hide_default_value = true, value_parser = threads(), requires = "solve")]
    pub(super) threads: usize,

    #[command(flatten)]
    pub(super) language: LanguageArgs,
}

impl InspectArgs {
    /// Checks that search limits are given only with `--solve`.
    pub(super) fn check(&self) -> Result<(), Usage> {
        if !self.solve && self.search != SearchArgs::default() {
            let why = "search limits need --solve";
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
