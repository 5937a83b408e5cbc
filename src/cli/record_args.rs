//! Options of the commands that read files of records and make others of them: `filter`, `convert`, `dataset`.
//!
//! Nothing has its default here: what is not said may stand in a configuration file.

use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::Args;

use super::heading;
use super::option::{self, location, threads, whole_number, word};
use crate::cli::progress::ProgressMode;
use crate::format::move16::Dialect;
use crate::records::filters::{Endings, Probability, RecordFilters, Results, Sample};
use crate::records::format_name::FormatName;

/// What is read.
#[derive(Args, Clone, Debug)]
pub(super) struct InputArgs {
    /// Files of positions, or their URLs, read as one sequence; `-` is standard input
    #[arg(value_name = "INPUT", required_unless_present = "input", value_parser = location())]
    inputs: Vec<PathBuf>,

    /// The same as INPUT
    #[arg(short, long, value_name = "INPUT", conflicts_with = "inputs", value_parser = location())]
    input: Vec<PathBuf>,
}

impl InputArgs {
    pub(super) fn into_paths(self) -> Vec<PathBuf> {
        if self.input.is_empty() { self.inputs } else { self.input }
    }
}

/// How records are read, and which of them are taken.
#[derive(Args, Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(super) struct RecordArgs {
    /// Format of the inputs, one of `kyokumen formats`, as in psv or psv.zst [default: by extension, or
    /// by content where that says nothing]
    #[arg(long, value_name = "FORMAT", help_heading = heading::RECORDS)]
    pub(super) from: Option<FormatName>,

    /// How packed moves are encoded: apery, yaneuraou or rshogi [default: as most are legal]
    #[arg(long, value_name = "DIALECT", value_parser = dialect, help_heading = heading::RECORDS, hide_short_help = true)]
    pub(super) dialect: Option<Dialect>,

    /// Only records whose evaluation is at most this far from 0, in centipawns
    #[arg(long, value_name = "CP", value_parser = whole_number::<u16>(..), help_heading = heading::RECORDS)]
    max_abs_eval: Option<u16>,

    /// Only records whose evaluation is at least this far from 0, in centipawns
    #[arg(long, value_name = "CP", value_parser = whole_number::<u16>(..), help_heading = heading::RECORDS, hide_short_help = true)]
    min_abs_eval: Option<u16>,

    /// Leave out records whose evaluation is at least this far from 0, in centipawns, for the side that lost the game
    #[arg(long, value_name = "CP", value_parser = whole_number::<u16>(..), help_heading = heading::RECORDS, hide_short_help = true)]
    drop_contradictions: Option<u16>,

    /// Only records from this ply on
    #[arg(long, value_name = "PLY", value_parser = whole_number::<u16>(..), help_heading = heading::RECORDS)]
    min_ply: Option<u16>,

    /// Only records up to this ply
    #[arg(long, value_name = "PLY", value_parser = whole_number::<u16>(..), help_heading = heading::RECORDS, hide_short_help = true)]
    max_ply: Option<u16>,

    /// Only records of games that ended so: black (won), white or draw, or several, as in black,white
    #[arg(long, value_name = "RESULT,…", help_heading = heading::RECORDS, hide_short_help = true)]
    result: Option<Results>,

    /// Only records of games with at least so many moves
    #[arg(long, value_name = "PLIES", value_parser = whole_number::<u16>(..), help_heading = heading::RECORDS, hide_short_help = true)]
    min_game_plies: Option<u16>,

    /// Only records of games with at most so many moves
    #[arg(long, value_name = "PLIES", value_parser = whole_number::<u16>(..), help_heading = heading::RECORDS, hide_short_help = true)]
    max_game_plies: Option<u16>,

    #[arg(
        long,
        value_name = "ENDING,…",
        help = "Only records of games that ended so: normal (mate or resignation), repetition, declaration, move_limit, \
                time_up, illegal_move, interruption or impasse, or several, as in normal,declaration",
        help_heading = heading::RECORDS,
        hide_short_help = true
    )]
    ending: Option<Endings>,

    /// Leave out records of games that ended so
    #[arg(long, value_name = "ENDING,…", help_heading = heading::RECORDS, hide_short_help = true)]
    drop_ending: Option<Endings>,

    /// Only records with a stored move
    #[arg(long, help_heading = heading::RECORDS, hide_short_help = true)]
    has_move: bool,

    /// Only records with a stored move that can be played
    #[arg(long, help_heading = heading::RECORDS, hide_short_help = true)]
    legal_move: bool,

    /// Leave out positions whose side to move is in check
    #[arg(long, help_heading = heading::RECORDS)]
    drop_in_check: bool,

    /// Only quiet records: the side to move is not in check, and the stored move can be played and is no capture,
    /// promotion or check
    #[arg(long, help_heading = heading::RECORDS, hide_short_help = true)]
    quiet: bool,

    /// Take also the moves of hcpe3 games that are marked as not for training (no candidates)
    #[arg(long, help_heading = heading::RECORDS, hide_short_help = true)]
    keep_untrained: bool,

    /// Only one of so many records: the first, and every K-th behind it, counted over all inputs
    #[arg(long, value_name = "K", value_parser = whole_number::<NonZeroU64>(1..), help_heading = heading::RECORDS, hide_short_help = true)]
    every: Option<NonZeroU64>,

    /// Only a random part: each record with this probability, as in 0.25. Which ones depends on the seed and
    /// their numbers over all inputs, not on threads or shards
    #[arg(long, value_name = "P", help_heading = heading::RECORDS, hide_short_help = true)]
    sample: Option<Probability>,

    /// Seed of the sample [default: 1]
    #[arg(long, value_parser = whole_number::<u64>(..), help_heading = heading::RECORDS, hide_short_help = true)]
    seed: Option<u64>,

    /// Read only the first N records
    #[arg(long, value_name = "N", value_parser = whole_number::<u64>(..), help_heading = heading::RECORDS)]
    pub(super) limit: Option<u64>,
}

