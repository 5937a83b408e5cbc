//! A program that speaks USI: lines to it, lines from it, with patience that ends.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::evaluator_error::EvaluatorError;

/// How often it is looked whether the work is to end.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A running engine; it is killed when this is dropped.
pub(super) struct UsiProcess {
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<String>,
}

impl UsiProcess {
    /// Starts a program with these arguments.
    pub(super) fn start(command: &[String]) -> Result<Self, EvaluatorError> {
        let program = command.first().map_or("", String::as_str);
        let failed = |source| EvaluatorError::Start { program: program.to_owned(), source };
        let mut child = Command::new(program)
            .args(command.get(1..).unwrap_or_default())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed)?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            unreachable!("both were asked for");
        };
        let (sender, lines) = channel();
        // Ends with the program, or when nobody listens any more.
        thread::spawn(move || {
            let mut stdout = BufReader::new(stdout);
            let mut line = Vec::new();
            while stdout.read_until(b'\n', &mut line).is_ok_and(|bytes| bytes > 0) {
                let text = String::from_utf8_lossy(&line).trim_end().to_owned();
                if sender.send(text).is_err() {
                    break;
                }
                line.clear();
            }
        });
        Ok(Self { child, stdin, lines })
    }

    /// Sends a line.
    pub(super) fn send(&mut self, line: &str) -> Result<(), EvaluatorError> {
        let sent = writeln!(self.stdin, "{line}").and_then(|()| self.stdin.flush());
        sent.map_err(|_| self.death())
    }

    /// The next line; `None` if `cancel` was set meanwhile.
    pub(super) fn line(
        &mut self,
        deadline: Instant,
        cancel: &AtomicBool,
    ) -> Result<Option<String>, EvaluatorError> {
        loop {
            if cancel.load(Ordering::Relaxed) {
                return Ok(None);
            }
            match self.lines.recv_timeout(LOOK_EVERY) {
                Ok(line) => return Ok(Some(line)),
                Err(RecvTimeoutError::Disconnected) => return Err(self.death()),
                Err(RecvTimeoutError::Timeout) if Instant::now() >= deadline => {
                    return Err(EvaluatorError::Silent);
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn death(&mut self) -> EvaluatorError {
        // It closed its pipes, and may need a moment to end.
        for _ in 0..20 {
            if let Ok(Some(status)) = self.child.try_wait() {
                return EvaluatorError::Died { status: status.to_string() };
            }
            thread::sleep(Duration::from_millis(10));
        }
        EvaluatorError::Died { status: "it closed its pipe".to_owned() }
    }
}

impl Drop for UsiProcess {
    fn drop(&mut self) {
        // Nothing is asked of it any more: whether it hears this does not matter.
        drop(writeln!(self.stdin, "quit"));
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
