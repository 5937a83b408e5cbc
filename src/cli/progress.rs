//! Progress on standard error: a bar or text lines for people, JSON lines for programs.
//!
//! indicatif draws the bar. If standard error is not a terminal, a text line is written every ten seconds. On a narrow
//! terminal the less important columns are left out.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use serde::{Deserialize, Serialize};

use super::json_lines;
use super::status::percent;
use crate::engine::progress::{Progress, ProgressDisplay};
use crate::engine::snapshot::Snapshot;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ProgressMode {
    /// A bar on a terminal, plain lines otherwise.
    #[default]
    Auto,
    Bar,
    /// A line of text every ten seconds.
    Plain,
    /// A line of JSON every second.
    Json,
    None,
}

impl ProgressMode {
    /// Starts a progress report. `records` is the number of records of the run, if known.
    pub(super) fn start(self, records: Option<u64>) -> Progress {
        match self.display(records) {
            Some(display) => Progress::new(display, records),
            None => Progress::hidden(records),
        }
    }

    /// Returns the display for a run with `total` items, if their number is known. `None` for [`Self::None`].
    pub(super) fn display<S: ProgressSnapshot>(
        self,
        total: Option<u64>,
    ) -> Option<Box<dyn ProgressDisplay<S>>> {
        Some(match self {
            Self::Auto if io::stderr().is_terminal() => Box::new(Bar::new(total)),
            Self::Bar => Box::new(Bar::new(total)),
            Self::Auto | Self::Plain => Box::new(Plain),
            Self::Json => Box::new(Json),
            Self::None => return None,
        })
    }
}

/// A snapshot of a run that can be shown as text or JSON.
pub(super) trait ProgressSnapshot: Serialize {
    fn done(&self) -> u64;

    /// The phase of the run, if it has several.
    fn phase(&self) -> Option<&'static str> {
        None
    }

    /// The number of items done, and of all items if it is known.
    fn counts(&self) -> String;

    /// Time left, if it is known, and speed.
    fn speed(&self) -> Vec<String>;

    /// The other figures, the most important first.
    fn details(&self) -> Vec<String>;

    /// The whole snapshot as one line of text.
    fn line(&self) -> String {
        [vec![self.counts()], self.speed(), self.details()].concat().join(", ")
    }
}

impl ProgressSnapshot for Snapshot {
    fn done(&self) -> u64 {
        self.done
    }

    fn phase(&self) -> Option<&'static str> {
        self.phase
    }

    fn counts(&self) -> String {
        self.counts()
    }

    fn speed(&self) -> Vec<String> {
        self.speed()
    }

    fn details(&self) -> Vec<String> {
        self.details()
    }

    fn line(&self) -> String {
        self.line()
    }
}

struct Bar {
    bar: ProgressBar,
    total: Option<u64>,
}

impl Bar {
    fn new(total: Option<u64>) -> Self {
        Self::on(ProgressDrawTarget::stderr(), total)
    }

    fn on(target: ProgressDrawTarget, total: Option<u64>) -> Self {
        let bar = ProgressBar::with_draw_target(total, target);
        bar.set_style(blank());
        Self { bar, total }
    }

    /// Draws once. Percentage and counts are of the same snapshot.
    fn draw<S: ProgressSnapshot>(&self, snapshot: &S, width: usize) {
        let (template, used) = template(self.total, width);
        let phase = snapshot.phase().map_or(String::new(), |phase| format!("{phase}: "));
        let percent = self.total.map(|total| format!("{:>3} %  ", percent(snapshot.done(), total)));
        let figures = message(snapshot, self.total, width.saturating_sub(used + phase.len()));
        let text = phase + &percent.unwrap_or_default() + &figures;
        let style = ProgressStyle::with_template(template).expect("the templates are valid");
        let write = move |_: &ProgressState, out: &mut dyn fmt::Write| {
            // Writing to a string cannot fail.
            let _ = out.write_str(&text);
        };
        self.bar.set_style(style.with_key("figures", write));
        self.bar.set_position(snapshot.done());
    }
}

/// Draws nothing until there are figures.
fn blank() -> ProgressStyle {
    ProgressStyle::with_template("").expect("an empty template is valid")
}

/// The line, and the width of what precedes the message. A narrow terminal has no room for a bar.
const fn template(total: Option<u64>, width: usize) -> (&'static str, usize) {
    match total {
        Some(_) if width >= 60 => ("{bar:12} {figures}", 20),
        Some(_) => ("{figures}", 7),
        None => ("{spinner} {figures}", 2),
    }
}

/// The most important figures, as many as fit into `width` characters. If the percentage is shown, time left and speed
/// come before the counts.
fn message<S: ProgressSnapshot>(snapshot: &S, total: Option<u64>, width: usize) -> String {
    let (counts, speed) = (vec![snapshot.counts()], snapshot.speed());
    let first = if total.is_some() { [speed, counts] } else { [counts, speed] };
    let mut line = String::new();
    for figure in first.concat().into_iter().chain(snapshot.details()) {
        let separator = if line.is_empty() { "" } else { ", " };
        let longer = format!("{line}{separator}{figure}");
        if console::measure_text_width(&longer) > width {
            break;
        }
        line = longer;
    }
    line
}

