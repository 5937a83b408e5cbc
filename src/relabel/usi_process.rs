//! A USI engine as a child process. Nothing that it sends is trusted.

use std::process::Stdio;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kyokumen_process::{ChildProcess, Fault, MAX_LINE_BYTES, Wait};

use crate::error::{Error, ErrorKind};

/// The most bytes before an answer. Engines send about a hundred lines for a position.
const MOST_BYTES: usize = 16 << 20;

/// A running engine; it is killed when this is dropped.
pub(super) struct UsiProcess {
    process: ChildProcess,
    command: String,
    patience: Duration,
    /// Bytes received since the last question.
    heard: usize,
}

impl UsiProcess {
    /// Starts a program. `patience` limits the wait for each answer.
    pub(super) fn start(command: &[String], patience: Duration) -> Result<Self, Error> {
        let process = ChildProcess::start(command, Stdio::null()).map_err(|source| {
            let program = command.first().cloned().unwrap_or_default();
            Error::new(ErrorKind::NotStarted, format!("cannot start the engine {program}"))
                .in_file(&program)
                .with_source(source)
        })?;
        Ok(Self { process, command: command.join(" "), patience, heard: 0 })
    }

    pub(super) fn say(&mut self, line: &str) {
        let mut bytes = self.process.buffer();
        bytes.extend_from_slice(line.as_bytes());
        bytes.push(b'\n');
        self.process.send(bytes);
    }

    /// Sends `quit` and gives the engine a moment to end.
    pub(super) fn quit(mut self) {
        self.say("quit");
        self.process.end_or_kill();
    }

    /// Starts the wait for a line.
    pub(super) fn wait<'a>(&self, cancel: &'a AtomicBool) -> Wait<'a> {
        Wait::new(self.patience, cancel)
    }

    /// Sends a line and waits for the line `answer`. Passes lines before it to `other`; they do not extend the wait.
    pub(super) fn ask(
        &mut self,
        question: &str,
        answer: &str,
        cancel: &AtomicBool,
        mut other: impl FnMut(&str),
    ) -> Result<(), Error> {
        self.heard = 0;
        self.say(question);
        let wait = self.wait(cancel);
        loop {
            let line = self.line(&wait)?;
            if line == answer {
                return Ok(());
            }
            self.check_unasked(&line)?;
            other(&line);
        }
    }

    /// Sends a `go` command. Lines that were sent before it are discarded; a `bestmove` among them is an error.
    pub(super) fn go(&mut self, line: &str) -> Result<(), Error> {
        self.heard = 0;
        loop {
            let unread = self.process.line_at_once().map_err(|fault| self.failed(&fault))?;
            let Some(unread) = unread else { break };
            self.count(&unread)?;
            self.check_unasked(&unread)?;
        }
        self.heard = 0;
        self.say(line);
        Ok(())
    }

    pub(super) fn line(&mut self, wait: &Wait<'_>) -> Result<String, Error> {
        let line = self.process.line(wait).map_err(|fault| self.failed(&fault))?;
        self.count(&line)?;
        Ok(line)
    }

    fn count(&mut self, line: &str) -> Result<(), Error> {
        self.heard += line.len() + 1;
        if self.heard > MOST_BYTES {
            let what = format!("more than {} MiB and no answer", MOST_BYTES >> 20);
            return Err(self.nonsense(&what));
        }
        Ok(())
    }

    fn check_unasked(&self, line: &str) -> Result<(), Error> {
        if line.split_ascii_whitespace().next() != Some("bestmove") {
            return Ok(());
        }
        Err(self.nonsense("`bestmove` that nobody asked for"))
    }

    fn nonsense(&self, what: &str) -> Error {
        Error::new(ErrorKind::Protocol, format!("`{}` sent {what}", self.command))
            .in_file(&self.command)
    }

    fn failed(&self, fault: &Fault) -> Error {
        let died = |status: &str| Error::evaluation(format!("the engine died ({status})"));
        match fault {
            Fault::Cancelled => Error::evaluation_interrupted(),
            Fault::Silent { patience } => {
                let (command, patience_s) = (&self.command, patience.as_secs_f64());
                let message = format!("no answer from `{command}` within {patience_s} s");
                Error::new(ErrorKind::TimedOut, message).in_file(command)
            }
            Fault::Ended(status) => died(&status.to_string()),
            Fault::LongLine => {
                self.nonsense(&format!("a line of more than {MAX_LINE_BYTES} bytes"))
            }
            _ => died("it closed its pipe"),
        }
    }
}
