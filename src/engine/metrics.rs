//! How far a run has come, for Prometheus: a file that the node exporter's textfile collector reads.
//!
//! The text format: <https://prometheus.io/docs/instrumenting/exposition_formats/>.

use std::fmt::Write as _;
use std::io;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::engine::snapshot::Snapshot;
use crate::records::counts::Counts;
use crate::records::sink::partial_path;
use crate::storage::platform;

/// Time between two files.
const PAUSE: Duration = Duration::from_secs(5);

/// Where to write, and of what.
#[derive(Debug)]
pub(crate) struct Metrics {
    path: PathBuf,
    /// In braces.
    labels: String,
    written: Option<Instant>,
}

impl Metrics {
    pub(crate) fn new(path: PathBuf, run: &str, shard: Option<&str>) -> Self {
        let shard = shard.map_or(String::new(), |shard| format!(",shard={}", quoted(shard)));
        Self { path, labels: format!("run={}{shard}", quoted(run)), written: None }
    }

    /// Whether it is time for a new file.
    pub(crate) fn is_due(&self) -> bool {
        self.written.is_none_or(|written| written.elapsed() >= PAUSE)
    }

    /// Puts a new file into the place of the one before; a pipe or a device gets the text. That it cannot be written is no reason to end a
    /// run, and is said once.
    pub(crate) fn write(&mut self, snapshot: &Snapshot, counts: &Counts, is_running: bool) {
        let text = text(&self.labels, snapshot, counts, is_running);
        let is_first = self.written.replace(Instant::now()).is_none();
        if let Err(error) = replace(&self.path, &text)
            && is_first
        {
            tracing::warn!("cannot write {}: {error}", self.path.display());
        }
    }
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    if platform::is_stream(path) {
        return platform::open_stream_at_once(path)?.write_all(text.as_bytes());
    }
    let partial = partial_path(path);
    platform::write_anew(&partial, text.as_bytes())?;
    platform::rename(&partial, path)
}

fn text(labels: &str, snapshot: &Snapshot, counts: &Counts, is_running: bool) -> String {
    let mut text = String::new();
    let mut add = |name: &str, kind: &str, help: &str, values: &[(&str, f64)]| {
        let _ = writeln!(text, "# HELP kyokumen_{name} {help}\n# TYPE kyokumen_{name} {kind}");
        for (more, value) in values {
            let _ = writeln!(text, "kyokumen_{name}{{{labels}{more}}} {value}");
        }
    };
    let number = |number: u64| [("", number as f64)];
    add("records_total", "counter", "Records dealt with.", &number(counts.input));
    let kept = counts.kept + counts.mated.relabelled;
    add("records_kept_total", "counter", "Records written to the kept ones.", &number(kept));
    add(
        "records_bad_total",
        "counter",
        "Records that are unusable.",
        &number(counts.bad_records()),
    );
    let verdicts = &counts.verdicts;
    let unknown: u64 = verdicts.unknown.values().sum();
    let verdicts = [
        (",verdict=\"win\"", verdicts.win as f64),
        (",verdict=\"loss\"", verdicts.loss as f64),
        (",verdict=\"no_mate\"", verdicts.no_mate as f64),
        (",verdict=\"unknown\"", unknown as f64),
    ];
    add("verdicts_total", "counter", "Positions searched.", &verdicts);
    add("nodes_total", "counter", "Nodes searched.", &number(counts.nodes));
    if let Some(total) = snapshot.total {
        add("records_planned", "gauge", "Records that there are to deal with.", &number(total));
    }
    add("elapsed_seconds", "gauge", "How long it has run.", &[("", snapshot.elapsed_s)]);
    if let Some(eta_s) = snapshot.eta_s {
        add("eta_seconds", "gauge", "How long the rest will take.", &[("", eta_s)]);
    }
    add("running", "gauge", "1 while it runs, 0 afterwards.", &number(is_running.into()));
    text
}

/// A value of a label.
fn quoted(value: &str) -> String {
    let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{value}\"")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_file_is_replaced_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.prom");
        let mut metrics = Metrics::new(path.clone(), "a\"b", Some("3/10"));
        let mut counts = Counts { input: 20, kept: 17, nodes: 500, ..Counts::default() };
        counts.verdicts.win = 3;
        counts.verdicts.no_mate = 17;
        let snapshot = Snapshot::of(&counts, Some(100), 2.5, 0, true);
        assert!(metrics.is_due());
        metrics.write(&snapshot, &counts, true);
        assert!(!metrics.is_due());
        let text = fs::read_to_string(&path).unwrap();
        for line in [
            "# TYPE kyokumen_records_total counter",
            r#"kyokumen_records_total{run="a\"b",shard="3/10"} 20"#,
            r#"kyokumen_records_kept_total{run="a\"b",shard="3/10"} 17"#,
            r#"kyokumen_verdicts_total{run="a\"b",shard="3/10",verdict="win"} 3"#,
            r#"kyokumen_nodes_total{run="a\"b",shard="3/10"} 500"#,
            r#"kyokumen_records_planned{run="a\"b",shard="3/10"} 100"#,
            r#"kyokumen_elapsed_seconds{run="a\"b",shard="3/10"} 2.5"#,
            r#"kyokumen_eta_seconds{run="a\"b",shard="3/10"} 10"#,
            r#"kyokumen_running{run="a\"b",shard="3/10"} 1"#,
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        metrics.write(&snapshot, &counts, false);
        assert!(fs::read_to_string(&path).unwrap().ends_with("shard=\"3/10\"} 0\n"));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }
}
