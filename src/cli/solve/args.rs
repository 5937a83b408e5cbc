//! Options of `kyokumen solve`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use clap::{ArgGroup, Args};

use super::one::NODES_OF_ONE;
use super::output::{MateFormat, Output};
use super::split::SplitArgs;
use crate::cli::exit::Usage;
use crate::cli::option::{LanguageArgs, location, seconds, threads, whole_number, word};
use crate::cli::progress::ProgressMode;
use crate::cli::search_args::SearchArgs;
use crate::format::parse_kif_move;
use crate::mate::alternatives::{AllMoves, Extent};
use crate::mate::judge::MateSettings;
use crate::mate::solve::SolveOptions;
use crate::ops::language::Language;
use crate::records::format_name::FormatName;
use crate::search::alternatives::{LEAST_NODES_A_POSITION, NODES_PER_SOLUTION_NODE};
use crate::shogi::{Move, Position};
use crate::solver::MAX_PLIES;

/// Search positions for a forced mate by or against the side to move
///
/// The verdict is `win` if the side to move can force mate, `loss` if it is being mated by force, `no mate` (in JSON
/// `no_mate`) if neither is possible, or `unknown` if a limit ended the search.
///
/// The input is an SFEN or a file. The format of a file is detected from its extension or content. If neither shows a
/// format, the file is read as text with one SFEN per line. A tab and any text may follow the SFEN. Blank lines and
/// lines that begin with # are skipped. The king of the attacker may be missing, as in tsume problems.
///
/// A KIF, BOD, CSA or JKF file with exactly one position, such as a diagram without moves, is treated as a single
/// position, like an SFEN. If moves follow the diagram, the file has several positions, the one before each move;
/// --limit 1 reads only the diagram. In the options below, `a collection` is any other input file.
///
/// A single position is searched to any depth unless --depth is given. Ctrl-C ends its search and prints the current
/// result. The results of a collection keep its order, and equal positions are searched once.
#[derive(Args)]
#[command(mut_arg("depth", |arg| arg.help(depth_help())))]
#[command(mut_arg("nodes", |arg| arg.help(nodes_help())))]
#[command(mut_arg("hash_mb", |arg| arg.help(hash_help())))]
#[command(mut_arg("when_hopeless", |arg| arg.help(WHEN_HOPELESS_HELP)))]
#[command(group(ArgGroup::new("outputs").args(["proof", "split"])))]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate option")]
#[command(override_usage = "kyokumen solve [OPTIONS] [SFEN | FILE | -]")]
#[command(after_long_help = "\
Examples:
  kyokumen solve 4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1
  kyokumen solve --time 60 \"SFEN\"
  kyokumen solve --json positions.hcp > answers.jsonl
  kyokumen solve --shortest problems.sfen --to kif > mates.kif
  kyokumen solve --shortest problems.sfen --to html > mates.html
  kyokumen solve --all=line \"SFEN\"
  kyokumen solve --all=line problem.kif --to html > problem.html
  kyokumen solve --shortest --proof proofs.zst problems.sfen
  kyokumen solve --split 2 -o out --shard 3/10 \"SFEN\"

Exit status:
  0  success
  1  failure, such as an output that exists
  2  usage error, or a file whose content contradicts its name
  3  nothing was read, or some records were bad
  129, 130 or 143  interrupted by a signal")]
pub(in crate::cli) struct SolveArgs {
    /// SFEN (quotes are optional), one file of positions, or `-` for standard input [default: -]
    #[arg(value_name = "SFEN | FILE | -", default_value = "-", hide_default_value = true, num_args = 1..)]
    pub(super) input: Vec<OsString>,

    /// Format of the file, such as psv or psv.zst; see `kyokumen formats` [default: from the extension, or else from
    /// the content]
    #[arg(long, value_name = "FORMAT")]
    pub(super) from: Option<FormatName>,

    /// Read only the first N positions of a file
    #[arg(long, value_name = "N", value_parser = whole_number::<usize>(..))]
    pub(super) limit: Option<usize>,

    #[command(flatten)]
    pub(super) search: SearchArgs,

    /// Time limit for a single position; it replaces the default node limit [default: none]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(super) time: Option<Duration>,

    /// Number of threads; 0 uses all cores [default: 0]. For a collection, each thread searches its own position. For a
    /// single position, all threads search together once the search takes long (after 16384 nodes). The line, the node
    /// count and whether the position is decided then vary between runs. Use `--threads 1` for repeatable results. With
    /// --split, each thread searches its own leaf with its own table
    #[arg(long, default_value_t = 0, hide_default_value = true, value_parser = threads())]
    pub(super) threads: usize,

    /// Find the shortest mates: after each mate, search for shorter ones. These searches together have the node limit
    /// of the first search
    #[arg(long)]
    pub(super) shortest: bool,

    /// Also show the length of each mate as tsume problems count it, without futile interpositions; always on for a
    /// single position
    #[arg(long)]
    pub(super) tsume_plies: bool,

    /// Search every first move: show which moves mate. `line` does this for each position of the main line. Only this
    /// shows whether the whole solution is unique, and which defences last longest. These searches have no depth limit
    /// unless --depth is given. Can be combined with --json or --to html, not with another --to
    #[arg(long, value_name = "moves|line", num_args = 0..=1, require_equals = true, default_missing_value = "moves", value_parser = word::<Extent>)]
    pub(super) all: Option<Extent>,

    #[arg(long, value_name = "N", requires = "all", help = all_nodes_help(), value_parser = whole_number::<u64>(..))]
    pub(super) all_nodes: Option<u64>,

