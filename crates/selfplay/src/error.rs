//! Errors of a run of games.

use kyokumen_network::NetworkError;
use kyokumen_search::TableError;
use thiserror::Error;

/// Why no more games can be played. All games yielded before are complete.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum GamesError {
    /// A device cannot evaluate.
    #[error("device {device} gives no evaluations")]
    Evaluation {
        /// Its number, from 0.
        device: usize,
        /// The cause.
        source: NetworkError,
    },
    /// An opening cannot be read.
    #[error("game {number} has no opening")]
    Opening {
        /// Number of the game.
        number: u64,
        /// The cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A player cannot play a game.
    #[error("game {number} cannot be played")]
    Player {
        /// Number of the game.
        number: u64,
        /// The cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The system cannot start a thread.
    #[error("cannot start a thread")]
    Thread(#[source] std::io::Error),
    /// All threads have ended, although no device reported an error and some games are not played. The cause is a
    /// device that reports a cancelled evaluation without a request to cancel.
    #[error("all threads have ended before the last game")]
    Ended,
    /// The memory for the table of a mate search cannot be allocated.
    #[error("cannot start a mate search")]
    Table(#[from] TableError),
}
