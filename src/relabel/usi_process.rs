//! A USI engine as a child process. Nothing that it sends is trusted.

use std::process::Stdio;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kyokumen_process::{ChildProcess, Fault, MAX_LINE_BYTES, Wait};

use super::evaluator_error::EvaluatorError;

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
    pub(super) fn start(command: &[String], patience: Duration) -> Result<Self, EvaluatorError> {
        let process = ChildProcess::start(command, Stdio::null()).map_err(|source| {
            let program = command.first().cloned().unwrap_or_default();
            EvaluatorError::Start { program, source }
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
    ) -> Result<(), EvaluatorError> {
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
    pub(super) fn go(&mut self, line: &str) -> Result<(), EvaluatorError> {
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

    pub(super) fn line(&mut self, wait: &Wait<'_>) -> Result<String, EvaluatorError> {
        let line = self.process.line(wait).map_err(|fault| self.failed(&fault))?;
        self.count(&line)?;
        Ok(line)
    }

    fn count(&mut self, line: &str) -> Result<(), EvaluatorError> {
        self.heard += line.len() + 1;
        if self.heard > MOST_BYTES {
            let what = format!("more than {} MiB and no answer", MOST_BYTES >> 20);
            return Err(EvaluatorError::Nonsense { command: self.command.clone(), what });
        }
        Ok(())
    }

    fn check_unasked(&self, line: &str) -> Result<(), EvaluatorError> {
        if line.split_ascii_whitespace().next() != Some("bestmove") {
            return Ok(());
        }
        let what = "`bestmove` that nobody asked for".to_owned();
        Err(EvaluatorError::Nonsense { command: self.command.clone(), what })
    }

    fn failed(&self, fault: &Fault) -> EvaluatorError {
        let command = self.command.clone();
        match fault {
            Fault::Cancelled => EvaluatorError::Cancelled,
            Fault::Silent { patience } => EvaluatorError::Silent { command, patience: *patience },
            Fault::Ended(status) => EvaluatorError::Died { status: status.to_string() },
            Fault::LongLine => {
                let what = format!("a line of more than {MAX_LINE_BYTES} bytes");
                EvaluatorError::Nonsense { command, what }
            }
            _ => EvaluatorError::Died { status: "it closed its pipe".to_owned() },
        }
    }
}
