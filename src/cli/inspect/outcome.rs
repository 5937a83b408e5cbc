//! How a look into files ends: what was shown, or whose mistake it is that nothing is.

use crate::cli::exit::Usage;
use crate::cli::failure::plan_error;
use crate::ops::inspect::InspectError;

/// How many records were shown, and how many of them are bad.
#[derive(Clone, Copy, Default)]
pub(super) struct Shown {
    pub(super) records: u64,
    pub(super) bad: u64,
}

/// What an inspection fails with, which may be the user's mistake.
pub(super) fn or_usage(error: anyhow::Error) -> anyhow::Error {
    match error.downcast::<InspectError>() {
        Ok(error) => usage(error),
        Err(error) => error,
    }
}

pub(super) fn usage(error: InspectError) -> anyhow::Error {
    match error {
        InspectError::Plan(error) => plan_error(error),
        InspectError::Range { .. } | InspectError::SampleOfStream { .. } => {
            Usage(error.to_string()).into()
        }
        InspectError::Source(error) => error.into(),
    }
}
