//! How many files the process may hold open at once: outputs stay open, and with that locked, until all get their
//! names.

/// Files that are open besides outputs: inputs, temporary files, what the system needs.
const OTHERS: u64 = 64;

/// Raises the limit of open files for this many outputs. The error is the number of outputs that are possible, if that
/// is fewer.
pub(crate) fn allow_outputs(outputs: u64) -> Result<(), u64> {
    let most = raise_limit(outputs.saturating_add(OTHERS));
    if most.saturating_sub(OTHERS) < outputs { Err(most.saturating_sub(OTHERS)) } else { Ok(()) }
}

/// Raises the limit to this many files as far as the system allows. Returns the new limit.
#[cfg(unix)]
fn raise_limit(files: u64) -> u64 {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let limit = || getrlimit(Resource::Nofile);
    let Rlimit { current, maximum } = limit();
    if current.is_some_and(|current| current < files) {
        let wanted = maximum.map_or(files, |most| files.min(most));
        // If that is refused the limit stays, which is what the caller is told.
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
    fn what_is_allowed_already_stays_allowed() {
        assert_eq!(allow_outputs(1), Ok(()));
        if cfg!(unix) {
            let most = allow_outputs(u64::MAX).unwrap_err();
            assert_eq!(allow_outputs(most), Ok(()));
        }
    }
}
