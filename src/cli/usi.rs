//! `kyokumen usi`.
//!
//! The protocol is Tord Romstad's *Universal Shogi Interface* (2007) as Shogidokoro extended it.

mod command;
mod engine;
mod line;
mod options;
mod reply;
mod searcher;

use std::{io, thread};

use clap::Args;
use crossbeam_channel::{Receiver, Sender, bounded};

use crate::cli::exit::ExitStatus;
use crate::cli::usi::line::{Line, next_line};
use engine::Engine;

/// Solve mates as a USI engine, on standard input and output
///
/// `go mate N` (milliseconds) and `go mate infinite` ask whether the side to move mates. The answer is `checkmate` with
/// the moves, or with `nomate` if it is proven that there is none, `timeout` if the search ended undecided,
/// `notimplemented` if the position cannot be asked about. `go` without mate is answered with `bestmove resign`.
/// Options are `USI_Hash` (MiB), `DepthLimit` (plies) and `NodesLimit`; the last two are 0 for none.
///
/// At the end of input a search with a time limit is finished first, one without is stopped.
#[derive(Args)]
pub(super) struct UsiArgs {}

/// Lines that wait while the engine is busy with another.
const LINES_AHEAD: usize = 16;

pub(super) fn run(_args: &UsiArgs) -> anyhow::Result<ExitStatus> {
    let lines = lines_of_stdin()?;
    Engine::new(io::stdout())?.run(&lines)?;
    Ok(ExitStatus::Done)
}

/// Reads on a thread of its own, which nobody waits for: it may be waiting for input itself.
fn lines_of_stdin() -> io::Result<Receiver<io::Result<Line>>> {
    let (sender, receiver) = bounded(LINES_AHEAD);
    thread::Builder::new().name("reader".to_owned()).spawn(move || send_lines(&sender))?;
    Ok(receiver)
}

fn send_lines(lines: &Sender<io::Result<Line>>) {
    let mut input = io::stdin().lock();
    while let Some(line) = next_line(&mut input).transpose() {
        let is_last = line.is_err();
        if lines.send(line).is_err() || is_last {
            break;
        }
    }
}
