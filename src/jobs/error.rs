//! Errors of jobs: whatever ends them, from the plan to the last name.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use super::checkpoint::CheckpointError;
use super::previous_run::PreviousRunError;
use crate::engine::error::{RunError, from_errors_of_runs};
use crate::jobs::identity::IdentityDifference;
use crate::mate::judge::LimitError;
use crate::records::account_file::ManifestError;
use crate::records::plan_error::PlanError;
use crate::records::sink::SinkError;
use crate::storage::lock::LockError;

/// Why a job ended without outputs, or cannot begin.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum JobError {
    /// What is asked for cannot be done with these inputs and outputs.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A limit of the search is too large.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// What an earlier run found out cannot be used.
    #[error(transparent)]
    PreviousRun(#[from] PreviousRunError),
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
    /// Positions get no more evaluations.
    #[error("records cannot be evaluated")]
    Evaluation(#[source] Box<dyn std::error::Error + Send + Sync>),
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
            Self::PreviousRun(error) => error.is_usage(),
            _ => false,
        }
    }
}

from_errors_of_runs!(JobError);

/// Why outputs did not get to their store.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SendError {
    /// The system or the store refused.
    #[error(
        "cannot {verb} {}; what is done waits in {}, and the same command with --resume goes on", path.display(), folder.display()
    )]
    Io {
        /// What was tried.
        verb: &'static str,
        /// The file or the object.
        path: PathBuf,
        /// Where the outputs are on this machine.
        folder: PathBuf,
        /// What the system or the store says.
        source: io::Error,
    },
    /// The store refused before anything was done.
    #[error("cannot {verb} {}", path.display())]
    Look {
        /// What was tried.
        verb: &'static str,
        /// The object.
        path: PathBuf,
        /// What the store says.
        source: io::Error,
    },
    /// Somebody wrote to an output before it was sent.
    #[error("{} has another SHA-256 than its manifest says; start afresh with --force", path.display())]
    Checksum {
        /// The output.
        path: PathBuf,
    },
    /// The user or the system ended the process.
    #[error("interrupted while outputs were sent; the same command with --resume sends them")]
    Interrupted,
}

/// Why a run cannot go on where another stood.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StartError {
    /// That was another run.
    #[error(
        "{} is of a run in which {difference}; go on as it began, or start afresh with --force",
        path.display()
    )]
    Different {
        /// The checkpoint or the manifest.
        path: PathBuf,
        /// In what.
        difference: Box<IdentityDifference>,
    },
    /// Outputs stand there of which nobody knows how they were made.
    #[error("{} exists without a manifest; replace it with --force", path.display())]
    Unaccounted {
        /// The output.
        path: PathBuf,
    },
    /// The manifest speaks of an output that is not there or has another size.
    #[error(
        "{} is not as {} says; start afresh with --force", path.display(), manifest.display()
    )]
    NotAsSaid {
        /// The output.
        path: PathBuf,
        /// The manifest.
        manifest: PathBuf,
    },
    /// The manifest speaks of other records of an input.
    #[error(
        "{} speaks of the records from {from} to {to} of {file}, which are not those of this run; \
         start afresh with --force", manifest.display()
    )]
    OtherRange {
        /// The manifest.
        manifest: PathBuf,
        /// The input.
        file: String,
        /// The first record it speaks of.
        from: u64,
        /// The record behind the last one.
        to: u64,
    },
    /// The manifest speaks of more or fewer records.
    #[error(
        "{} speaks of {found} records, and there are {records}; start afresh with --force",
        manifest.display()
    )]
    OtherRecords {
        /// The manifest.
        manifest: PathBuf,
        /// Records of the run.
        records: u64,
        /// Records of the manifest.
        found: u64,
    },
}
