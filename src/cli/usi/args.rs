//! Options of `usi`.

use std::path::PathBuf;

use clap::Args;

use crate::cli::option::{decimal_number, threads, whole_number};

/// Solve mates as a USI engine, or play with a network, on standard input and output
///
/// `go mate N` (milliseconds) and `go mate infinite` ask whether the side to move mates. The answer is `checkmate` with
/// the moves, or with `nomate` if it is proven that there is none, `timeout` if the search ended undecided,
/// `notimplemented` if the position cannot be asked about. Options are `USI_Hash` (MiB), `Threads` (0 for all cores),
/// `MultiPV` (first moves that mate, each with its line), `DepthLimit` (plies) and `NodesLimit`; the last two are 0 for
/// none.
///
/// With `--model` the engine also plays: `go nodes|movetime|btime…|infinite|ponder` is answered with `bestmove`, by a
/// tree search that asks the network, and a mate search beside it. Options are `USI_Hash` (MiB of the tree), `MultiPV`,
/// `NodesLimit`, `ByoyomiMargin` (ms), `Resign_Threshold` and `Draw_Value` (‰), `Mate_Root_Nodes`; those for `go mate`
/// are then `Mate_Hash`, `Mate_Threads`, `Mate_MultiPV`, `Mate_DepthLimit` and `Mate_NodesLimit`. Without a model `go`
/// is answered with `bestmove resign`.
///
/// At the end of input, a search with `nodes` or `movetime` and a mate search with a time limit are finished; others
/// are stopped.
#[derive(Args)]
pub(in crate::cli) struct UsiArgs {
    /// Network to play with, an ONNX file or a program that evaluates batches; repeat for several devices
    #[arg(long, value_name = "NET.onnx")]
    pub(super) model: Vec<PathBuf>,

    /// Evaluation threads, each with its own copy of the network; 0 is all cores [default: 1]
    #[arg(long, value_parser = threads(), requires = "model")]
    pub(super) threads: Option<usize>,

    /// Positions per batch [default: 8]
    #[arg(long, value_name = "N", value_parser = whole_number::<usize>(1..=65_536), requires = "model")]
    pub(super) batch: Option<usize>,

    /// Softmax temperature of the policy [default: 1.74]
    #[arg(long, value_name = "T", requires = "model", value_parser = decimal_number)]
    pub(super) policy_temperature: Option<f32>,
}
