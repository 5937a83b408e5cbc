//! `kyokumen usi`.
//!
//! The protocol is Tord Romstad's *Universal Shogi Interface* (2007) as Shogidokoro extended it.

mod command;
mod engine;
mod options;
mod reply;
mod searcher;

use std::io::{self, BufRead, Read};
use std::thread;

use clap::Args;
use crossbeam_channel::{Receiver, Sender, bounded};

use super::Outcome;
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

/// The longest line that is read: the moves of a game that is far longer than any.
const MOST_LINE_BYTES: u64 = 1 << 20;

pub(super) fn run(_args: &UsiArgs) -> anyhow::Result<Outcome> {
    let lines = lines_of_stdin()?;
    Engine::new(io::stdout())?.run(&lines)?;
    Ok(Outcome::Done)
}

/// Reads on a thread of its own, which nobody waits for: it may be waiting for input itself.
fn lines_of_stdin() -> io::Result<Receiver<io::Result<String>>> {
    let (sender, receiver) = bounded(LINES_AHEAD);
    thread::Builder::new().name("reader".to_owned()).spawn(move || send_lines(&sender))?;
    Ok(receiver)
}

fn send_lines(lines: &Sender<io::Result<String>>) {
    let mut input = io::stdin().lock();
    while let Some(line) = next_line(&mut input).transpose() {
        let is_last = line.is_err();
        if lines.send(line).is_err() || is_last {
            break;
        }
    }
}

/// The next line without its end; nothing behind the last one.
fn next_line(input: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    let read = input.take(MOST_LINE_BYTES).read_until(b'\n', &mut line)?;
    let is_whole = line.pop_if(|last| *last == b'\n').is_some();
    if !is_whole && read as u64 == MOST_LINE_BYTES {
        let why = format!("a line has more than {MOST_LINE_BYTES} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    }
    Ok((read > 0).then(|| String::from_utf8_lossy(&line).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_somewhere() {
        let mut input = &b"usi\n\nquit"[..];
        let lines: Vec<_> = std::iter::from_fn(|| next_line(&mut input).unwrap()).collect();
        assert_eq!(lines, ["usi", "", "quit"]);
        let mut endless = io::BufReader::new(io::repeat(b'x'));
        let error = next_line(&mut endless).unwrap_err().to_string();
        assert_eq!(error, "a line has more than 1048576 bytes");
    }
}
