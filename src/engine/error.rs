//! Errors of runs over blocks.

use std::io;

use thiserror::Error;

use crate::records::bad_record::BadRecord;
use crate::records::counts::ImbalanceError;
use crate::records::sink::SinkError;
use crate::records::source::SourceError;
use crate::search::TableError;
use crate::storage::caught_panic::CaughtPanic;

/// What ends a run over blocks ends what the run is part of: conversions that `?` needs for each.
macro_rules! from_errors_of_runs {
    ($error:ty) => {
        $crate::engine::error::from_errors_of_runs!(
            $error: $crate::records::counts::ImbalanceError,
            $crate::records::sink::SinkError,
            $crate::records::source::SourceError
        );
    };
    ($error:ty: $($source:ty),+) => {
        $(impl From<$source> for $error {
            fn from(error: $source) -> Self {
                Self::Run(error.into())
            }
        })+
    };
}
pub(crate) use from_errors_of_runs;

/// Why a run over blocks ended.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// The caller cancelled it.
    #[error("interrupted; unfinished outputs were removed")]
    Interrupted,
    /// A bad record, when the first one is to end the run.
    #[error(transparent)]
    BadRecord(BadRecord),
    /// An input could not be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// An output could not be written.
    #[error(transparent)]
    Sink(#[from] SinkError),
    /// There is not enough memory for the search table of a thread.
    #[error("cannot begin to search")]
    Table(#[from] TableError),
    /// Threads could not be started.
    #[error("cannot start threads")]
    Threads(#[source] io::Error),
    /// A fault of this program.
    #[error("internal error at one of the records from number {first_index} of {file}: {panic}")]
    Panicked {
        /// The panic message and its location.
        panic: CaughtPanic,
        /// The input.
        file: String,
        /// First record of the block.
        first_index: u64,
    },
    /// A fault of this program.
    #[error("internal error while reading: {0}")]
    ReaderPanicked(CaughtPanic),
    /// A fault of this program.
    #[error("internal error")]
    Imbalance(#[from] ImbalanceError),
}
