//! Evaluates positions by a USI engine, with one process per thread.
//!
//! An engine that ends or stops answering is restarted, and the same position is tried again.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::evaluator::{Evaluated, PositionEvaluator};
use super::usi_process::UsiProcess;
use super::usi_progress::SearchProgress;
use super::usi_score::{LastScore, shortened};
use crate::error::{Error, ErrorKind};
use crate::shogi::Position;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct EngineSettings {
    pub command: Vec<String>,
    pub options: Vec<(String, String)>,
    /// Nodes per position.
    pub nodes: u64,
    /// Maximum time for the engine to get ready or to make progress in its search.
    pub patience: Duration,
}

impl EngineSettings {
    /// Starts the engine and returns its manifest entry, including the name that it reports.
    pub(crate) fn entry(&self, cancel: &AtomicBool) -> Result<Map<String, Value>, Error> {
        let mut process = UsiProcess::start(&self.command, self.patience)?;
        let name = initialise(&mut process, cancel)?;
        process.quit();
        let options: Map<String, Value> = self
            .options
            .iter()
            .map(|(name, value)| (name.clone(), value.as_str().into()))
            .collect();
        let entry = json!({
            "engine": self.command.join(" "),
            "name": name.unwrap_or_default(),
            "options": options,
            "nodes": self.nodes,
            // The evaluation may depend on the engine's memory of earlier positions.
            "reproducible": false,
        });
        let Value::Object(entry) = entry else { unreachable!("the value is an object") };
        Ok(entry)
    }
}

/// Maximum number of tries for one position.
const TRIES: usize = 3;

/// Number of failures of one thread's engine that are always tolerated.
const FAILURES_TOLERATED: u64 = 10;

/// Number of failures per hundred positions that are tolerated in the long run.
const FAILURES_TOLERATED_PERCENT: u64 = 10;

/// Sends `usi`. Returns the name of the engine if it reports one.
fn initialise(process: &mut UsiProcess, cancel: &AtomicBool) -> Result<Option<String>, Error> {
    let mut name = None;
    process.request("usi", "usiok", cancel, |line| {
        if let Some(reported) = line.strip_prefix("id name ") {
            name = Some(reported.to_owned());
        }
    })?;
    Ok(name)
}

pub(crate) struct UsiEvaluator {
    settings: EngineSettings,
    process: Option<UsiProcess>,
    /// Number of positions passed to the engine.
    positions: u64,
    /// Number of failed tries that were repeated with a new process.
    failures: u64,
}

impl UsiEvaluator {
    /// Creates an evaluator. The engine is started for the first position.
    pub(crate) const fn new(settings: EngineSettings) -> Self {
        Self { settings, process: None, positions: 0, failures: 0 }
    }

    fn evaluate_once(
        &mut self,
        position: &Position,
        cancel: &AtomicBool,
    ) -> Result<Evaluated, Error> {
        let process = match &mut self.process {
            Some(process) => process,
            none => none.insert(start(&self.settings, cancel)?),
        };
        // Makes the engine forget earlier positions.
        process.send("usinewgame");
        process.send(&format!("position sfen {position}"));
        process.go(&format!("go nodes {}", self.settings.nodes))?;
        let (score, best_move) = search(process, self.settings.nodes, cancel)?;
        // A second `bestmove` arrives before `readyok`, so it is not mistaken for the answer to the next position.
        process.request("isready", "readyok", cancel, |_| {})?;
        let evaluated = score.finish(&best_move, position);
        evaluated.ok_or_else(|| {
            let best_move = shortened(&best_move);
            Error::evaluation(format!("the engine sent no score before `bestmove {best_move}`"))
        })
    }

    /// Whether the engine fails too often to be restarted.
    const fn is_unreliable(&self) -> bool {
        self.failures > FAILURES_TOLERATED
            && self.failures * 100 > self.positions * FAILURES_TOLERATED_PERCENT
    }

    fn evaluate_with_retries(
        &mut self,
        position: &Position,
        cancel: &AtomicBool,
    ) -> Result<Evaluated, Error> {
        let mut tries = 1;
        self.positions += 1;
        loop {
            let error = match self.evaluate_once(position, cancel) {
                Ok(evaluated) => return Ok(evaluated),
                Err(error) => error,
            };
            self.process = None;
            match error.kind() {
                ErrorKind::NotStarted | ErrorKind::Interrupted => return Err(error),
                // After a protocol violation, no answer of this engine can be trusted.
                kind if tries == TRIES || matches!(kind, ErrorKind::Protocol) => {
                    let times = if tries > 1 { format!("{tries} times ") } else { String::new() };
                    let message = format!("the engine failed {times}on {position}");
                    return Err(Error::evaluation(message).with_source(error));
                }
                _ => {
                    self.failures += 1;
                    if self.is_unreliable() {
                        let message = format!(
                            "the engine failed {} times on {} positions and is not restarted",
                            self.failures, self.positions
                        );
                        return Err(Error::evaluation(message).with_source(error));
                    }
                    tracing::warn!("{error}; restarting the engine");
                }
            }
            tries += 1;
        }
    }
}

impl Drop for UsiEvaluator {
    /// Ends the engine. An engine that failed or was cancelled has already been killed.
    fn drop(&mut self) {
        if let Some(process) = self.process.take() {
            process.quit();
        }
    }
}

/// Reads the lines of a search with a limit of `nodes` until the engine sends its best move.
fn search(
    process: &mut UsiProcess,
    nodes: u64,
    cancel: &AtomicBool,
) -> Result<(LastScore, String), Error> {
    let (mut score, mut progress) = (LastScore::default(), SearchProgress::new(nodes));
    let (mut wait, mut is_stopped) = (process.wait(cancel), false);
    loop {
        let line = process.line(&wait)?;
        let mut words = line.split_ascii_whitespace();
        match (words.next(), words.next()) {
            (Some("bestmove"), word) => return Ok((score, word.unwrap_or_default().to_owned())),
            (Some("info"), Some(word)) if word != "string" => {
                score.update(&line);
                let advances = progress.update(&line);
                if is_stopped {
                    continue;
                }
                is_stopped = progress.is_excessive();
                if is_stopped {
                    process.send("stop");
                }
                // A stopped engine gets one more timeout period.
                if advances || is_stopped {
                    wait = process.wait(cancel);
                }
            }
            _ => {}
        }
    }
}

/// Starts an engine and sets its options.
fn start(settings: &EngineSettings, cancel: &AtomicBool) -> Result<UsiProcess, Error> {
    let mut process = UsiProcess::start(&settings.command, settings.patience)?;
    initialise(&mut process, cancel)?;
    for (name, value) in &settings.options {
        process.send(&format!("setoption name {name} value {value}"));
    }
    process.request("isready", "readyok", cancel, |_| {})?;
    Ok(process)
}

impl PositionEvaluator for UsiEvaluator {
    fn evaluate(
        &mut self,
        positions: &[Position],
        cancel: &AtomicBool,
    ) -> Result<Vec<Evaluated>, Error> {
        positions.iter().map(|position| self.evaluate_with_retries(position, cancel)).collect()
    }
}
