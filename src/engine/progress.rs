//! How far a run has come, for people (a bar, lines) and for programs (JSON lines), on standard error.
//!
//! The bar is indicatif's; where nobody watches, a line every ten seconds says the same.

use std::io;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::{Deserialize, Serialize};

use super::metrics::Metrics;
use super::moment::Moment;
use crate::records::counts::Counts;

/// How progress is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProgressMode {
    /// A bar on a terminal, plain lines otherwise.
    #[default]
    Auto,
    /// A bar that is drawn over and over.
    Bar,
    /// A line of text every ten seconds.
    Plain,
    /// A JSON object a line, every second.
    Json,
    /// Not at all.
    None,
}

/// Shows progress now and then.
pub struct Progress {
    display: Display,
    records: Option<u64>,
    searches: bool,
    phase: Option<&'static str>,
    started: Instant,
    shown: Option<Instant>,
    /// Records that were dealt with before this process began.
    before: u64,
    metrics: Option<Metrics>,
    /// What was counted when it was last looked at.
    last: Counts,
}

enum Display {
    Bar(ProgressBar),
    Plain,
    Json,
    None,
}

impl Progress {
    /// For a run over this many records, if that is known.
    pub fn new(mode: ProgressMode, records: Option<u64>) -> Self {
        let display = match mode {
            ProgressMode::Auto if io::stderr().is_terminal() => Display::Bar(bar(records)),
            ProgressMode::Bar => Display::Bar(bar(records)),
            ProgressMode::Auto | ProgressMode::Plain => Display::Plain,
            ProgressMode::Json => Display::Json,
            ProgressMode::None => Display::None,
        };
        Self {
            display,
            records,
            searches: false,
            phase: None,
            started: Instant::now(),
            shown: None,
            before: 0,
            metrics: None,
            last: Counts::default(),
        }
    }

    /// The same, with verdicts: for runs that search.
    #[must_use]
    pub fn with_verdicts(mut self) -> Self {
        self.searches = true;
        self
    }

    /// The same, and also in a file for Prometheus, under the name of the run and its shard.
    #[must_use]
    pub fn with_metrics(mut self, path: PathBuf, run: &str, shard: Option<&str>) -> Self {
        self.metrics = Some(Metrics::new(path, run, shard));
        self
    }

    /// Another part of the run begins, over this many records.
    pub fn begin(&mut self, phase: &'static str, records: Option<u64>) {
        self.phase = Some(phase);
        self.records = records;
        self.started = Instant::now();
        self.shown = None;
        self.before = 0;
        if let Display::Bar(bar) = &self.display {
            bar.set_length(records.unwrap_or(0));
            bar.set_style(style(records));
        }
    }

    /// Some records were dealt with before: they say nothing about the speed.
    pub const fn start_behind(&mut self, records: u64) {
        self.before = records;
    }

    /// Shows nothing.
    pub fn none() -> Self {
        Self::new(ProgressMode::None, None)
    }

    /// Shows how far the run has come, unless it was shown a moment ago.
    pub fn update(&mut self, counts: &Counts) {
        self.update_metrics(counts);
        let pause = match self.display {
            Display::None => return,
            Display::Bar(_) => Duration::from_millis(100),
            Display::Json => Duration::from_secs(1),
            Display::Plain => Duration::from_secs(10),
        };
        if self.shown.unwrap_or(self.started).elapsed() >= pause {
            self.show(counts);
            self.shown = Some(Instant::now());
        }
    }

    fn update_metrics(&mut self, counts: &Counts) {
        if !self.metrics.as_ref().is_some_and(Metrics::is_due) {
            return;
        }
        let moment = self.moment(counts);
        if let Some(metrics) = &mut self.metrics {
            metrics.write(&moment, counts, true);
            self.last = counts.clone();
        }
    }

    /// Shows the end of a run.
    pub fn finish(&mut self, counts: &Counts) {
        self.last = counts.clone();
        match &self.display {
            Display::Bar(bar) => bar.finish_and_clear(),
            Display::Json => self.show(counts),
            Display::Plain | Display::None => {}
        }
    }

    fn show(&self, counts: &Counts) {
        let moment = self.moment(counts);
        let said = match &self.display {
            Display::Bar(bar) => {
                bar.set_position(moment.done);
                bar.set_message(moment.rates());
                return;
            }
            Display::Plain => writeln!(io::stderr(), "{}", moment.line()),
            Display::Json => serde_json::to_string(&moment)
                .map_err(io::Error::from)
                .and_then(|line| writeln!(io::stderr(), "{line}")),
            Display::None => return,
        };
        // Nobody reads the messages any more: the work goes on without them.
        drop(said);
    }

    fn moment(&self, counts: &Counts) -> Moment {
        let elapsed_s = self.started.elapsed().as_secs_f64();
        let moment = Moment::of(counts, self.records, elapsed_s, self.before, self.searches);
        moment.in_phase(self.phase)
    }
}

impl Drop for Progress {
    /// A failed run leaves no half-drawn bar behind, and does not seem to go on.
    fn drop(&mut self) {
        let moment = self.moment(&self.last);
        if let Some(metrics) = &mut self.metrics {
            metrics.write(&moment, &self.last, false);
        }
        if let Display::Bar(bar) = &self.display {
            bar.finish_and_clear();
        }
    }
}

fn bar(records: Option<u64>) -> ProgressBar {
    ProgressBar::with_draw_target(records, ProgressDrawTarget::stderr()).with_style(style(records))
}

fn style(records: Option<u64>) -> ProgressStyle {
    let template = if records.is_some() {
        "{wide_bar} {percent:>3} %  {human_pos} of {human_len}  {msg}"
    } else {
        "{spinner} {human_pos} records  {msg}"
    };
    ProgressStyle::with_template(template).expect("the templates above are valid")
}
