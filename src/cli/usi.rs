//! `kyokumen usi`.
//!
//! The protocol is Tord Romstad's *Universal Shogi Interface* (2007) as Shogidokoro extended it.

mod command;
mod engine;
mod options;
mod reply;
mod searcher;

use std::io::{BufRead, Read};
use std::{io, thread};

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

/// A line without its end, or the beginning of one that is too long.
struct Line {
    text: String,
    is_whole: bool,
}

/// The next line; nothing behind the last one. What is too long is passed over up to the end of the line.
fn next_line(input: &mut impl BufRead) -> io::Result<Option<Line>> {
    let mut line = Vec::new();
    let read = input.take(MOST_LINE_BYTES).read_until(b'\n', &mut line)?;
    let has_end = line.pop_if(|last| *last == b'\n').is_some();
    let is_whole = has_end || (read as u64) < MOST_LINE_BYTES;
    if !is_whole {
        input.skip_until(b'\n')?;
    }
    let text = String::from_utf8_lossy(&line).into_owned();
    Ok((read > 0).then_some(Line { text, is_whole }))
}

#[cfg(test)]
mod tests {
    use std::iter;

    use super::*;

    #[test]
    fn lines_end_somewhere() {
        let mut input = &b"usi\n\nquit"[..];
        let lines: Vec<_> = iter::from_fn(|| next_line(&mut input).unwrap()).collect();
        assert_eq!(lines.iter().map(|line| &line.text).collect::<Vec<_>>(), ["usi", "", "quit"]);
        let most = MOST_LINE_BYTES as usize;
        let text = [most, most - 1, 3 * most, 0].map(|bytes| "x".repeat(bytes)).join("\n");
        let mut input = text.as_bytes();
        let lines: Vec<_> = iter::from_fn(|| next_line(&mut input).unwrap())
            .map(|line| (line.text.len(), line.is_whole))
            .collect();
        assert_eq!(lines, [(most, false), (most - 1, true), (most, false)]);
    }
}
