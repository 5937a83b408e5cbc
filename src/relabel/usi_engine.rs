//! Evaluations by an engine that speaks USI, one process a thread.
//!
//! An engine that dies or falls silent is started again, and asked about the same position.

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
    /// How long the engine may take to get ready, or to make progress in its search.
    pub patience: Duration,
}

impl EngineSettings {
    /// Starts the engine once and returns its manifest entry, with the name that it reports.
    pub(crate) fn entry(&self, cancel: &AtomicBool) -> Result<Map<String, Value>, Error> {
        let mut process = UsiProcess::start(&self.command, self.patience)?;
        let name = greet(&mut process, cancel)?;
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
            // What an engine remembers of positions before is its own affair.
            "reproducible": false,
        });
        let Value::Object(entry) = entry else { unreachable!("an object was written") };
        Ok(entry)
    }
}

/// Maximum number of tries for one position.
const TRIES: usize = 3;

/// The failures of one thread's engine that are always tolerated.
const FAILURES_TOLERATED: u64 = 10;

/// The failures that are tolerated in the long run, per hundred positions.
const FAILURES_TOLERATED_PERCENT: u64 = 10;

/// Sends `usi`. Returns the engine's name, if it gives one.
fn greet(process: &mut UsiProcess, cancel: &AtomicBool) -> Result<Option<String>, Error> {
    let mut name = None;
    process.ask("usi", "usiok", cancel, |line| {
        if let Some(said) = line.strip_prefix("id name ") {
            name = Some(said.to_owned());
        }
    })?;
    Ok(name)
}

pub(crate) struct UsiEvaluator {
    settings: EngineSettings,
    process: Option<UsiProcess>,
    asked: u64,
    /// How often the engine was given up.
    failures: u64,
}

impl UsiEvaluator {
    /// The engine is started when it is first asked.
    pub(crate) const fn new(settings: EngineSettings) -> Self {
        Self { settings, process: None, asked: 0, failures: 0 }
    }

    fn ask(&mut self, position: &Position, cancel: &AtomicBool) -> Result<Evaluated, Error> {
        let process = match &mut self.process {
            Some(process) => process,
            none => none.insert(start(&self.settings, cancel)?),
        };
        // An engine forgets with this what earlier positions told it.
        process.say("usinewgame");
        process.say(&format!("position sfen {position}"));
        process.go(&format!("go nodes {}", self.settings.nodes))?;
        let (score, best_move) = search(process, self.settings.nodes, cancel)?;
        // A second `bestmove` arrives before `readyok`, and so is not taken for the answer to the next position.
        process.ask("isready", "readyok", cancel, |_| {})?;
        let evaluated = score.finish(&best_move, position);
        evaluated.ok_or_else(|| {
            let best_move = shortened(&best_move);
            Error::evaluation(format!("the engine said no score before `bestmove {best_move}`"))
        })
    }

    /// Whether the engine fails too often to be restarted.
    const fn is_unreliable(&self) -> bool {
        self.failures > FAILURES_TOLERATED
            && self.failures * 100 > self.asked * FAILURES_TOLERATED_PERCENT
    }

    fn ask_again_and_again(
        &mut self,
        position: &Position,
        cancel: &AtomicBool,
    ) -> Result<Evaluated, Error> {
        let mut tries = 1;
        self.asked += 1;
        loop {
            let error = match self.ask(position, cancel) {
                Ok(evaluated) => return Ok(evaluated),
                Err(error) => error,
            };
            self.process = None;
            match error.kind() {
                ErrorKind::NotStarted | ErrorKind::Interrupted => return Err(error),
                // After a protocol violation no other answer of this engine can be trusted.
                kind if tries == TRIES || matches!(kind, ErrorKind::Protocol) => {
                    let times = if tries > 1 { format!("{tries} times ") } else { String::new() };
                    let message = format!("the engine failed {times}on {position}");
                    return Err(Error::evaluation(message).with_source(error));
                }
                _ => {
                    self.failures += 1;
                    if self.is_unreliable() {
                        let message = format!(
                            "the engine failed {} times on {} positions, so it is not started again",
                            self.failures, self.asked
                        );
                        return Err(Error::evaluation(message).with_source(error));
                    }
                    tracing::warn!("{error}; it is started again");
                }
            }
            tries += 1;
        }
    }
}

impl Drop for UsiEvaluator {
    /// An engine that failed, or whose search was cancelled, is gone already.
    fn drop(&mut self) {
        if let Some(process) = self.process.take() {
            process.quit();
        }
    }
}

/// Receives the lines of a search limited to `nodes`, until the engine sends its best move.
fn search(
    process: &mut UsiProcess,
    nodes: u64,
    cancel: &AtomicBool,
) -> Result<(LastScore, String), Error> {
    let (mut score, mut progress) = (LastScore::default(), SearchProgress::of_search(nodes));
    let (mut wait, mut is_stopped) = (process.wait(cancel), false);
    loop {
        let line = process.line(&wait)?;
        let mut words = line.split_ascii_whitespace();
        match (words.next(), words.next()) {
            (Some("bestmove"), word) => return Ok((score, word.unwrap_or_default().to_owned())),
            (Some("info"), Some(word)) if word != "string" => {
                score.take(&line);
                let advances = progress.take(&line);
                if is_stopped {
                    continue;
                }
                is_stopped = progress.is_excessive();
                if is_stopped {
                    process.say("stop");
                }
                // An engine that was stopped gets one more wait.
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
    greet(&mut process, cancel)?;
    for (name, value) in &settings.options {
        process.say(&format!("setoption name {name} value {value}"));
    }
    process.ask("isready", "readyok", cancel, |_| {})?;
    Ok(process)
}

impl PositionEvaluator for UsiEvaluator {
    fn evaluate(
        &mut self,
        positions: &[Position],
        cancel: &AtomicBool,
    ) -> Result<Vec<Evaluated>, Error> {
        positions.iter().map(|position| self.ask_again_and_again(position, cancel)).collect()
    }
}
