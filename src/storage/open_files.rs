//! The limit of open files of the process. Outputs stay open, and thereby locked, until all are renamed to their final
//! names.

/// Open files besides outputs: inputs, temporary files, and files that the system needs.
const OTHERS: u64 = 64;

/// Raises the limit of open files for this many outputs. If that is not possible, the error is the possible number of
/// outputs.
pub(crate) fn allow_outputs(outputs: u64) -> Result<(), u64> {
    let limit = raise_limit(outputs.saturating_add(OTHERS));
    if limit.saturating_sub(OTHERS) < outputs { Err(limit.saturating_sub(OTHERS)) } else { Ok(()) }
}

/// Raises the limit to this many files, or to the system's maximum. Returns the new limit.
#[cfg(unix)]
fn raise_limit(files: u64) -> u64 {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let limit = || getrlimit(Resource::Nofile);
    let Rlimit { current, maximum } = limit();
    if current.is_some_and(|current| current < files) {
        let wanted = maximum.map_or(files, |most| files.min(most));
        // If the system refuses, the limit stays, and the caller gets the old limit.
        let _refused = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum });
    }
    limit().current.unwrap_or(u64::MAX)
}

#[cfg(not(unix))]
const fn raise_limit(_: u64) -> u64 {
    u64::MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_outputs_within_the_limit_is_allowed() {
        assert_eq!(allow_outputs(1), Ok(()));
        if cfg!(unix) {
            let most = allow_outputs(u64::MAX).unwrap_err();
            assert_eq!(allow_outputs(most), Ok(()));
        }
    }
}
