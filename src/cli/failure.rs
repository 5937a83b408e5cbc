//! Errors of the library as the command line tells them: usage, interruption, or a failure.
//!
//! Which exit status each of them has is decided in [`super`].

use super::{Interrupted, usage_if};
use crate::engine::run::RunError;
use crate::jobs::plan::PlanError;
use crate::storage::platform::Interrupt;

/// A run that a signal ended, or that failed.
pub(super) fn run_error(error: RunError, interrupt: &Interrupt) -> anyhow::Error {
    match (error, interrupt.signal()) {
        (error, Some(signal)) if error.is_interruption() => {
            Interrupted { signal, what: error.to_string() }.into()
        }
        (error, _) => usage_if(error.is_usage(), error),
    }
}

pub(super) fn plan_error(error: PlanError) -> anyhow::Error {
    usage_if(error.is_usage(), error)
}
