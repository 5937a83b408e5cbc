//! `kyokumen usi`.
//!
//! The protocol is Tord Romstad's *Universal Shogi Interface* (2007) with the extensions of Shogidokoro.

mod args;
mod command;
mod line;
mod options;
#[cfg(feature = "network")]
mod play;
mod reply;
mod searcher;
mod session;
mod solver;

use std::io;

use anyhow::Context;

use crate::cli::exit::{ExitStatus, Interrupted};
use crate::cli::usi::line::lines_of_stdin;
use crate::storage::signals::Interrupt;
use session::{Player, Resigner, Session};
use solver::MateSolver;

pub(super) use args::UsiArgs;

pub(super) fn run(args: &UsiArgs) -> anyhow::Result<ExitStatus> {
    let (solver, player) = solver_and_player(args)?;
    let interrupt = Interrupt::watch().context("cannot watch for signals")?;
    let lines = lines_of_stdin()?;
    Session::new(io::stdout(), solver, player, interrupt.cancel()).run(&lines)?;
    match interrupt.signal() {
        Some(signal) => Err(Interrupted { signal, what: "interrupted".to_owned() }.into()),
        None => Ok(ExitStatus::Done),
    }
}

fn solver_and_player(args: &UsiArgs) -> anyhow::Result<(MateSolver, Box<dyn Player>)> {
    let language = args.language.language();
    if args.model.is_empty() {
        return Ok((MateSolver::standalone(language)?, Box::new(Resigner::new())));
    }
    #[cfg(feature = "network")]
    return Ok((MateSolver::with_player(language)?, Box::new(play::NetworkPlayer::new(args)?)));
    #[cfg(not(feature = "network"))]
    anyhow::bail!(crate::cli::exit::Usage(crate::cli::option::networks::NO_NETWORKS.to_owned()))
}
