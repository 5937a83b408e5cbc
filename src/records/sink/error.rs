//! What can go wrong with an output.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why an output could not be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SinkError {
    /// Another process is writing it.
    #[error("{} is being written by another process", path.display())]
    Busy {
        /// The partial file.
        path: PathBuf,
    },
    /// Somebody else wrote to it, or it was cut off.
    #[error("{} is not as the interrupted run left it; start afresh with --force", path.display())]
    NotAsLeft {
        /// The partial file.
        path: PathBuf,
    },
    /// The caller wanted it.
    #[error("interrupted")]
    Interrupted,
    /// The system refused.
    #[error("cannot {verb} {}", path.display())]
    Io {
        /// What was tried.
        verb: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

pub(crate) fn io_error(verb: &'static str, path: &Path, source: io::Error) -> SinkError {
    SinkError::Io { verb, path: path.to_owned(), source }
}
