//! What programs say of errors, whole, for snapshots that stand in the tests: `assert_data_eq!(told, str![[…]])`.
//!
//! After a change that is meant, `SNAPSHOTS=overwrite cargo test --test it NAME` writes them anew; what differs from
//! run to run is then to be replaced by `[..]` again.

use std::path::Path;
use std::process::Output;

/// The exit status and what follows on standard error, with a folder of the test's as `[FOLDER]`.
pub(crate) fn told(folder: &Path, code: Option<i32>, stderr: &str) -> String {
    let status = code.map_or("no status".to_owned(), |code| format!("status {code}"));
    format!("{status}\n{}", stderr.replace(folder.to_str().unwrap(), "[FOLDER]"))
}

pub(crate) fn told_by(folder: &Path, output: &Output) -> String {
    told(folder, output.status.code(), std::str::from_utf8(&output.stderr).unwrap())
}
