//! Signals to processes of our own.
#![cfg(unix)]

use std::process::Child;

pub(crate) fn send(signal: i32, child: &Child) {
    let id = i32::try_from(child.id()).unwrap();
    #[expect(unsafe_code, reason = "the standard library cannot send signals")]
    // SAFETY: a plain system call; the process is our child and has not been waited for.
    let sent = unsafe { libc::kill(id, signal) };
    assert_eq!(sent, 0);
}
