//! Complete error messages for snapshots in the tests: `assert_data_eq!(ran.transcript, str![[…]])`.
//!
//! After an intended change, `SNAPSHOTS=overwrite cargo test --test it NAME` rewrites the snapshots. Then replace
//! values that differ from run to run by `[..]` again.

use std::path::Path;
use std::process::Output;

/// The exit status and standard error, with the test's folder as `[FOLDER]`.
pub(crate) fn transcript(folder: &Path, code: Option<i32>, stderr: &str) -> String {
    let status = code.map_or("no status".to_owned(), |code| format!("status {code}"));
    format!("{status}\n{}", stderr.replace(folder.to_str().unwrap(), "[FOLDER]"))
}

pub(crate) fn transcript_of(folder: &Path, output: &Output) -> String {
    transcript(folder, output.status.code(), std::str::from_utf8(&output.stderr).unwrap())
}
