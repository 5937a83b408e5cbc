//! Progress of a run for Prometheus: in a file for the textfile collector of the node exporter, or over HTTP.
//!
//! The text format: <https://prometheus.io/docs/instrumenting/exposition_formats/>.

use std::fmt::{self, Write as _};
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::metrics_server::MetricsServer;
use crate::error::{Error, ErrorKind};
use crate::records::sink::partial_path;
use crate::storage::{own_files, platform};

/// Time between two updates of the file.
const PAUSE: Duration = Duration::from_secs(5);

/// Where the metrics of a run are published.
#[derive(Clone, Debug, Default)]
pub struct MetricsTargets {
    /// A file that is replaced every five seconds.
    pub file: Option<PathBuf>,
    /// The address of an HTTP server. Anyone who can reach it can read the metrics.
    pub listen: Option<SocketAddr>,
}

/// The metrics of a run.
#[derive(Debug)]
pub(crate) struct Metrics {
    path: Option<PathBuf>,
    server: Option<MetricsServer>,
    run: String,
    shard: Option<String>,
    written: Option<Instant>,
}

impl Metrics {
    /// Starts the server, if there is one. `None` if there are no targets.
    ///
    /// # Errors
    /// If the address cannot be used.
    pub(crate) fn start(
        targets: MetricsTargets,
        run: &str,
        shard: Option<&str>,
    ) -> Result<Option<Self>, Error> {
        let MetricsTargets { file: path, listen } = targets;
        let server = listen.map(|address| {
            MetricsServer::start(address).map_err(|source| {
                let message =
                    format!("cannot serve metrics at {address}; choose another address or port");
                Error::new(ErrorKind::Io, message).with_source(source)
            })
        });
        let server = server.transpose()?;
        if path.is_none() && server.is_none() {
            return Ok(None);
        }
        let (run, shard) = (run.to_owned(), shard.map(str::to_owned));
        Ok(Some(Self { path, server, run, shard, written: None }))
    }

    /// Whether the metrics are due for an update.
    pub(crate) fn is_due(&self) -> bool {
        self.written.is_none_or(|written| written.elapsed() >= PAUSE)
    }

    /// Replaces the file and the served text. A pipe or a device gets the text instead. A failure does not end the run;
    /// the first one is logged.
    pub(crate) fn write(&mut self, is_running: bool, add: impl FnOnce(&mut MetricsText)) {
        let mut text = MetricsText::new(&self.run, self.shard.as_deref());
        add(&mut text);
        let is_running = if is_running { 1.0 } else { 0.0 };
        text.gauge("running", "1 while it runs, 0 afterwards.", is_running);
        let is_first = self.written.replace(Instant::now()).is_none();
        if let Some(path) = &self.path
            && let Err(error) = replace(path, &text.text)
            && is_first
        {
            tracing::warn!("cannot write {}: {error}", path.display());
        }
        if let Some(server) = &self.server {
            server.set(text.text);
        }
    }
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    if platform::is_pipe(path) {
        return platform::open_sequential_nonblocking(path)?.write_all(text.as_bytes());
    }
    let partial = partial_path(path);
    own_files::replace(&partial, text.as_bytes())?;
    platform::rename(&partial, path)
}

/// The text of a metrics file. All names begin with `kyokumen_`.
pub(crate) struct MetricsText {
    /// Labels common to all values, as they are written between the braces.
    labels: String,
    text: String,
}

impl MetricsText {
    pub(crate) fn new(run: &str, shard: Option<&str>) -> Self {
        let shard = shard.map_or(String::new(), |shard| format!(",shard={}", quoted(shard)));
        Self { labels: format!("run={}{shard}", quoted(run)), text: String::new() }
    }

    /// Adds a counter, whose value never decreases.
    pub(crate) fn counter(&mut self, name: &str, help: &str, value: u64) {
        self.describe(name, "counter", help);
        self.value(name, "", value as f64);
    }

    /// Adds counters that differ in one label.
    pub(crate) fn counters(&mut self, name: &str, help: &str, label: &str, values: &[(&str, u64)]) {
        self.describe(name, "counter", help);
        for (word, value) in values {
            self.value(name, &format!(",{label}={}", quoted(word)), *value as f64);
        }
    }

    /// Adds a gauge, whose value may decrease.
    pub(crate) fn gauge(&mut self, name: &str, help: &str, value: f64) {
        self.describe(name, "gauge", help);
        self.value(name, "", value);
    }

    fn describe(&mut self, name: &str, kind: &str, help: &str) {
        let (help, kind) =
            (format!("HELP kyokumen_{name} {help}"), format!("TYPE kyokumen_{name} {kind}"));
        let _ = writeln!(self.text, "# {help}\n# {kind}");
    }

    fn value(&mut self, name: &str, more: &str, value: f64) {
        let labels = &self.labels;
        let _ = writeln!(self.text, "kyokumen_{name}{{{labels}{more}}} {value}");
    }
}

impl fmt::Display for MetricsText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A label value in quotes, escaped.
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
        let targets = MetricsTargets { file: Some(path.clone()), listen: None };
        let mut metrics = Metrics::start(targets, "a\"b", None).unwrap().unwrap();
        assert!(metrics.is_due());
        metrics.write(true, |text| text.counter("games_total", "Games.", 3));
        assert!(!metrics.is_due());
        let text = fs::read_to_string(&path).unwrap();
        let expected = r#"# HELP kyokumen_games_total Games.
# TYPE kyokumen_games_total counter
kyokumen_games_total{run="a\"b"} 3
# HELP kyokumen_running 1 while it runs, 0 afterwards.
# TYPE kyokumen_running gauge
kyokumen_running{run="a\"b"} 1
"#;
        assert_eq!(text, expected);
        metrics.write(false, |_| {});
        assert!(fs::read_to_string(&path).unwrap().ends_with("} 0\n"));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }
}
