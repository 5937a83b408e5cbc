//! Formatting of results on standard output and in messages: JSON lines, times, counts.
//!
//! Each line is written without buffering, so that the reader of a pipe sees it immediately.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};
use std::time::Duration;

use console::{Term, measure_text_width};
use serde::Serialize;

use super::message::say;
use crate::records::filters::Condition;
use crate::shogi::Move;
use crate::storage::quantity::quantity;

/// Writes one JSON object and a line end to standard output.
pub(super) fn json_line(value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    io::stdout().write_all(&line)
}

/// The width of the terminal. Unlimited if standard output is not a terminal.
pub(super) fn terminal_width() -> usize {
    Term::stdout().size_checked().map_or(usize::MAX, |(_, width)| usize::from(width))
}

/// Breaks a line at spaces to fit into `width` columns, but not before a percent sign. The lines after the first have
/// an indent.
pub(super) fn wrapped(line: &str, width: usize, indent: usize) -> String {
    let (mut text, mut used) = (String::new(), 0);
    let mut words = line.split_inclusive(' ').peekable();
    while let Some(word) = words.next() {
        let unit = words.peek().filter(|next| next.starts_with('%')).copied().unwrap_or_default();
        let len = measure_text_width(format!("{word}{unit}").trim_end());
        if used > indent && used + len > width && !word.starts_with('%') {
            text.truncate(text.trim_end().len());
            text.extend(["\n", &" ".repeat(indent)]);
            used = indent;
        }
        text.push_str(word);
        used += measure_text_width(word);
    }
    text
}

/// `1 record`, `2 records`.
pub(super) fn records(number: u64) -> String {
    quantity(number, "record")
}

/// `2 win, 1 unknown`; counts of 0 are left out.
pub(super) fn counted(counts: &[(u64, &str)]) -> String {
    let nonzero = counts.iter().filter(|(count, _)| *count > 0);
    nonzero.map(|(count, word)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
}

/// Appends the counts that are not 0 to a line.
pub(super) fn with_counts(line: String, counts: &[(u64, &str)]) -> String {
    match counted(counts) {
        rest if rest.is_empty() => line,
        rest => format!("{line}, {rest}"),
    }
}

/// Milliseconds with three decimals; finer digits are noise.
pub(super) fn milliseconds(elapsed: Duration) -> f64 {
    (elapsed.as_secs_f64() * 1e6).round() / 1e3
}

/// Milliseconds with nanosecond precision, for durations of a few microseconds.
pub(super) fn exact_milliseconds(elapsed: Duration) -> f64 {
    elapsed.as_nanos() as f64 / 1e6
}

/// The counts by condition on a line of their own, as in `  filtered: 7 max_abs_eval, 2 min_ply`. Empty without counts.
pub(super) fn filtered<'a>(
    conditions: impl IntoIterator<Item = (&'a Condition, &'a u64)>,
) -> String {
    let name = |condition| serde_json::to_value(condition).unwrap_or_default();
    let counts = conditions.into_iter().map(|(condition, number)| {
        format!("{number} {}", name(condition).as_str().unwrap_or_default())
    });
    match counts.collect::<Vec<_>>().join(", ") {
        counts if counts.is_empty() => counts,
        counts => format!("\n  filtered: {counts}"),
    }
}

/// Prints one line for each field that records lost or gained.
pub(super) fn fields(lost: &BTreeMap<String, u64>, filled_in: &BTreeMap<String, u64>) {
    for (what, fields) in [("lost", lost), ("filled in", filled_in)] {
        for (field, &number) in fields {
            let meaning = if field == "end_ply" { " (length of the game)" } else { "" };
            say!("  {what}: {field}{meaning} in {}", records(number));
        }
    }
}

/// Reports information that is lost, as in `1 variation, 3 comments not written: csa cannot hold them`.
pub(super) fn lost_info(lost: &BTreeMap<String, u64>, to: &str) {
    let them = if lost.values().sum::<u64>() == 1 { "it" } else { "them" };
    let lost = lost.iter().filter(|&(_, &number)| number > 0);
    let lost = lost.map(|(kind, &number)| match &**kind {
        "headers" => quantity(number, "header entry"),
        kind => quantity(number, &kind.trim_end_matches('s').replace('_', " ")),
    });
    let lost = lost.collect::<Vec<_>>().join(", ");
    if !lost.is_empty() {
        say!("  {lost} not written: {to} cannot hold {them}");
    }
}

/// Displays moves separated by spaces.
pub(super) struct Moves<'a>(pub(super) &'a [Move]);

impl fmt::Display for Moves<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, m) in self.0.iter().enumerate() {
            let space = if index == 0 { "" } else { " " };
            write!(f, "{space}{m}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_at_spaces() {
        let line = "win rate  1 of 2 (50.0 %), 局面 12";
        for (width, expected) in [
            (usize::MAX, line),
            (34, line),
            (33, "win rate  1 of 2 (50.0 %), 局面\n          12"),
            (30, "win rate  1 of 2 (50.0 %),\n          局面 12"),
            (25, "win rate  1 of 2\n          (50.0 %), 局面\n          12"),
            (
                0,
                "win rate  1\n          of\n          2\n          (50.0 %),\n          局面\n          12",
            ),
        ] {
            assert_eq!(wrapped(line, width, 10), expected, "{width}");
        }
    }
}
