//! Progress on standard error: for people a bar or lines of text, for programs lines of JSON.
//!
//! The bar is indicatif's; where nobody watches, a line every ten seconds says the same.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::{Deserialize, Serialize};

use crate::engine::progress::{Progress, ProgressDisplay};
use crate::engine::snapshot::Snapshot;

/// How progress is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ProgressMode {
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

impl ProgressMode {
    /// The progress of a run over this many records, if that is known.
    pub(super) fn over(self, records: Option<u64>) -> Progress {
        match self.display(records) {
            Some(display) => Progress::new(display, records),
            None => Progress::none(),
        }
    }

    /// What shows snapshots of a run over this many of something, if that is known; nothing if nobody wants to see them.
    pub(super) fn display<S: Shown>(
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

/// A snapshot that can be shown; as JSON, too.
pub(super) trait Shown: Serialize {
    /// How much is done.
    fn done(&self) -> u64;

    /// Everything else in a few words.
    fn rates(&self) -> String;

    /// All in a line.
    fn line(&self) -> String;
}

impl Shown for Snapshot {
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

struct Bar(ProgressBar);

impl Bar {
    fn new(records: Option<u64>) -> Self {
        let target = ProgressDrawTarget::stderr();
        Self(ProgressBar::with_draw_target(records, target).with_style(style(records)))
    }
}

fn style(records: Option<u64>) -> ProgressStyle {
    let template = if records.is_some() {
        "{wide_bar} {percent:>3} %  {human_pos} of {human_len}  {msg}"
    } else {
        "{spinner} {human_pos} records  {msg}"
    };
    ProgressStyle::with_template(template).expect("the templates above are valid")
}

impl<S: Shown> ProgressDisplay<S> for Bar {
    fn pause(&self) -> Duration {
        Duration::from_millis(100)
    }

    fn begin(&mut self, records: Option<u64>) {
        self.0.set_length(records.unwrap_or(0));
        self.0.set_style(style(records));
    }

    fn show(&mut self, snapshot: &S) {
        self.0.set_position(snapshot.done());
        self.0.set_message(snapshot.rates());
    }

    fn finish(&mut self, _last: &S) {
        self.0.finish_and_clear();
    }

    fn clear(&mut self) {
        self.0.finish_and_clear();
    }
}

struct Plain;

impl<S: Shown> ProgressDisplay<S> for Plain {
    fn pause(&self) -> Duration {
        Duration::from_secs(10)
    }

    fn show(&mut self, snapshot: &S) {
        // Nobody reads the messages any more where this fails: the work goes on without them.
        drop(writeln!(io::stderr(), "{}", snapshot.line()));
    }
}

struct Json;

impl<S: Shown> ProgressDisplay<S> for Json {
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