    /// Intended solution or its first moves, in USI notation or Japanese (`▲５二金`), separated by spaces; the main line
    /// follows it. `file` takes the moves of the file, a single game that begins with the problem. Needs --all and a
    /// single position
    #[arg(long, value_name = "MOVES|file", requires = "all")]
    pub(super) solution: Option<String>,

    /// Write the proofs of all mates to a file for `kyokumen verify --proof`, zstd-compressed if its name ends in .zst
    #[arg(long, value_name = "FILE", value_parser = location())]
    pub(super) proof: Option<PathBuf>,

    #[command(flatten)]
    pub(super) split: SplitArgs,

    /// Replace existing outputs
    #[arg(long, requires = "outputs")]
    pub(super) force: bool,

    /// Write the mates to standard output as game records (kif and ki2 in Shift JIS, kifu and ki2u in UTF-8, csa, jkf,
    /// usi) or as an HTML page with boards
    #[arg(long, value_name = "kif|kifu|ki2|ki2u|csa|jkf|usi|html", conflicts_with = "json")]
    pub(super) to: Option<MateFormat>,

    /// Print one JSON object per position
    #[arg(long)]
    pub(super) json: bool,

    /// Show the progress of the search of a single position: `bar`, `plain` (a line every ten seconds), `json` (a line
    /// every second) or `none`; `auto` is `bar` on a terminal and otherwise `plain` [default: auto]
    #[arg(long, value_name = "auto|bar|plain|json|none", value_parser = word::<ProgressMode>)]
    pub(super) progress: Option<ProgressMode>,

    #[command(flatten)]
    language: LanguageArgs,
}

impl SolveArgs {
    /// Checks that `--to` names a format that can hold the results of `--all`.
    pub(super) fn check(&self) -> Result<(), Usage> {
        if self.all.is_some() && self.to.is_some_and(|to| to != MateFormat::Html) {
            let why = "--all cannot be used with game records (--to), which hold only the mating line; use --to html \
                       or --json, or remove --to";
            return Err(Usage(why.to_owned()));
        }
        Ok(())
    }

    /// Checks that no option for a single position is given.
    pub(super) fn check_for_several(&self) -> Result<(), Usage> {
        if self.time.is_some() {
            let why = "--time works only for a single position; limit the search of a collection with --nodes";
            return Err(Usage(why.to_owned()));
        }
        if self.solution.is_some() {
            let why = "--solution needs a single position: an SFEN on the command line, or a KIF, BOD, CSA or JKF \
                       file with one position";
            return Err(Usage(why.to_owned()));
        }
        Ok(())
    }

    pub(super) fn language(&self) -> Language {
        self.language.language()
    }

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

    /// `measures`: whether `tsume_plies` is requested. `title`: title of an HTML page.
    pub(super) fn output(&self, measures: bool, title: String) -> Output {
        let language = self.language();
        match self.to {
            Some(format) => Output::of_mates(format, title, language),
            None if self.json => Output::Json { measures },
            None => Output::Text(language),
        }
    }

    /// Whether the intended solution is in the input file.
    pub(super) fn follows_game(&self) -> bool {
        self.solution.as_deref() == Some("file")
    }

    /// Parses `--solution`; every move must be legal.
    pub(super) fn intended(&self, position: &Position) -> Result<Vec<Move>, Usage> {
        const SIGNS: [char; 6] = ['▲', '△', '☗', '☖', '▼', '▽'];
        if self.follows_game() {
            let why = "--solution file needs a file with moves after the problem";
            return Err(Usage(why.to_owned()));
        }
        let (mut position, mut last) = (position.clone(), None);
        // In Japanese, a sign also separates moves, and a space may follow 同.
        let text = self.solution.as_deref().unwrap_or_default().replace("同 ", "同");
        let text =
            SIGNS.into_iter().fold(text, |text, sign| text.replace(sign, &format!(" {sign}")));
        let moves = text.split_ascii_whitespace().zip(1..).map(|(word, number): (_, u32)| {
            let legal = match Move::from_usi(word) {
                Some(m) => Some(m).filter(|&m| position.is_legal(m)),
                None => parse_kif_move(&position, word, last),
            };
            let m = legal.ok_or_else(|| {
                Usage(format!(
                    "--solution: move {number}, `{word}`, is not a legal move in {position}; expected USI notation, \
                     such as G*5b, or Japanese notation, such as ▲５二金"
                ))
            })?;
            position.make(m);
            last = Some(m.to());
            Ok(m)
        });
        moves.collect()
    }
}

fn depth_help() -> String {
    let depth = MateSettings::default().depth_plies;
    format!(
        "Maximum search depth in plies [default: {depth} for a collection, no limit for a single position]. With --split, \
         counted from the leaf"
    )
}

fn nodes_help() -> String {
    let nodes = MateSettings::default().nodes;
    format!(
        "Maximum number of nodes per search [default: {nodes} for a collection, {NODES_OF_ONE} for a single position, \
         no limit with --time]"
    )
}

fn hash_help() -> String {
    let hash_mb = MateSettings::default().hash_mb;
    format!(
        "Size of the transposition table in MiB. For a collection, each thread has its own; for a single position, all \
         threads share one [default: {hash_mb}]. With --split, each thread searches its own leaf with its own table"
    )
}

const WHEN_HOPELESS_HELP: &str = "What to do when a search is unlikely to finish within its node limit: `give-up` stops \
                                  early, `go-on` uses all nodes [default: give-up for a collection, go-on for a \
                                  single position]";

fn all_nodes_help() -> String {
    format!(
        "Maximum number of nodes for all moves of one position together [default: {NODES_PER_SOLUTION_NODE} times \
         the nodes of its first search, at least {LEAST_NODES_A_POSITION}]"
    )
}
