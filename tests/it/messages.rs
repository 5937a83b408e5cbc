//! Complete error messages for snapshots in the tests: `assert_data_eq!(ran.transcript, str![[…]])`.
//!
//! After an intended change, `SNAPSHOTS=overwrite cargo test --test it NAME` rewrites the snapshots. Then replace
//! values that differ from run to run by `[..]` again.

use std::io::{self, ErrorKind};
use std::path::Path;

/// The exit status and standard error, with the test's folder as `[FOLDER]`.
pub(crate) fn transcript(folder: &Path, code: Option<i32>, stderr: &str) -> String {
    let status = code.map_or("no status".to_owned(), |code| format!("status {code}"));
    let mut stderr = stderr.replace(folder.to_str().unwrap(), "[FOLDER]");
    if cfg!(windows) {
        use_texts_of_linux(&mut stderr);
    }
    format!("{status}\n{stderr}")
}

/// Replaces errors of this system by those of Linux, which the snapshots contain.
fn use_texts_of_linux(text: &mut String) {
    let linux = [
        (ErrorKind::NotFound, "No such file or directory (os error 2)"),
        (ErrorKind::PermissionDenied, "Permission denied (os error 13)"),
        (ErrorKind::NotADirectory, "Not a directory (os error 20)"),
        (ErrorKind::StorageFull, "No space left on device (os error 28)"),
        (ErrorKind::AddrInUse, "Address already in use (os error 98)"),
    ];
    let codes: Vec<i32> = text
        .split("(os error ")
        .skip(1)
        .filter_map(|rest| rest.split(')').next()?.parse().ok())
        .collect();
    for code in codes {
        let error = io::Error::from_raw_os_error(code);
        if let Some((_, name)) = linux.iter().find(|(kind, _)| *kind == error.kind()) {
            *text = text.replace(&error.to_string(), name);
        }
    }
}

#[cfg(unix)]
pub(crate) fn transcript_of(folder: &Path, output: &std::process::Output) -> String {
    transcript(folder, output.status.code(), std::str::from_utf8(&output.stderr).unwrap())
}
