//! Errors of the library as the command line tells them: usage, interruption, or a failure.
//!
//! Which exit status each of them has is decided in [`super::exit`].

use std::error::Error;

use crate::cli::exit::{Interrupted, usage_if};
use crate::jobs::error::JobError;
use crate::ops::error::OperationError;
use crate::records::plan_error::PlanError;
use crate::storage::platform::Interrupt;

/// An error of the library that may have come of a signal or of the command line.
pub(super) trait Failure: Error + Send + Sync + 'static {
    /// Whether somebody wished it to end.
    fn is_interruption(&self) -> bool;

    /// Whether another command line would help.
    fn is_usage(&self) -> bool;
}

impl Failure for JobError {
    fn is_interruption(&self) -> bool {
        self.is_interruption()
    }

    fn is_usage(&self) -> bool {
        self.is_usage()
    }
}

impl Failure for OperationError {
    fn is_interruption(&self) -> bool {
        self.is_interruption()
    }

    fn is_usage(&self) -> bool {
        self.is_usage()
    }
}

impl Failure for PlanError {
    fn is_interruption(&self) -> bool {
        false
    }

    fn is_usage(&self) -> bool {
        self.is_usage()
    }
}

/// A run that a signal ended, or that failed.
pub(super) fn run_error(error: impl Failure, interrupt: &Interrupt) -> anyhow::Error {
    match interrupt.signal() {
        Some(signal) if error.is_interruption() => {
            Interrupted { signal, what: error.to_string() }.into()
        }
        _ => usage_if(error.is_usage(), error),
    }
}

/// What is asked for, and cannot be done.
pub(super) fn plan_error(error: impl Failure) -> anyhow::Error {
    usage_if(error.is_usage(), error)
}
