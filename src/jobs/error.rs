//! Errors of jobs: whatever ends them, from the plan to the last name.

use std::io;

use thiserror::Error;

use super::checkpoint::CheckpointError;
use super::first_pass::FirstPassError;
use super::staging::SendError;
use super::start::StartError;
use crate::engine::error::RunError;
use crate::mate::judge::LimitError;
use crate::records::account_file::ManifestError;
use crate::records::counts::Imbalance;
use crate::records::plan_error::PlanError;
use crate::records::sink::SinkError;
use crate::records::source::SourceError;
use crate::storage::lock::LockError;

/// Why a job ended without outputs, or cannot begin.
#[derive(Debug, Error)]
pub enum JobError {
    /// What is asked for cannot be done with these inputs and outputs.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A limit of the search is too large.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// What an earlier run found out cannot be used.
    #[error(transparent)]
    FirstPass(#[from] FirstPassError),
    /// It cannot begin as it was asked to.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The manifest of an earlier run could not be read.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// Another process writes the outputs.
    #[error(transparent)]
    Lock(#[from] LockError),
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
    /// The caller cancelled it, and it can be resumed.
    #[error(
        "interrupted after {records} records; the same command with --resume goes on from there"
    )]
    Suspended {
        /// Records that were dealt with.
        records: u64,
    },
    /// How far the run has come could not be written down.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// All was written, and another process can go on.
    #[error("the outputs did not get their names; the same command with --resume goes on")]
    Unnamed(#[source] SinkError),
    /// An output did not get to its store.
    #[error(transparent)]
    Send(#[from] SendError),
}

impl JobError {
    /// Whether somebody wished it to end.
    pub const fn is_interruption(&self) -> bool {
        matches!(
            self,
            Self::Run(RunError::Interrupted)
                | Self::Suspended { .. }
                | Self::Lock(LockError::Interrupted)
                | Self::Send(SendError::Interrupted)
        )
    }

    /// Whether another command line would help, as opposed to another state of the disk.
    pub const fn is_usage(&self) -> bool {
        match self {
            Self::Start(_) | Self::Limit(_) => true,
            Self::Plan(error) => error.is_usage(),
            Self::FirstPass(error) => error.is_usage(),
            _ => false,
        }
    }
}

impl From<SourceError> for JobError {
    fn from(error: SourceError) -> Self {
        Self::Run(error.into())
    }
}

impl From<SinkError> for JobError {
    fn from(error: SinkError) -> Self {
        Self::Run(error.into())
    }
}

impl From<Imbalance> for JobError {
    fn from(error: Imbalance) -> Self {
        Self::Run(error.into())
    }
}
