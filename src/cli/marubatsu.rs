//! `kyokumen marubatsu`: the small game that is known completely.
//!
//! One module a subcommand.

mod boards;
mod check;
mod dataset;
mod games;
mod output;
mod search_args;
mod show;
mod solve;
mod tree;

use clap::{Args, Subcommand};

use crate::cli::exit::ExitStatus;

/// Tic-tac-toe, solved: its tree, searches, players and matches
///
/// Boards are written row by row from the top, `o`, `x` or `.` a square: `oo./.x./...`. ○ moves first. Squares have
/// the numbers 0 to 8, row by row. Values are seen from ○: 1 where ○ wins, -1 where × does, 0 for a draw.
#[derive(Args)]
pub(super) struct MarubatsuArgs {
    #[command(subcommand)]
    what: MarubatsuCommand,
}

#[derive(Subcommand)]
enum MarubatsuCommand {
    Tree(tree::TreeArgs),
    Boards(boards::BoardsArgs),
    Solve(solve::SolveArgs),
    Check(check::CheckArgs),
    Match(games::MatchArgs),
    Show(show::ShowArgs),
    Dataset(dataset::DatasetArgs),
}

pub(super) fn run(args: &MarubatsuArgs) -> anyhow::Result<ExitStatus> {
    match &args.what {
        MarubatsuCommand::Tree(args) => tree::run(args),
        MarubatsuCommand::Boards(args) => boards::run(args),
        MarubatsuCommand::Solve(args) => solve::run(args),
        MarubatsuCommand::Check(args) => check::run(args),
        MarubatsuCommand::Match(args) => games::run(args),
        MarubatsuCommand::Show(args) => show::run(args),
        MarubatsuCommand::Dataset(args) => dataset::run(args),
    }?;
    Ok(ExitStatus::Done)
}
