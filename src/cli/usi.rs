//! `kyokumen usi`.
//!
//! The protocol is Tord Romstad's *Universal Shogi Interface* (2007) as Shogidokoro extended it.

mod args;
mod command;
mod engine;
mod line;
mod options;
#[cfg_attr(not(feature = "network"), path = "usi/play_absent.rs")]
mod play;
mod reply;
mod searcher;

use std::io;

use crate::cli::exit::ExitStatus;
use crate::cli::usi::line::lines_of_stdin;
use engine::Engine;

pub(super) use args::UsiArgs;

pub(super) fn run(args: &UsiArgs) -> anyhow::Result<ExitStatus> {
    if !args.model.is_empty() {
        return play::run(args);
    }
    let lines = lines_of_stdin()?;
    Engine::new(io::stdout())?.run(&lines)?;
    Ok(ExitStatus::Done)
}
