//! Why there are no evaluations: how engines and networks fail.

use std::io;
use std::time::Duration;

#[cfg(feature = "network")]
use kyokumen_network::NetworkError;
use thiserror::Error;

/// Why there are no evaluations.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EvaluatorError {
    /// An engine cannot be started.
    #[error("cannot start the engine {program}")]
    Start {
        /// The program.
        program: String,
        /// What the system says.
        source: io::Error,
    },
    /// The engine has ended.
    #[error("the engine died ({status})")]
    Died {
        /// How.
        status: String,
    },
    /// The engine did not answer in time.
    #[error("no answer from `{command}` within {} s", patience.as_secs_f64())]
    Silent {
        /// The program with its arguments.
        command: String,
        /// How long the wait was.
        patience: Duration,
    },
    /// The engine violated the protocol.
    #[error("`{command}` sent {what}")]
    Nonsense {
        /// The program with its arguments.
        command: String,
        /// What it sent.
        what: String,
    },
    /// The evaluation was cancelled.
    #[error("the evaluation was interrupted")]
    Cancelled,
    /// The engine does not say how good the position is.
    #[error("the engine said no score before `bestmove {best_move}`")]
    NoScore {
        /// The beginning of the argument of `bestmove`.
        best_move: String,
    },
    /// The engine failed repeatedly on one position, or in a way that rules out another try.
    #[error("the engine failed {}on {sfen}", if *tries > 1 { format!("{tries} times ") } else { String::new() })]
    Position {
        /// The position.
        sfen: String,
        /// The number of tries.
        tries: usize,
        /// The last time.
        source: Box<EvaluatorError>,
    },
    /// The engine answers in the end, but has to be started again too often.
    #[error("the engine failed {failures} times on {asked} positions, so it is not started again")]
    Unreliable {
        /// How often it failed.
        failures: u64,
        /// The number of positions it was asked about.
        asked: u64,
        /// The last time.
        source: Box<EvaluatorError>,
    },
    /// A network cannot be loaded.
    #[cfg(feature = "network")]
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// There is not enough memory for the mate search table of a thread.
    #[cfg(feature = "network")]
    #[error("cannot begin to search")]
    Table(#[from] crate::search::TableError),
    /// A network does not answer.
    #[cfg(feature = "network")]
    #[error("the network {network} gives no evaluations")]
    Evaluation {
        /// Its name.
        network: String,
        /// Why.
        source: NetworkError,
    },
    /// What another evaluator says.
    #[error(transparent)]
    Other(Box<dyn std::error::Error + Send + Sync>),
}

impl EvaluatorError {
    /// Whether the evaluation was cancelled.
    pub const fn is_interruption(&self) -> bool {
        match self {
            Self::Cancelled => true,
            #[cfg(feature = "network")]
            Self::Network(NetworkError::Cancelled)
            | Self::Evaluation { source: NetworkError::Cancelled, .. } => true,
            _ => false,
        }
    }
}
