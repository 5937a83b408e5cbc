//! Errors of operations on archives.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::engine::error::{RunError, from_errors_of_runs};
use crate::records::account_file::ManifestError;
use crate::records::plan_error::PlanError;
use crate::records::position_set::SetFullError;

/// Why an operation ended without outputs.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OperationError {
    /// What is asked for cannot be done with these inputs and outputs.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The account of an earlier operation could not be read.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// The folder of the outputs could not be made.
    #[error("cannot create the folder {folder}")]
    Folder {
        /// The folder.
        folder: String,
        /// What the system says.
        source: io::Error,
    },
    /// The run over the records ended.
    #[error(transparent)]
    Run(#[from] RunError),
    /// More positions than can be remembered.
    #[error(
        "{full} of --memory; allow more, or use `kyokumen dedup`, which does not keep them in memory"
    )]
    TooManyPositions {
        /// How many there are, and the memory.
        full: SetFullError,
    },
    /// What does not fit into memory could not be kept on disk.
    #[error("cannot {verb} temporary files in {}; --tmp-dir says where they stand", folder.display())]
    Temporary {
        /// What was tried.
        verb: &'static str,
        /// The folder.
        folder: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

impl From<SetFullError> for OperationError {
    fn from(full: SetFullError) -> Self {
        Self::TooManyPositions { full }
    }
}

impl OperationError {
    /// Whether somebody wished it to end.
    pub const fn is_interruption(&self) -> bool {
        matches!(self, Self::Run(RunError::Interrupted))
    }

    /// Whether another command line would help, as opposed to another state of the disk.
    pub const fn is_usage(&self) -> bool {
        match self {
            Self::Plan(error) => error.is_usage(),
            _ => false,
        }
    }
}

from_errors_of_runs!(OperationError);
