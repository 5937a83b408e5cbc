//! Reads lines of bounded length.

use std::io::{self, BufRead, Read};
use std::thread;

use crossbeam_channel::{Receiver, Sender, bounded};

/// Maximum length of a line, much longer than the moves of any game.
pub(crate) const MAX_LINE_BYTES: u64 = 1 << 20;

/// A line without its end, or the beginning of a line that is too long.
pub(crate) struct Line {
    pub(crate) text: String,
    pub(crate) is_whole: bool,
}

/// Reads the next line. Returns `None` at the end of the input. Skips the rest of a line that is too long.
pub(crate) fn next_line(input: &mut impl BufRead) -> io::Result<Option<Line>> {
    let mut line = Vec::new();
    let read = input.take(MAX_LINE_BYTES).read_until(b'\n', &mut line)?;
    let has_end = line.pop_if(|last| *last == b'\n').is_some();
    let is_whole = has_end || (read as u64) < MAX_LINE_BYTES;
    if !is_whole {
        input.skip_until(b'\n')?;
    }
    let text = String::from_utf8_lossy(&line).into_owned();
    Ok((read > 0).then_some(Line { text, is_whole }))
}

/// Maximum number of lines read ahead.
const LINES_AHEAD: usize = 16;

/// Starts a thread that reads standard input. It is never joined, because it may block.
pub(super) fn lines_of_stdin() -> io::Result<Receiver<io::Result<Line>>> {
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

#[cfg(test)]
mod tests {
    use std::iter;

    use super::*;

    #[test]
    fn long_lines_are_truncated() {
        let mut input = &b"usi\n\nquit"[..];
        let lines: Vec<_> = iter::from_fn(|| next_line(&mut input).unwrap()).collect();
        assert_eq!(lines.iter().map(|line| &line.text).collect::<Vec<_>>(), ["usi", "", "quit"]);
        let most = MAX_LINE_BYTES as usize;
        let text = [most, most - 1, 3 * most, 0].map(|bytes| "x".repeat(bytes)).join("\n");
        let mut input = text.as_bytes();
        let lines: Vec<_> = iter::from_fn(|| next_line(&mut input).unwrap())
            .map(|line| (line.text.len(), line.is_whole))
            .collect();
        assert_eq!(lines, [(most, false), (most - 1, true), (most, false)]);
    }
}
