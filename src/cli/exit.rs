//! How a command ends, and the exit status that says it.

use std::{fmt, io};

use super::message::say;
use crate::error::Error;
use crate::storage::platform::Interrupt;

/// How a command ended when it did not fail.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ExitStatus {
    /// Everything was done.
    Done,
    /// Done, but bad records were met and skipped or quarantined.
    BadRecords,
    /// Done, but there was nothing to do it with: the inputs hold no record.
    NothingRead,
}

impl ExitStatus {
    /// That of a command that read so many records, some of them bad. Says so if there was none: nothing read is not
    /// success.
    pub(crate) fn of_records(read: u64, bad: u64) -> Self {
        if read == 0 {
            say!("nothing was read: there is no record in the input");
            return Self::NothingRead;
        }
        if bad == 0 { Self::Done } else { Self::BadRecords }
    }
}

/// A mistake in the arguments that clap cannot see; exit status 2.
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
    /// What is left behind.
    pub(crate) what: String,
}

impl Interrupted {
    /// Nothing is left of a command that cannot go on.
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

/// A run that a signal ended, or that failed.
pub(crate) fn run_error(error: Error, interrupt: &Interrupt) -> anyhow::Error {
    match interrupt.signal() {
        Some(signal) if error.is_interruption() => {
            Interrupted { signal, what: error.to_string() }.into()
        }
        _ => error.into(),
    }
}

/// 2 for usage, 128 + signal for an interruption, 1 for everything else.
pub(crate) fn failure_status(error: &anyhow::Error) -> u8 {
    if let Some(Interrupted { signal, .. }) = error.downcast_ref() {
        return 128 + signal;
    }
    let is_usage = error.is::<Usage>() || error.downcast_ref().is_some_and(Error::is_usage);
    if is_usage { 2 } else { 1 }
}

/// Whoever reads our output has read enough: nothing to complain about.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}
