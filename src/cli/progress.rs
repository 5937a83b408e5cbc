//! Progress on standard error: a bar or text lines for people, JSON lines for programs.
//!
//! indicatif draws the bar. If standard error is not a terminal, a text line is written every ten seconds.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::{Deserialize, Serialize};

use crate::engine::progress::{Progress, ProgressDisplay};
use crate::engine::snapshot::Snapshot;
use crate::storage::quantity::{separated, separated_quantity};

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
            None => Progress::none(),
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
    /// Name of the items counted by [`Self::done`], in the singular.
    const ITEM: &'static str;

    fn done(&self) -> u64;

    /// The other figures as text, shown after [`Self::done`].
    fn rates(&self) -> String;

    /// The whole snapshot as one line of text.
    fn line(&self) -> String;
}

impl ProgressSnapshot for Snapshot {
    const ITEM: &'static str = "record";

    fn done(&self) -> u64 {
        self.done
    }

    fn rates(&self) -> String {
        self.rates()
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
        let target = ProgressDrawTarget::stderr();
        let bar = ProgressBar::with_draw_target(total, target).with_style(style(total));
        Self { bar, total }
    }
}

/// A short bar, followed by as much of the message as fits on the line.
fn style(total: Option<u64>) -> ProgressStyle {
    let template = if total.is_some() {
        "{bar:12} {percent:>3} %  {wide_msg}"
    } else {
        "{spinner} {wide_msg}"
    };
    ProgressStyle::with_template(template).expect("the templates above are valid")
}

fn message<S: ProgressSnapshot>(snapshot: &S, total: Option<u64>) -> String {
    let (done, rates) = (snapshot.done(), snapshot.rates());
    match total {
        Some(total) => format!("{} of {}  {rates}", separated(done), separated(total)),
        None => format!("{}  {rates}", separated_quantity(done, S::ITEM)),
    }
}

impl<S: ProgressSnapshot> ProgressDisplay<S> for Bar {
    fn pause(&self) -> Duration {
        Duration::from_millis(100)
    }

    fn begin(&mut self, records: Option<u64>) {
        self.total = records;
        self.bar.set_length(records.unwrap_or(0));
        self.bar.set_style(style(records));
    }

    fn show(&mut self, snapshot: &S) {
        self.bar.set_position(snapshot.done());
        self.bar.set_message(message(snapshot, self.total));
    }

    fn finish(&mut self, _last: &S) {
        self.bar.finish_and_clear();
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
        if let Ok(line) = serde_json::to_string(snapshot) {
            // As above.
            drop(writeln!(io::stderr(), "{line}"));
        }
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
        let target = ProgressDrawTarget::term_like(Box::new(terminal.clone()));
        let bar = ProgressBar::with_draw_target(total, target).with_style(style(total));
        let mut bar = Bar { bar, total };
        let counts = Counts { input: 1_234_567, ..Counts::default() };
        bar.show(&Snapshot::new(&counts, total, 100.0, 0, true));
        bar.bar.tick();
        terminal.contents()
    }

    #[test]
    fn the_bar_fits_on_one_line_of_a_narrow_terminal() {
        let wide = drawn(120, Some(4_000_000));
        let expected =
            " 31 %  1,234,567 of 4,000,000  0 mated, 0 unknown, 12,346 records/s, 3 min 44 s left";
        assert!(wide.ends_with(expected), "{wide}");
        for total in [Some(4_000_000), None] {
            for columns in [20, 40, 60] {
                let narrow = drawn(columns, total);
                assert_eq!(narrow.lines().count(), 1, "{narrow}");
                assert!(narrow.chars().count() <= usize::from(columns), "{narrow}");
            }
        }
        assert!(drawn(40, None).contains(" 1,234,567 records"));
    }
}
