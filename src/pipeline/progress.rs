//! How far a run has come, for people (a bar, lines) and for programs (JSON lines), on standard error.
//!
//! The bar is indicatif's; where nobody watches, a line every ten seconds says the same.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::{Deserialize, Serialize};

use super::counts::Counts;

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
    counts_mates: bool,
    started: Instant,
    shown: Option<Instant>,
    /// Records that were dealt with before this process began.
    before: u64,
}

enum Display {
    Bar(ProgressBar),
    Plain,
    Json,
    None,
}

/// What there is to say at one moment.
#[derive(Serialize)]
struct Moment {
    records: u64,
    of: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mated: Option<u64>,
    bad: u64,
    elapsed_s: f64,
    records_per_s: f64,
    eta_s: Option<f64>,
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
            counts_mates: false,
            started: Instant::now(),
            shown: None,
            before: 0,
        }
    }

    /// The same, with the number of mates: for runs that search.
    #[must_use]
    pub fn with_mates(mut self) -> Self {
        self.counts_mates = true;
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

    /// Shows the end of a run.
    pub fn finish(&mut self, counts: &Counts) {
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
                bar.set_position(moment.records);
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
        let records = counts.input;
        let new = records.saturating_sub(self.before);
        let records_per_s = if elapsed_s > 0.0 { new as f64 / elapsed_s } else { 0.0 };
        let left = self.records.map(|all| all.saturating_sub(records) as f64);
        let eta_s = left.filter(|_| new > 0).map(|left| left / records_per_s);
        let mated = self.counts_mates.then(|| counts.mates());
        let bad = counts.bad_records();
        Moment { records, of: self.records, mated, bad, elapsed_s, records_per_s, eta_s }
    }
}

impl Drop for Progress {
    /// A failed run leaves no half-drawn bar behind.
    fn drop(&mut self) {
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
    let of = moment.of.map_or(String::new(), |of| format!(" of {of}"));
    format!("{}{of} records, {}", moment.records, rates(moment))
}

fn rates(moment: &Moment) -> String {
    let mated = moment.mated.map_or(String::new(), |mated| format!("{mated} mated, "));
    let bad = if moment.bad > 0 { format!("{} bad, ", moment.bad) } else { String::new() };
    let eta = moment.eta_s.map_or(String::new(), |eta_s| format!(", {} left", duration(eta_s)));
    format!("{mated}{bad}{:.0} records/s{eta}", moment.records_per_s)
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
        let moment = Moment {
            records: 500,
            of: Some(2000),
            mated: Some(7),
            bad: 1,
            elapsed_s: 5.0,
            records_per_s: 100.0,
            eta_s: Some(15.0),
        };
        let line = "500 of 2000 records, 7 mated, 1 bad, 100 records/s, 15 s left";
        assert_eq!(plain_line(&moment), line);
    }
}
