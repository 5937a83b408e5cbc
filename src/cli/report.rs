//! How results stand on standard output and in messages: JSON lines, milliseconds, numbers of records.
//!
//! Every line is written at once, so that a reader behind a pipe sees it when it is there.

use std::io::{self, Write};
use std::time::Duration;

use serde::Serialize;

/// Writes one JSON object and a line end to standard output.
pub(super) fn json_line(value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    io::stdout().write_all(&line)
}

/// `1 record`, `2 records`.
pub(super) fn records(number: u64) -> String {
    format!("{number} record{}", if number == 1 { "" } else { "s" })
}

/// Milliseconds with three decimals: finer is noise.
pub(super) fn milliseconds(elapsed: Duration) -> f64 {
    (elapsed.as_secs_f64() * 1e6).round() / 1e3
}
