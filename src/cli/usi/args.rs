//! Options of `usi`.

use std::path::PathBuf;

use clap::Args;

use crate::cli::option::{LanguageArgs, decimal_number, threads, whole_number};
use crate::cli::runtime_args::RuntimeArgs;

/// Run a USI engine that solves mates and, with a network, plays games
///
/// The engine reads commands from standard input. `go mate N` (milliseconds) and `go mate infinite` search for a mate
/// by the side to move. The answer is `checkmate` followed by the moves, by `nomate` if it is proven that there is no
/// mate, by `timeout` if the search ended undecided, or by `notimplemented` if the command or position is invalid. Its
/// options are `USI_Hash` (MiB), `Threads` (0 uses all cores), `MultiPV` (number of mating first moves to report),
/// `DepthLimit` (plies) and `NodesLimit`; a limit of 0 means unlimited.
///
/// With `--model`, the engine also answers `go nodes|movetime|btime…|infinite|ponder` with `bestmove`. It runs a tree
/// search with the network and, at the same time, a mate search. The options are `USI_Hash` (MiB of the tree),
/// `MultiPV`, `NodesLimit`, `ByoyomiMargin` (ms), `Resign_Threshold` (per mille), `Draw_Value` (per mille) and
/// `Mate_Root_Nodes` (node limit of the mate search). The options for `go mate` are then `Mate_Hash`, `Mate_Threads`,
/// `Mate_MultiPV`, `Mate_DepthLimit` and `Mate_NodesLimit`. Without `--model`, the answer to a `go` without `mate` is
/// `bestmove resign`.
///
/// When the input ends, a search by `go nodes`, `go movetime` or `go mate N` still runs to its end. Any other search
/// stops.
#[derive(Args)]
pub(in crate::cli) struct UsiArgs {
    /// Network for playing: an ONNX file of the dlshogi family, or an evaluator program as in "run:python3
    /// evaluator.py"; repeat for several devices
    #[arg(long, value_name = "NET.onnx")]
    pub(super) model: Vec<PathBuf>,

    /// Number of evaluation threads, each with its own copy of the network; 0 uses all cores [default: 1]
    #[arg(long, value_parser = threads(), requires = "model")]
    pub(super) threads: Option<usize>,

    #[command(flatten)]
    pub(super) runtime: RuntimeArgs,

    /// Positions per batch [default: 8]
    #[arg(long, value_name = "N", value_parser = whole_number::<usize>(1..=65_536), requires = "model")]
    pub(super) batch: Option<usize>,

    /// Softmax temperature of the policy [default: 1.74]
    #[arg(long, value_name = "T", requires = "model", value_parser = decimal_number)]
    pub(super) policy_temperature: Option<f32>,

    #[command(flatten)]
    pub(super) language: LanguageArgs,
}
