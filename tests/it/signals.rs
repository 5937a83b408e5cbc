//! Sends signals to child processes.
#![cfg(unix)]

use std::fs;
use std::process::Child;

pub(crate) fn send(signal: i32, child: &Child) {
    let id = i32::try_from(child.id()).unwrap();
    #[expect(unsafe_code, reason = "the standard library cannot send signals")]
    // SAFETY: a plain system call; the process is our child and has not been waited for.
    let sent = unsafe { libc::kill(id, signal) };
    assert_eq!(sent, 0);
}

/// Whether a child process reacts to SIGHUP. It inherits the signals that this process ignores, for example after
/// `nohup`. Always `false` outside Linux, where `/proc` does not show the ignored signals.
pub(crate) fn heeds_hangups() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.is_some_and(|digits| !digits.trim().ends_with(['1', '3', '5', '7', '9', 'b', 'd', 'f']))
}
