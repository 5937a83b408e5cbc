//! How engines fail.

use std::io;

use thiserror::Error;

/// How often an engine is asked about a position.
pub(super) const TRIES: usize = 3;

/// Why an engine gives no evaluations.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EngineError {
    /// It cannot be started.
    #[error("cannot start the engine {program}")]
    Start {
        /// The program.
        program: String,
        /// What the system says.
        source: io::Error,
    },
    /// It has ended.
    #[error("the engine died ({status})")]
    Died {
        /// How.
        status: String,
    },
    /// It says nothing.
    #[error("the engine fell silent")]
    Silent,
    /// It does not say how good the position is.
    #[error("the engine said no score before `bestmove {best_move}`")]
    NoScore {
        /// What it said.
        best_move: String,
    },
    /// It fails whenever it is asked about a position.
    #[error("the engine failed {TRIES} times on {sfen}")]
    Position {
        /// The position.
        sfen: String,
        /// The last time.
        source: Box<EngineError>,
    },
}
