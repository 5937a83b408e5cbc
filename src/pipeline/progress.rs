//! How far a run has come, for people (a bar, lines) and for programs (JSON lines), on standard error.
//!
//! The bar is indicatif's; where nobody watches, a line every ten seconds says the same.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::{Deserialize, Serialize};

use super::counts::Counts;
use super::metrics::Metrics;

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

/// What there is to say at one moment.
#[derive(Serialize)]
pub(super) struct Moment {
    done: u64,
    pub(super) total: Option<u64>,
    /// Records a second.
    rate: f64,
    kept: u64,
    bad: u64,
    #[serde(flatten)]
    verdicts: Option<Verdicts>,
    pub(super) elapsed_s: f64,
    pub(super) eta_s: Option<f64>,
}

/// Of runs that search.
#[derive(Serialize)]
struct Verdicts {
    win: u64,
    loss: u64,
    unknown: u64,
}

impl Moment {
    /// So many seconds after a process began behind so many records.
    pub(super) fn of(
        counts: &Counts,
        total: Option<u64>,
        elapsed_s: f64,
        before: u64,
        searches: bool,
    ) -> Self {
        let done = counts.input;
        let new = done.saturating_sub(before);
        let rate = if elapsed_s > 0.0 { new as f64 / elapsed_s } else { 0.0 };
        let left = total.map(|all| all.saturating_sub(done) as f64);
        let eta_s = left.filter(|_| new > 0).map(|left| left / rate);
        let verdicts = searches.then(|| Verdicts {
            win: counts.verdicts.win,
            loss: counts.verdicts.loss,
            unknown: counts.verdicts.unknown.values().sum(),
        });
        let (kept, bad) = (counts.kept + counts.mated.relabelled, counts.bad_records());
        Self { done, total, rate, kept, bad, verdicts, elapsed_s, eta_s }
    }
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
                bar.set_message(rates(&moment));
                return;
            }
            Display::Plain => writeln!(io::stderr(), "{}", plain_line(&moment)),
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
        Moment::of(counts, self.records, elapsed_s, self.before, self.searches)
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
    let template = if records.is_some() {
        "{wide_bar} {percent:>3} %  {human_pos} of {human_len}  {msg}"
    } else {
        "{spinner} {human_pos} records  {msg}"
    };
    let style = ProgressStyle::with_template(template).expect("the templates above are valid");
    ProgressBar::with_draw_target(records, ProgressDrawTarget::stderr()).with_style(style)
}

fn plain_line(moment: &Moment) -> String {
    let of = moment.total.map_or(String::new(), |total| format!(" of {total}"));
    format!("{}{of} records, {}", moment.done, rates(moment))
}

fn rates(moment: &Moment) -> String {
    let verdicts = moment.verdicts.as_ref().map_or(String::new(), |verdicts| {
        format!("{} mated, {} unknown, ", verdicts.win + verdicts.loss, verdicts.unknown)
    });
    let bad = if moment.bad > 0 { format!("{} bad, ", moment.bad) } else { String::new() };
    let eta = moment.eta_s.map_or(String::new(), |eta_s| format!(", {} left", duration(eta_s)));
    format!("{verdicts}{bad}{:.0} records/s{eta}", moment.rate)
}

/// `42 s`, `3 min 20 s`, `5 h 04 min`.
pub fn duration(seconds: f64) -> String {
    // Saturates for a negative, a huge and no number.
    #[expect(clippy::cast_sign_loss, reason = "saturates")]
    let seconds = seconds.round() as u64;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_told_in_two_units() {
        let told = [0.4, 59.0, 60.0, 200.0, 18_240.0, f64::INFINITY].map(duration);
        assert_eq!(told[..5], ["0 s", "59 s", "1 min 00 s", "3 min 20 s", "5 h 04 min"]);
    }

    #[test]
    fn a_plain_line_says_what_is_left() {
        let mut counts = Counts { input: 500, kept: 480, ..Counts::default() };
        (counts.verdicts.win, counts.verdicts.loss) = (4, 3);
        counts.bad.quarantined = 1;
        let moment = Moment::of(&counts, Some(2000), 5.0, 0, true);
        let line = "500 of 2000 records, 7 mated, 0 unknown, 1 bad, 100 records/s, 15 s left";
        assert_eq!(plain_line(&moment), line);
    }

    #[test]
    fn what_was_done_before_says_nothing_about_the_speed() {
        let counts = Counts { input: 500, ..Counts::default() };
        let moment = Moment::of(&counts, Some(2000), 5.0, 400, false);
        assert_eq!(plain_line(&moment), "500 of 2000 records, 20 records/s, 1 min 15 s left");
        let moment = Moment::of(&counts, None, 5.0, 500, false);
        let json = serde_json::to_value(&moment).unwrap();
        let expected = serde_json::json!({
            "done": 500, "total": null, "rate": 0.0, "kept": 0, "bad": 0, "elapsed_s": 5.0, "eta_s": null
        });
        assert_eq!(json, expected);
    }
}
