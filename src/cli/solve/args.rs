//! What `kyokumen solve` is asked.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use clap::Args;

use super::output::{MateFormat, Output};
use crate::cli::exit::Usage;
use crate::cli::option::{location, seconds, threads, whole_number, word};
use crate::cli::progress::ProgressMode;
use crate::cli::search_args::SearchArgs;
use crate::mate::alternatives::{
    AllMoves, Extent, LEAST_NODES_A_POSITION, NODES_PER_SOLUTION_NODE,
};
use crate::mate::solve::SolveOptions;
use crate::records::format_name::FormatName;
use crate::shogi::{Move, Position};
use crate::solver::MAX_PLIES;

/// Say whether the side to move mates, is being mated, or neither
///
/// Reads an SFEN, or a file of positions: a format of `kyokumen formats` by its extension, anything else as text with
/// an SFEN in the first column; blank lines and # comments are passed over. The king of the attacker may be
/// missing, as in problems. Results of a file come in its order, from all threads; equal positions are searched
/// once. One position is searched to any depth, and Ctrl-C asks for what is known.
#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
#[command(after_long_help = "\
Examples:
  kyokumen solve 4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1
  kyokumen solve --time 60 \"SFEN\"
  kyokumen solve --json positions.hcp > answers.jsonl
  kyokumen solve --shortest problems.sfen --to kif > mates.kif
  kyokumen solve --shortest problems.sfen --to html > mates.html
  kyokumen solve --all=line \"SFEN\"
  kyokumen solve --shortest --proof proofs.zst problems.sfen

Exit status: 0 done, 1 failed, 2 usage, 3 done but no records, or bad ones, were met, 129, 130 or 143 interrupted.")]
pub(in crate::cli) struct SolveArgs {
    /// An SFEN, a file of positions, or `-` for standard input [default: -]
    #[arg(value_name = "SFEN | FILE | -", default_value = "-", hide_default_value = true, num_args = 1..)]
    pub(super) input: Vec<OsString>,

    /// Format of the input, one of `kyokumen formats`, as in psv or psv.zst [default: by extension, or by
    /// content where that says nothing]
    #[arg(long, value_name = "FORMAT")]
    pub(super) from: Option<FormatName>,

    /// Read only the first N positions of a file
    #[arg(long, value_name = "N", value_parser = whole_number::<usize>(..))]
    pub(super) limit: Option<usize>,

    #[command(flatten)]
    pub(super) search: SearchArgs,

    /// Time for one position [default: none, and with it no limit of nodes unless one is named]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(super) time: Option<Duration>,

    /// Threads; 0 is all cores [default: 0]. Those of a file have a position each, those of one position search it
    /// together if it takes long: which mate is found then, with how many nodes, depends on chance; `--threads 1`
    /// repeats itself
    #[arg(long, default_value_t = 0, hide_default_value = true, value_parser = threads())]
    pub(super) threads: usize,

    /// Look for the shortest mates: after each mate search for a shorter one, with as many nodes again
    #[arg(long)]
    pub(super) shortest: bool,

    /// Measure the mates of a file also as problems count them, without futile interpositions; that of one position
    /// always is
    #[arg(long)]
    pub(super) tsume_plies: bool,

    /// Ask about every move: which mate, and is there one solution? With `line` in each position of the main line, and
    /// which replies hold out longest. To any depth, if --depth does not say otherwise
    #[arg(long, value_name = "moves|line", num_args = 0..=1, require_equals = true, default_missing_value = "moves", value_parser = word::<Extent>, conflicts_with = "to")]
    pub(super) all: Option<Extent>,

    #[arg(long, value_name = "N", requires = "all", help = all_nodes_help(), value_parser = whole_number::<u64>(..))]
    pub(super) all_nodes: Option<u64>,

    /// The solution as it is intended, moves in USI notation, as far as it goes: the main line follows it
    #[arg(long, value_name = "MOVES", requires = "all")]
    pub(super) solution: Option<String>,

    /// Write the proofs of all mates to a file, to be checked by `kyokumen verify --proof`; zstd-compressed
    /// if its name ends in .zst
    #[arg(long, value_name = "FILE", value_parser = location())]
    pub(super) proof: Option<PathBuf>,

    /// Replace the file of proofs if it exists
    #[arg(long, requires = "proof")]
    pub(super) force: bool,

    /// Write the mates as games that shogi programs show move by move (kif and ki2 in Shift JIS, kifu and ki2u in
    /// UTF-8, csa, jkf, usi), or as a page that shows them in a browser
    #[arg(long, value_name = "kif|kifu|ki2|ki2u|csa|jkf|usi|html", conflicts_with = "json")]
    pub(super) to: Option<MateFormat>,

    /// One JSON object a line for each position
    #[arg(long)]
    pub(super) json: bool,

    /// How the search of one position is shown [default: auto]
    #[arg(long, value_name = "auto|bar|plain|json|none", value_parser = word::<ProgressMode>)]
    pub(super) progress: Option<ProgressMode>,
}

impl SolveArgs {
    pub(super) fn options(&self, cancel: Arc<AtomicBool>, intended: Vec<Move>) -> SolveOptions {
        let depth_plies = self.search.depth.unwrap_or(MAX_PLIES);
        let nodes = self.all_nodes;
        let all = self.all.map(|extent| AllMoves { extent, nodes, depth_plies, intended });
        SolveOptions {
            all,
            shortest: self.shortest,
            tsume_plies: self.tsume_plies,
            proof: self.proof.is_some(),
            cancel,
        }
    }

    /// `measures`: whether `tsume_plies` is asked for. `title`: title of an HTML page.
    pub(super) fn output(&self, measures: bool, title: &str) -> Output {
        match self.to {
            Some(format) => Output::of_mates(format, title),
            None if self.json => Output::Json { measures },
            None => Output::Text,
        }
    }

    /// Parses `--solution`; every move must be legal.
    pub(super) fn intended(&self, position: &Position) -> Result<Vec<Move>, Usage> {
        let mut position = position.clone();
        let words = self.solution.iter().flat_map(|text| text.split_ascii_whitespace());
        let moves = words.map(|word| {
            let m = Move::from_usi(word).filter(|&m| position.is_legal(m));
            let m = m.ok_or_else(|| {
                Usage(format!("--solution: `{word}` is no legal move in {position}"))
            })?;
            position.make(m);
            Ok(m)
        });
        moves.collect()
    }
}

fn all_nodes_help() -> String {
    format!(
        "Nodes for the moves of one position, all together [default: {NODES_PER_SOLUTION_NODE} times what its \
         solution took, at least {LEAST_NODES_A_POSITION}]"
    )
}
