//! The outcomes of commands and their exit statuses.

use std::{fmt, io};

use super::advice::with_remedies;
use crate::error::Error;
use crate::storage::signals::Interrupt;

/// The exit statuses in the help of commands that read or rearrange records.
pub(crate) const EXIT_STATUS_HELP: &str = "\
Exit status:
  0  success
  1  failure, such as an output that exists or a changed input
  2  usage error, or a file whose format is unknown or contradicts its name
  3  nothing was read, or bad records were skipped or quarantined
  129, 130 or 143  interrupted by a signal";

/// The outcome of a command that did not fail.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ExitStatus {
    Done,
    /// Done, but bad records were skipped or quarantined.
    BadRecords,
    /// The inputs contain no records.
    NothingRead,
}

impl ExitStatus {
    /// The status of a command that read `read` records, including `bad` bad ones. Prints a message if there were no
    /// records, which does not count as success.
    pub(crate) fn of_records(read: u64, bad: u64) -> Self {
        if read == 0 {
            tracing::warn!("nothing was read, because the input has no records");
            return Self::NothingRead;
        }
        if bad == 0 { Self::Done } else { Self::BadRecords }
    }
}

/// A mistake in the arguments that clap cannot detect; exit status 2.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// A signal ended the command early; exit status 128 + signal.
#[derive(Debug)]
pub(crate) struct Interrupted {
    pub(crate) signal: u8,
    pub(crate) what: String,
}

impl Interrupted {
    /// For a command that cannot be resumed and whose unfinished outputs were removed.
    pub(crate) fn removed(signal: u8) -> Self {
        Self { signal, what: "interrupted; unfinished outputs were removed".to_owned() }
    }
}

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Interrupted {}

/// Turns an interruption by a signal into [`Interrupted`]; other errors are unchanged.
pub(crate) fn run_error(error: Error, interrupt: &Interrupt) -> anyhow::Error {
    match interrupt.signal() {
        Some(signal) if error.is_interruption() => {
            Interrupted { signal, what: with_remedies(&error) }.into()
        }
        _ => error.into(),
    }
}

/// Exit status: 2 for usage, 128 + signal for an interruption, 1 for everything else.
pub(crate) fn failure_status(error: &anyhow::Error) -> u8 {
    if let Some(Interrupted { signal, .. }) = error.downcast_ref() {
        return 128 + signal;
    }
    let is_usage = error.is::<Usage>() || error.downcast_ref().is_some_and(Error::is_usage);
    if is_usage { 2 } else { 1 }
}

/// Whether the reader of standard output closed the pipe, which is not a failure.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>()).any(|cause| {
        // Windows also reports "no process is on the other end of the pipe".
        let is_not_connected = cfg!(windows) && cause.raw_os_error() == Some(233);
        cause.kind() == io::ErrorKind::BrokenPipe || is_not_connected
    })
}
