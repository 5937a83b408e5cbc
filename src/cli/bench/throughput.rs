//! A line about how many records a second something does with whole files.

use std::io;
use std::io::Write;
use std::time::Duration;

use serde::Serialize;

use super::super::report::json_line;
use crate::cli::bench::rounds::{Rounds, per_second};

#[derive(Serialize)]
struct Figure {
    what: String,
    records: u64,
    threads: usize,
    elapsed_ms: f64,
    records_per_s: f64,
}

/// Writes it to standard output.
pub(super) fn write_summary(
    what: String,
    records: u64,
    threads: usize,
    elapsed: Duration,
    rounds: Rounds,
) -> io::Result<()> {
    let figure = Figure {
        what,
        records,
        threads,
        elapsed_ms: (elapsed.as_secs_f64() * 1e4).round() / 10.0,
        records_per_s: per_second(records, elapsed).round(),
    };
    if rounds.json {
        return json_line(&figure);
    }
    let Figure { what, elapsed_ms, records_per_s, .. } = figure;
    writeln!(io::stdout(), "{what:<58} {elapsed_ms:>8.1} ms {records_per_s:>11.0} records/s")
}
