//! Signals to processes of our own.
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

/// Whether SIGHUP stops a program that this one starts with its messages sent to a pipe. Not if it ignores SIGHUP
/// itself, nor where only Linux could tell.
pub(crate) fn heeds_hangups() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.is_some_and(|digits| !digits.trim().ends_with(['1', '3', '5', '7', '9', 'b', 'd', 'f']))
}
