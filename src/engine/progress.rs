//! Progress of a run, passed at intervals to a display.

use std::fmt;
use std::time::{Duration, Instant};

use super::metrics::{Metrics, MetricsTargets, MetricsText};
use super::snapshot::{Snapshot, Verdicts};
use crate::error::Error;
use crate::records::counts::Counts;

/// Shows the progress of a run to users or programs. Errors of the display do not end the run.
pub trait ProgressDisplay<S = Snapshot>: Send {
    /// Minimum time between two snapshots.
    fn pause(&self) -> Duration;

    /// A phase of the run begins; `records` is the number of its records, if known.
    fn begin(&mut self, _records: Option<u64>) {}

    /// Shows a snapshot.
    fn show(&mut self, snapshot: &S);

    /// The run has finished successfully.
    fn finish(&mut self, _last: &S) {}

    /// Hides the progress while `write` writes to the terminal.
    fn suspend(&mut self, write: &mut dyn FnMut()) {
        write();
    }

    /// Clears everything that is redrawn in place. Called at the end of every run, even if it failed.
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
    /// Records done before this process began.
    before: u64,
    metrics: Option<Metrics>,
    /// The latest counts.
    last: Counts,
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Progress").field("records", &self.records).finish_non_exhaustive()
    }
}

impl Progress {
    /// No display and no metrics.
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

    /// No display. Metrics contain the number of records, if it is known.
    pub fn hidden(records: Option<u64>) -> Self {
        let mut progress = Self::none();
        progress.records = records;
        progress
    }

    /// Progress of a run over `records` records, if their number is known.
    pub fn new(display: Box<dyn ProgressDisplay>, records: Option<u64>) -> Self {
        let mut progress = Self::none();
        progress.display = Some(display);
        progress.records = records;
        progress
    }

    /// Also shows verdicts, for runs that search.
    #[must_use]
    pub fn with_verdicts(mut self) -> Self {
        self.searches = true;
        self
    }

    /// Also publishes metrics for Prometheus, labelled with the names of the run and its shard.
    ///
    /// # Errors
    /// If the address of the targets cannot be used.
    pub fn with_metrics(
        mut self,
        targets: &MetricsTargets,
        run: &str,
        shard: Option<&str>,
    ) -> Result<Self, Error> {
        self.metrics = Metrics::start(targets.clone(), run, shard)?;
        Ok(self)
    }

    /// Begins a phase of the run over `records` records, if their number is known.
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

    /// Starts the clock. `records` were done before this process, so they do not count for the speed.
    pub fn start_after(&mut self, records: u64) {
        self.before = records;
        self.started = Instant::now();
    }

    /// Whether the display or the metrics are due for an update.
    pub(crate) fn is_due(&self) -> bool {
        self.is_display_due() || self.metrics.as_ref().is_some_and(Metrics::is_due)
    }

    fn is_display_due(&self) -> bool {
        let pause = self.display.as_ref().map(|display| display.pause());
        pause.is_some_and(|pause| self.shown.unwrap_or(self.started).elapsed() >= pause)
    }

    /// Updates display and metrics if they are due.
    pub fn update(&mut self, counts: &Counts) {
        self.update_metrics(counts);
        if self.is_display_due() {
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
            metrics.write(true, |text| add_metrics(text, &snapshot, counts));
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
        let snapshot = Snapshot::new(counts, self.records, elapsed_s, self.before, self.searches);
        snapshot.in_phase(self.phase)
    }
}

impl Drop for Progress {
    /// Clears the display and marks the run as ended in the metrics, even if it failed.
    fn drop(&mut self) {
        let snapshot = self.snapshot(&self.last);
        if let Some(metrics) = &mut self.metrics {
            metrics.write(false, |text| add_metrics(text, &snapshot, &self.last));
        }
        if let Some(display) = &mut self.display {
            display.clear();
        }
    }
}

fn add_metrics(text: &mut MetricsText, snapshot: &Snapshot, counts: &Counts) {
    text.counter("records_total", "Records processed.", counts.input);
    text.counter("records_kept_total", "Records kept.", snapshot.kept);
    text.counter("records_bad_total", "Bad records.", counts.bad_records());
    if let Some(Verdicts { win, loss, unknown }) = snapshot.verdicts {
        let no_mate = counts.verdicts.no_mate;
        let verdicts = [("win", win), ("loss", loss), ("no_mate", no_mate), ("unknown", unknown)];
        text.counters("verdicts_total", "Positions searched.", "verdict", &verdicts);
        text.counter("nodes_total", "Nodes searched.", counts.nodes);
    }
    if let Some(total) = snapshot.total {
        text.gauge("records_planned", "Records to process.", total as f64);
    }
    text.gauge("records_per_second", "Records a second of this process.", snapshot.rate);
    text.gauge("elapsed_seconds", "Seconds since this process began to work.", snapshot.elapsed_s);
    if let Some(eta_s) = snapshot.eta_s {
        text.gauge("eta_seconds", "Estimated seconds left.", eta_s);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_for_a_lock_does_not_count_as_work() {
        let mut progress = Progress::hidden(Some(1000));
        progress.started -= Duration::from_mins(1);
        progress.start_after(256);
        let snapshot = progress.snapshot(&Counts { input: 300, ..Counts::default() });
        assert!(snapshot.elapsed_s < 60.0 && snapshot.rate > 44.0 / 60.0, "{snapshot:?}");
    }

    #[test]
    fn metrics_contain_the_counts() {
        let mut counts = Counts { input: 20, kept: 17, nodes: 500, ..Counts::default() };
        counts.verdicts.win = 3;
        counts.verdicts.no_mate = 17;
        let snapshot = Snapshot::new(&counts, Some(100), 2.5, 0, true);
        let mut text = MetricsText::new("run", Some("3/10"));
        add_metrics(&mut text, &snapshot, &counts);
        let text = text.to_string();
        for line in [
            "# TYPE kyokumen_records_total counter",
            r#"kyokumen_records_total{run="run",shard="3/10"} 20"#,
            r#"kyokumen_records_kept_total{run="run",shard="3/10"} 17"#,
            r#"kyokumen_verdicts_total{run="run",shard="3/10",verdict="win"} 3"#,
            r#"kyokumen_nodes_total{run="run",shard="3/10"} 500"#,
            r#"kyokumen_records_planned{run="run",shard="3/10"} 100"#,
            r#"kyokumen_records_per_second{run="run",shard="3/10"} 8"#,
            r#"kyokumen_elapsed_seconds{run="run",shard="3/10"} 2.5"#,
            r#"kyokumen_eta_seconds{run="run",shard="3/10"} 10"#,
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        let mut text = MetricsText::new("run", None);
        add_metrics(&mut text, &Snapshot { verdicts: None, ..snapshot }, &counts);
        let text = text.to_string();
        assert!(!text.contains("verdicts") && !text.contains("nodes"), "{text}");
    }
}
