//! A USI engine as a child process. Its output is not trusted.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kyokumen_process::{ChildProcess, Fault, MAX_LINE_BYTES, Wait};

use crate::error::{Error, ErrorKind};

/// Maximum number of bytes before an answer. Engines send about a hundred lines per position.
const MAX_BYTES: usize = 16 << 20;

/// A running engine. It is killed on drop.
pub(crate) struct UsiProcess {
    process: ChildProcess,
    command: String,
    patience: Duration,
    /// Bytes received since the last command.
    received: usize,
}

impl UsiProcess {
    /// Starts a program. `patience` is the timeout for each answer. Some engines write much to standard error, so it is
    /// logged below the level of warnings.
    pub(crate) fn start(command: &[String], patience: Duration) -> Result<Self, Error> {
        let program = command.first().cloned().unwrap_or_default();
        let name = program.clone();
        let on_message = move |line: &str| tracing::info!("{name}: {line}");
        let process = ChildProcess::start(command, on_message).map_err(|source| {
            Error::new(ErrorKind::NotStarted, format!("cannot start the engine {program}"))
                .in_file(&program)
                .with_source(source)
        })?;
        Ok(Self { process, command: command.join(" "), patience, received: 0 })
    }

    pub(crate) fn send(&mut self, line: &str) {
        let mut bytes = self.process.buffer();
        bytes.extend_from_slice(line.as_bytes());
        bytes.push(b'\n');
        self.process.send(bytes);
    }

    /// Sends `quit` and gives the engine a short time to end.
    pub(crate) fn quit(mut self) {
        self.send("quit");
        self.process.end_or_kill();
    }

    /// Starts waiting for a line.
    pub(crate) fn wait<'a>(&self, cancel: &'a AtomicBool) -> Wait<'a> {
        Wait::new(self.patience, cancel)
    }

    /// Sends a command and waits for the line `answer`. Passes earlier lines to `on_line`. They do not extend the
    /// timeout.
    pub(crate) fn request(
        &mut self,
        command: &str,
        answer: &str,
        cancel: &AtomicBool,
        mut on_line: impl FnMut(&str),
    ) -> Result<(), Error> {
        self.received = 0;
        self.send(command);
        let wait = self.wait(cancel);
        loop {
            let line = self.line(&wait)?;
            if line == answer {
                return Ok(());
            }
            self.check_unexpected(&line)?;
            on_line(&line);
        }
    }

    /// Sends a `go` command. Discards lines received before it. A `bestmove` among them is an error.
    pub(crate) fn go(&mut self, line: &str) -> Result<(), Error> {
        self.received = 0;
        loop {
            let unread = self.process.line_at_once().map_err(|fault| self.failed(&fault))?;
            let Some(unread) = unread else { break };
            self.count(&unread)?;
            self.check_unexpected(&unread)?;
        }
        self.received = 0;
        self.send(line);
        Ok(())
    }

    pub(crate) fn line(&mut self, wait: &Wait<'_>) -> Result<String, Error> {
        let line = self.process.line(wait).map_err(|fault| self.failed(&fault))?;
        self.count(&line)?;
        Ok(line)
    }

    fn count(&mut self, line: &str) -> Result<(), Error> {
        self.received += line.len() + 1;
        if self.received > MAX_BYTES {
            let what = format!("more than {} MiB without an answer", MAX_BYTES >> 20);
            return Err(self.protocol_error(&what));
        }
        Ok(())
    }

    fn check_unexpected(&self, line: &str) -> Result<(), Error> {
        if line.split_ascii_whitespace().next() != Some("bestmove") {
            return Ok(());
        }
        Err(self.protocol_error("a `bestmove` without a `go`"))
    }

    fn protocol_error(&self, what: &str) -> Error {
        Error::new(ErrorKind::Protocol, format!("the engine `{}` sent {what}", self.command))
            .in_file(&self.command)
    }

    fn failed(&self, fault: &Fault) -> Error {
        let ended = |status: &str| {
            let command = &self.command;
            Error::evaluation(format!("the engine `{command}` ended before it answered ({status})"))
        };
        match fault {
            Fault::Cancelled => Error::evaluation_interrupted(),
            Fault::Silent { patience } => {
                let (command, patience_s) = (&self.command, patience.as_secs_f64());
                let message =
                    format!("the engine `{command}` did not answer within {patience_s} s");
                Error::new(ErrorKind::TimedOut, message).in_file(command)
            }
            Fault::Ended(status) => ended(&status.to_string()),
            Fault::LongLine => {
                self.protocol_error(&format!("a line of more than {MAX_LINE_BYTES} bytes"))
            }
            _ => ended("it closed its pipe"),
        }
    }
}
