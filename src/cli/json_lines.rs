//! Standard error as JSON lines, for programs that watch a run (`--progress json`).
//!
//! Every line is an object with `time`, `type`, `run` and `shard`. The types are `progress`, `message`, `error`, the
//! levels of log lines (`warn`, `info`, …) and, in the last line, `done`.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};

use crate::records::opening::stem;
use crate::records::source::InputLocation;

/// The run that the lines are about. `None` while standard error is text.
static CURRENT: Mutex<Option<RunLabels>> = Mutex::new(None);

fn current() -> MutexGuard<'static, Option<RunLabels>> {
    CURRENT.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Clone, Debug, Default)]
struct RunLabels {
    run: Option<String>,
    shard: Option<String>,
}

#[derive(Serialize)]
struct Line<'a, T> {
    /// UTC, in the format of RFC 3339.
    time: String,
    #[serde(rename = "type")]
    kind: &'a str,
    run: Option<String>,
    shard: Option<String>,
    #[serde(flatten)]
    body: &'a T,
}

/// The body of a line with a text.
#[derive(Serialize)]
struct Message<'a> {
    message: &'a str,
}

/// The body of the last line.
#[derive(Serialize)]
struct Done {
    exit_status: u8,
}

/// Switches to JSON lines if the last `--progress` of a command line is `json`. The command line is not parsed yet,
/// because errors in it are JSON lines, too.
pub(super) fn enable_if_requested(words: &[OsString]) {
    let mut is_json = false;
    let mut words = words.iter().map(|word| word.to_string_lossy()).take_while(|word| word != "--");
    while let Some(word) = words.next() {
        if word == "--progress" {
            is_json = words.next().is_some_and(|value| value == "json");
        } else if let Some(value) = word.strip_prefix("--progress=") {
            is_json = value == "json";
        }
    }
    if is_json {
        *current() = Some(RunLabels::default());
    }
}

/// Sets the labels of the following lines.
pub(super) fn set_run(run: &str, shard: Option<String>) {
    if let Some(labels) = &mut *current() {
        *labels = RunLabels { run: Some(run.to_owned()), shard };
    }
}

/// Sets the labels of the following lines to those of a run over `inputs`, before it is planned. Errors in the plan
/// then have these labels, too. A name that is not valid is such an error.
pub(super) fn set_run_over(name: Option<&String>, inputs: &[PathBuf], shard: Option<String>) {
    let first = inputs.first().map(|path| InputLocation::from_path(path));
    if let Ok(stem) = stem(name.cloned(), first.as_ref()) {
        set_run(&stem, shard);
    }
}

/// Sets the label of the following lines to the name of an output without its extension.
pub(super) fn set_output(output: &Path) {
    set_run(&output.file_stem().unwrap_or_default().to_string_lossy(), None);
}

/// Writes a line with the fields of `body`. Returns `false` if standard error is text.
pub(super) fn write(kind: &str, body: &impl Serialize) -> bool {
    let Some(RunLabels { run, shard }) = current().clone() else { return false };
    let mut time = String::new();
    // Writing to a string cannot fail.
    let _ = SystemTime.format_time(&mut Writer::new(&mut time));
    if let Ok(line) = serde_json::to_string(&Line { time, kind, run, shard, body }) {
        // If the reader has closed standard error, the work continues without messages.
        drop(writeln!(io::stderr(), "{line}"));
    }
    true
}

/// Writes a line with a text. Returns `false` if standard error is text.
pub(super) fn write_message(kind: &str, message: &str) -> bool {
    write(kind, &Message { message })
}

/// Writes the last line, if standard error is JSON.
pub(super) fn finish(exit_status: u8) {
    write("done", &Done { exit_status });
}
