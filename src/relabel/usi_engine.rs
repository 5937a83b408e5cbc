//! Evaluations by an engine that speaks USI, one process a thread.
//!
//! An engine that dies or falls silent is started again, and asked about the same position.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::evaluator::{Evaluated, PositionEvaluator};
use super::evaluator_error::{EvaluatorError, TRIES};
use super::usi_process::UsiProcess;
use super::usi_score::LastScore;
use crate::shogi::Position;

/// An engine, and how it is asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct EngineSettings {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Names and values of its options.
    pub options: Vec<(String, String)>,
    /// Nodes a position.
    pub nodes: u64,
    /// How long it may be silent.
    pub patience: Duration,
}

/// Time to load what an engine loads.
const START_PATIENCE: Duration = Duration::from_mins(2);

impl EngineSettings {
    /// Starts the engine once, and returns what manifests say of it: with its name, which it tells.
    ///
    /// # Errors
    /// [`EvaluatorError`] if it does not answer.
    pub(crate) fn entry(&self, cancel: &AtomicBool) -> Result<Map<String, Value>, EvaluatorError> {
        let mut process = UsiProcess::start(&self.command)?;
        let name = greet(&mut process, START_PATIENCE.min(self.patience), cancel)?;
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

/// Says `usi`; the engine's name, if it says one. `None` also if `cancel` was set.
fn greet(
    process: &mut UsiProcess,
    patience: Duration,
    cancel: &AtomicBool,
) -> Result<Option<String>, EvaluatorError> {
    process.send("usi")?;
    let mut name = None;
    let deadline = Instant::now() + patience;
    while let Some(line) = process.line(deadline, cancel)? {
        if let Some(said) = line.strip_prefix("id name ") {
            name = Some(said.to_owned());
        }
        if line == "usiok" {
            break;
        }
    }
    Ok(name)
}

/// An engine that evaluates one position after the other.
pub(crate) struct UsiEvaluator {
    settings: EngineSettings,
    process: Option<UsiProcess>,
}

impl UsiEvaluator {
    /// The engine is started when it is first asked.
    pub(crate) const fn new(settings: EngineSettings) -> Self {
        Self { settings, process: None }
    }

    /// One position; `None` if `cancel` was set meanwhile.
    fn ask(
        &mut self,
        sfen: &str,
        cancel: &AtomicBool,
    ) -> Result<Option<Evaluated>, EvaluatorError> {
        let process = match &mut self.process {
            Some(process) => process,
            none => none.insert(start(&self.settings, cancel)?),
        };
        // An engine forgets with this what earlier positions told it.
        process.send("usinewgame")?;
        process.send(&format!("position sfen {sfen}"))?;
        process.send(&format!("go nodes {}", self.settings.nodes))?;
        let mut score = LastScore::default();
        loop {
            let deadline = Instant::now() + self.settings.patience;
            let Some(line) = process.line(deadline, cancel)? else { return Ok(None) };
            match line.strip_prefix("bestmove ") {
                None => score.take(&line),
                Some(rest) => {
                    let best_move = rest.split_ascii_whitespace().next().unwrap_or_default();
                    let evaluated = score.finish(best_move);
                    let no_score = || EvaluatorError::NoScore { best_move: best_move.to_owned() };
                    return evaluated.ok_or_else(no_score).map(Some);
                }
            }
        }
    }

    fn ask_again_and_again(
        &mut self,
        sfen: &str,
        cancel: &AtomicBool,
    ) -> Result<Option<Evaluated>, EvaluatorError> {
        let mut tries = 1;
        loop {
            match self.ask(sfen, cancel) {
                Err(error @ EvaluatorError::Start { .. }) => return Err(error),
                Err(error) if tries == TRIES => {
                    let (sfen, source) = (sfen.to_owned(), Box::new(error));
                    return Err(EvaluatorError::Position { sfen, source });
                }
                Err(error) => {
                    tracing::warn!("{error}; it is started again");
                    self.process = None;
                    tries += 1;
                }
                Ok(evaluated) => return Ok(evaluated),
            }
        }
    }
}

/// Starts an engine and brings it as far as it can be asked.
fn start(settings: &EngineSettings, cancel: &AtomicBool) -> Result<UsiProcess, EvaluatorError> {
    let mut process = UsiProcess::start(&settings.command)?;
    greet(&mut process, START_PATIENCE.min(settings.patience), cancel)?;
    for (name, value) in &settings.options {
        process.send(&format!("setoption name {name} value {value}"))?;
    }
    process.send("isready")?;
    let deadline = Instant::now() + START_PATIENCE.max(settings.patience);
    while process.line(deadline, cancel)?.is_some_and(|line| line != "readyok") {}
    Ok(process)
}

impl PositionEvaluator for UsiEvaluator {
    fn evaluate(
        &mut self,
        positions: &[Position],
        cancel: &AtomicBool,
    ) -> Result<Option<Vec<Evaluated>>, EvaluatorError> {
        let mut all = Vec::with_capacity(positions.len());
        for position in positions {
            if cancel.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let evaluated = self.ask_again_and_again(&position.to_string(), cancel);
            let Some(evaluated) = evaluated? else { return Ok(None) };
            all.push(evaluated);
        }
        Ok(Some(all))
    }
}