impl<S: ProgressSnapshot> ProgressDisplay<S> for Bar {
    fn pause(&self) -> Duration {
        Duration::from_millis(100)
    }

    fn begin(&mut self, records: Option<u64>) {
        self.total = records;
        self.bar.set_style(blank());
        self.bar.set_length(records.unwrap_or(0));
    }

    fn show(&mut self, snapshot: &S) {
        self.draw(snapshot, usize::from(Term::stderr().size().1));
    }

    fn finish(&mut self, _last: &S) {
        self.bar.finish_and_clear();
    }

    fn suspend(&mut self, write: &mut dyn FnMut()) {
        self.bar.suspend(write);
    }

    fn clear(&mut self) {
        self.bar.finish_and_clear();
    }
}

struct Plain;

impl<S: ProgressSnapshot> ProgressDisplay<S> for Plain {
    fn pause(&self) -> Duration {
        Duration::from_secs(10)
    }

    fn show(&mut self, snapshot: &S) {
        // If the reader has closed standard error, the work continues without messages.
        drop(writeln!(io::stderr(), "{}", snapshot.line()));
    }
}

struct Json;

impl<S: ProgressSnapshot> ProgressDisplay<S> for Json {
    fn pause(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn show(&mut self, snapshot: &S) {
        json_lines::write("progress", snapshot);
    }

    fn finish(&mut self, last: &S) {
        self.show(last);
    }
}

#[cfg(test)]
mod tests {
    use indicatif::InMemoryTerm;

    use super::*;
    use crate::records::counts::Counts;

    fn drawn(columns: u16, total: Option<u64>) -> String {
        let terminal = InMemoryTerm::new(5, columns);
        let bar = Bar::on(ProgressDrawTarget::term_like(Box::new(terminal.clone())), total);
        let counts = Counts { input: 1_234_567, ..Counts::default() };
        bar.draw(&Snapshot::new(&counts, total, 100.0, 0, true), usize::from(columns));
        bar.bar.tick();
        terminal.contents()
    }

    #[test]
    fn each_frame_shows_the_percentage_of_its_counts() {
        let terminal = InMemoryTerm::new(5, 100);
        let target = ProgressDrawTarget::term_like_with_hz(Box::new(terminal.clone()), 20);
        let bar = Bar::on(target, Some(1000));
        // Some are not drawn, because terminals are slow.
        for input in (0..=999).step_by(27) {
            let counts = Counts { input, ..Counts::default() };
            bar.draw(&Snapshot::new(&counts, Some(1000), 1.0, 0, false), 100);
            let line = terminal.contents();
            let (percent, shown) = line.split_once(" %  ").unwrap();
            let shown =
                shown.split(", ").find_map(|figure| figure.strip_suffix(" of 1,000 records"));
            let shown: u64 = shown.unwrap().parse().unwrap();
            let percent = percent.split(' ').next_back().unwrap();
            assert_eq!(percent, (shown / 10).to_string(), "{line}");
        }
    }

    #[test]
    fn a_phase_begins_without_a_frame_and_is_named() {
        let terminal = InMemoryTerm::new(5, 100);
        let target = ProgressDrawTarget::term_like(Box::new(terminal.clone()));
        let mut bar = Bar::on(target, Some(10));
        ProgressDisplay::<Snapshot>::begin(&mut bar, Some(2000));
        bar.bar.tick();
        assert_eq!(terminal.contents(), "");
        let counts = Counts { input: 500, ..Counts::default() };
        let snapshot = Snapshot::new(&counts, Some(2000), 1.0, 0, false).in_phase(Some("sorting"));
        bar.draw(&snapshot, 100);
        bar.bar.tick();
        let line = terminal.contents();
        assert!(line.ends_with(" sorting:  25 %  500 records/s, 500 of 2,000 records"), "{line}");
    }

    #[test]
    fn a_narrow_terminal_shows_whole_columns_the_most_important_first() {
        for (columns, expected) in [
            (
                120,
                " 30 %  3 min 44 s left, 12,346 records/s, 1,234,567 of 4,000,000 records, 0 mated, 0 unknown",
            ),
            (80, " 30 %  3 min 44 s left, 12,346 records/s"),
            (70, " 30 %  3 min 44 s left, 12,346 records/s"),
            (40, " 30 %  3 min 44 s left, 12,346 records/s"),
            (39, " 30 %  3 min 44 s left"),
            (20, " 30 %"),
        ] {
            let line = drawn(columns, Some(4_000_000));
            assert!(line.ends_with(expected), "{columns}: {line}");
            assert_eq!(line.starts_with(' '), columns < 60, "{columns}: {line}");
        }
        assert!(drawn(40, None).ends_with(" 1,234,567 records, 12,346 records/s"));
        assert!(drawn(30, None).ends_with(" 1,234,567 records"));
    }
}
