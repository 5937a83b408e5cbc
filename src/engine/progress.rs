//! Progress of a run, passed at intervals to a display.

use std::fmt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::metrics::Metrics;
use super::snapshot::Snapshot;
use crate::records::counts::Counts;

/// Shows the progress of a run to people or programs. An error while displaying does not end the run.
pub trait ProgressDisplay: Send {
    /// Least time between two snapshots.
    fn pause(&self) -> Duration;

    /// Another part of the run begins, over this many records, if that is known.
    fn begin(&mut self, _records: Option<u64>) {}

    /// Shows how far the run has come.
    fn show(&mut self, snapshot: &Snapshot);

    /// The run is done.
    fn finish(&mut self, _last: &Snapshot) {}

    /// Clears what is redrawn in place: the run has ended, successfully or not.
    fn clear(&mut self) {}
}

/// The progress of a run.
pub struct Progress {
    display: Option<Box<dyn ProgressDisplay>>,
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

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Progress").field("records", &self.records).finish_non_exhaustive()
    }
}

impl Progress {
    /// Shows nothing.
    pub fn none() -> Self {
        Self {
            display: None,
            records: None,
            searches: false,
            phase: None,
            started: Instant::now(),
            shown: None,
            before: 0,
            metrics: None,
            last: Counts::default(),
        }
    }

    /// Of a run over this many records, if that is known.
    pub fn new(display: impl ProgressDisplay + 'static, records: Option<u64>) -> Self {
        let mut progress = Self::none();
        progress.display = Some(Box::new(display));
        progress.records = records;
        progress
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
        if let Some(display) = &mut self.display {
            display.begin(records);
        }
    }

    /// Some records were dealt with before: they say nothing about the speed.
    pub const fn start_behind(&mut self, records: u64) {
        self.before = records;
    }

    /// Shows how far the run has come, unless it was shown a moment ago.
    pub fn update(&mut self, counts: &Counts) {
        self.update_metrics(counts);
        let Some(pause) = self.display.as_ref().map(|display| display.pause()) else { return };
        if self.shown.unwrap_or(self.started).elapsed() >= pause {
            let snapshot = self.snapshot(counts);
            if let Some(display) = &mut self.display {
                display.show(&snapshot);
            }
            self.shown = Some(Instant::now());
        }
    }

    fn update_metrics(&mut self, counts: &Counts) {
        if !self.metrics.as_ref().is_some_and(Metrics::is_due) {
            return;
        }
        let snapshot = self.snapshot(counts);
        if let Some(metrics) = &mut self.metrics {
            metrics.write(&snapshot, counts, true);
            self.last = counts.clone();
        }
    }

    /// Shows the end of a run.
    pub fn finish(&mut self, counts: &Counts) {
        self.last = counts.clone();
        let snapshot = self.snapshot(counts);
        if let Some(display) = &mut self.display {
            display.finish(&snapshot);
        }
    }

    fn snapshot(&self, counts: &Counts) -> Snapshot {
        let elapsed_s = self.started.elapsed().as_secs_f64();
        let snapshot = Snapshot::of(counts, self.records, elapsed_s, self.before, self.searches);
        snapshot.in_phase(self.phase)
    }
}

impl Drop for Progress {
    /// A failed run leaves nothing half drawn behind, and does not seem to go on.
    fn drop(&mut self) {
        let snapshot = self.snapshot(&self.last);
        if let Some(metrics) = &mut self.metrics {
            metrics.write(&snapshot, &self.last, false);
        }
        if let Some(display) = &mut self.display {
            display.clear();
        }
    }
}
