//! Evaluates positions by a USI engine, with one process per thread.
//!
//! An engine that ends or stops answering is restarted, and the same position is tried again.

use std::sync::atomic::AtomicBool;

use super::evaluator::{Evaluated, PositionEvaluator, Score};
use crate::error::{Error, ErrorKind};
use crate::format::SearchedMoves;
use crate::shogi::Position;
use crate::usi::process::UsiProcess;
use crate::usi::score::{BestMove, EngineScore, Found};
use crate::usi::{EngineSettings, search};

/// Maximum number of tries for one position.
const TRIES: usize = 3;

/// Number of failures of one thread's engine that are always tolerated.
const FAILURES_TOLERATED: u64 = 10;

/// Number of failures per hundred positions that are tolerated in the long run.
const FAILURES_TOLERATED_PERCENT: u64 = 10;

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
            none => none.insert(self.settings.start(cancel)?),
        };
        // Makes the engine forget earlier positions.
        process.send("usinewgame");
        let text = format!("position sfen {position}");
        Ok(search(process, (&text, position), self.settings.limit, cancel)?.into())
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

impl From<Found> for Evaluated {
    fn from(found: Found) -> Self {
        let score = match found.score {
            EngineScore::Centipawns(eval_cp) => Score::Centipawns(eval_cp),
            EngineScore::Mate { wins, plies } => Score::Mate { wins, plies },
        };
        let (best_move, rejected_move) = match found.best_move {
            BestMove::Move(m) => (Some(m), None),
            BestMove::Resign | BestMove::Win => (None, None),
            BestMove::Illegal(text) => (None, Some(text)),
        };
        let searched = SearchedMoves { best_move, candidates: Vec::new() };
        Self { score, searched, rejected_move }
    }
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
