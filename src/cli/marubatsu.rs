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

use crate::cli::exit::Outcome;

/// Tic-tac-toe, solved: its tree, searches, players and matches
///
/// Boards are written row by row from the top, `o`, `x` or `.` a square: `oo./.x./...`. ○ moves first. Squares have
/// the numbers 0 to 8, row by row. Values are seen from ○: 1 where ○ wins, -1 where × does, 0 for a draw.
#[derive(Args)]
pub(super) struct MarubatsuArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    Tree(tree::TreeArgs),
    Boards(boards::BoardsArgs),
    Solve(solve::SolveArgs),
    Check(check::CheckArgs),
    Match(games::MatchArgs),
    Show(show::ShowArgs),
    Dataset(dataset::DatasetArgs),
}

pub(super) fn run(args: &MarubatsuArgs) -> anyhow::Result<Outcome> {
    match &args.what {
        What::Tree(args) => tree::run(args),
        What::Boards(args) => boards::run(args),
        What::Solve(args) => solve::run(args),
        What::Check(args) => check::run(args),
        What::Match(args) => games::run(args),
        What::Show(args) => show::run(args),
        What::Dataset(args) => dataset::run(args),
    }?;
    Ok(Outcome::Done)
}