/// Seed of a sample if none is given.
const SEED: u64 = 1;

impl RecordArgs {
    pub(super) fn filters(self) -> RecordFilters {
        let seed = self.seed.unwrap_or(SEED);
        RecordFilters {
            keep_untrained: self.keep_untrained,
            every: self.every,
            sample: self.sample.map(|probability| Sample { probability, seed }),
            max_abs_eval_cp: self.max_abs_eval,
            min_abs_eval_cp: self.min_abs_eval,
            contradictions_from_cp: self.drop_contradictions,
            min_ply: self.min_ply,
            max_ply: self.max_ply,
            results: self.result,
            min_game_plies: self.min_game_plies,
            max_game_plies: self.max_game_plies,
            endings: self.ending,
            dropped_endings: self.drop_ending,
            has_move: self.has_move,
            drop_in_check: self.drop_in_check,
            legal_move: self.legal_move,
            quiet: self.quiet,
        }
    }
}

/// Reads the name of an encoding of moves.
pub(super) fn dialect(text: &str) -> Result<Dialect, String> {
    Dialect::from_name(text)
        .ok_or_else(|| format!("expected one of {}", Dialect::ALL.map(Dialect::name).join(", ")))
}

/// How the work is done, which changes no output.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(super) struct RunArgs {
    /// Threads; 0 is all cores [default: 0]
    #[arg(long, value_parser = threads(), help_heading = heading::RUNNING)]
    threads: Option<usize>,

    /// Show progress on standard error [default: auto]
    #[arg(long, value_name = "auto|bar|plain|json|none", value_parser = word::<ProgressMode>, help_heading = heading::RUNNING)]
    progress: Option<ProgressMode>,

    /// Replace outputs that exist
    #[arg(long, help_heading = heading::RUNNING)]
    pub(super) force: bool,
}

impl RunArgs {
    pub(super) fn threads(self) -> usize {
        let threads = self.threads.unwrap_or(0);
        option::log_threads(threads);
        threads
    }

    pub(super) fn progress(self) -> ProgressMode {
        self.progress.unwrap_or_default()
    }
}
