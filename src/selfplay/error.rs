//! Errors of self-play.

use std::error::Error;
use std::fmt;

use kyokumen_network::{EvaluationError, NetworkError};
use kyokumen_selfplay::GamesError;

use crate::format::EncodeError;
use crate::jobs::error::JobError;
use crate::mate::positions::RecordLocation;
use crate::records::account_file::ManifestError;
use crate::records::archive::ArchiveError;
use crate::records::plan_error::PlanError;
use crate::records::sink::SinkError;
use crate::records::source::SourceError;
use crate::search::TableError;
use crate::storage::lock::LockError;
use crate::storage::quantity::quantity;

/// Why self-play ended without outputs, or cannot begin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SelfPlayError {
    /// What ends any job: what is asked for cannot be done, or how far it came cannot be read or written down.
    #[error(transparent)]
    Job(#[from] JobError),
    /// A network cannot be loaded.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// The openings cannot be read.
    #[error(transparent)]
    Openings(#[from] ArchiveError),
    /// There is no opening.
    #[error("{openings} holds no record, and every game needs an opening")]
    NoOpening {
        /// The archive.
        openings: String,
    },
    /// The openings cannot be read to their end.
    #[error(transparent)]
    OpeningsSource(#[from] SourceError),
    /// An opening is no position in which a game can begin.
    #[error("{openings}, {location}")]
    BadOpening {
        /// The file.
        openings: String,
        /// Where it stands.
        location: RecordLocation,
        /// What is wrong with it.
        source: Box<dyn Error + Send + Sync>,
    },
    /// A network does not answer at all.
    #[error("the network {network} gives no evaluations")]
    Evaluation {
        /// The network.
        network: String,
        /// What happened.
        source: EvaluationError,
    },
    /// There is not enough memory for the table of the mate search in openings.
    #[error("cannot begin to look for mates in openings")]
    Table(#[from] TableError),
    /// The games of this shard are none.
    #[error("there are no games: shard {shard} of {} is empty", quantity(*games, "game"))]
    NoGames {
        /// The shard.
        shard: String,
        /// Games of all shards.
        games: u64,
    },
    /// An output cannot be written.
    #[error(transparent)]
    Sink(#[from] SinkError),
    /// A game cannot be written in the format.
    #[error("game {number} cannot be written")]
    Encode {
        /// The game.
        number: u64,
        /// Why.
        source: EncodeError,
    },
    /// The games cannot go on.
    #[error("the games cannot go on; {kept}")]
    Games {
        /// What is left for another process.
        kept: Kept,
        /// What happened.
        source: GamesError,
    },
    /// Somebody wished it to end.
    #[error("interrupted; {kept}")]
    Interrupted {
        /// What is left for another process.
        kept: Kept,
    },
}

/// What is left of a run that has not come to its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Kept {
    /// So many games, behind which another process goes on.
    Games(u64),
    /// Nothing: the output is one that cannot be gone on with.
    Nothing,
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Games(1) => f.write_str("1 finished game is kept, and --resume goes on"),
            Self::Games(games) => {
                write!(f, "{games} finished games are kept, and --resume goes on")
            }
            Self::Nothing => f.write_str("unfinished outputs were removed"),
        }
    }
}

impl SelfPlayError {
    /// Whether somebody wished it to end.
    pub const fn is_interruption(&self) -> bool {
        match self {
            Self::Interrupted { .. } => true,
            Self::Job(error) => error.is_interruption(),
            _ => false,
        }
    }

    /// Whether another command line would help, as opposed to another state of the disk.
    pub const fn is_usage(&self) -> bool {
        match self {
            Self::NoGames { .. } | Self::NoOpening { .. } => true,
            Self::Job(error) => error.is_usage(),
            _ => false,
        }
    }
}

/// Conversions that `?` needs for each.
macro_rules! from_errors_of_jobs {
    ($($source:ty),+) => {
        $(impl From<$source> for SelfPlayError {
            fn from(error: $source) -> Self {
                Self::Job(error.into())
            }
        })+
    };
}
from_errors_of_jobs!(LockError, ManifestError, PlanError);
