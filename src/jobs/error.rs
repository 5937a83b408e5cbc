//! Errors of jobs: whatever ends them, from the plan to the last name.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use super::previous_run::PreviousRunError;
use super::shard_error::ShardError;
use crate::engine::error::{RunError, from_errors_of_runs};
use crate::engine::messages::told;
use crate::jobs::identity::IdentityDifference;
use crate::mate::judge::LimitError;
use crate::records::account_file::{MANIFEST_SUFFIX, ManifestError};
use crate::records::format_name::FormatName;
use crate::records::plan_error::PlanError;
use crate::records::sink::SinkError;
use crate::storage::lock::LockError;
use crate::storage::quantity::quantity;
use crate::storage::table::TableFormat;

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
    /// The manifest of an earlier run could not be read.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// Another process writes the outputs.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The run over the records ended.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The caller cancelled it, and it can be resumed.
    #[error(
        "interrupted after {}; the same command with --resume goes on from there", quantity(*records, "record")
    )]
    Suspended {
        /// Records that were dealt with.
        records: u64,
    },
    /// All was written, and another process can go on.
    #[error("the outputs did not get their names; the same command with --resume goes on")]
    Unnamed(#[source] SinkError),
    /// Positions get no more evaluations.
    #[error("records cannot be evaluated")]
    Evaluation(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The system or the store refused something that is not of the records.
    #[error("cannot {verb} {}", path.display())]
    Io {
        /// What was tried.
        verb: &'static str,
        /// The file, the folder or the object.
        path: PathBuf,
        /// What the system or the store says.
        source: io::Error,
    },
    /// A checkpoint is not what was written.
    #[error(
        "{} is damaged: {why}; its run cannot be resumed, start afresh with --force",
        path.display()
    )]
    DamagedCheckpoint {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// What is to be gone on with is of another run.
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
        "{} speaks of {}, and there are {records}; start afresh with --force",
        manifest.display(),
        quantity(*found, "record")
    )]
    OtherRecords {
        /// The manifest.
        manifest: PathBuf,
        /// Records of the run.
        records: u64,
        /// Records of the manifest.
        found: u64,
    },
    /// An output did not get to its store.
    #[error(
        "cannot {verb} {}; what is done waits in {}, and the same command with --resume goes on", path.display(), folder.display()
    )]
    Unsent {
        /// What was tried.
        verb: &'static str,
        /// The file or the object.
        path: PathBuf,
        /// Where the outputs are on this machine.
        folder: PathBuf,
        /// What the system or the store says.
        source: io::Error,
    },
    /// Somebody wrote to an output before it was sent.
    #[error("{} has another SHA-256 than its manifest says; start afresh with --force", path.display())]
    ChangedOutput {
        /// The output.
        path: PathBuf,
    },
    /// The user or the system ended the process before all was in its store.
    #[error("interrupted while outputs were sent; the same command with --resume sends them")]
    SendingInterrupted,
    /// There is nothing to join.
    #[error("there is no manifest of a shard in {}", folder.display())]
    NoShards {
        /// The folder.
        folder: PathBuf,
    },
    /// The shards are of several runs.
    #[error("there are shards of several runs in {}: {names}; choose one with --name", folder.display())]
    SeveralRuns {
        /// The folder.
        folder: PathBuf,
        /// The runs.
        names: String,
    },
    /// A name that is no manifest's.
    #[error("{} is no manifest: its name does not end with {MANIFEST_SUFFIX}", path.display())]
    NoManifest {
        /// The file.
        path: PathBuf,
    },
    /// Shards are missing or different.
    #[error("the shards in {} cannot be joined:{}", folder.display(), list(problems))]
    Shards {
        /// The folder.
        folder: PathBuf,
        /// All that is.
        problems: Vec<ShardError>,
    },
    /// The run has no output of the stream that is to be joined.
    #[error("the run has no output of this kind: it was made with other settings")]
    NoStream,
    /// Files of columns say at their end where everything is.
    #[error(
        "the shards are {format}: a file of columns ends with a list of them, and cannot be joined by its bytes; tools that read such files read several as one table"
    )]
    Columns {
        /// What they are.
        format: TableFormat,
    },
    /// The name of the output says another format or compression than the shards have.
    #[error("the shards are {shards}, the name of {} says {output_format}; join them as they are, and convert the file", output.display())]
    OtherFormat {
        /// Format of the shards.
        shards: FormatName,
        /// The output.
        output: PathBuf,
        /// What its name says.
        output_format: FormatName,
    },
}

/// Each in a line of its own.
fn list(problems: &[ShardError]) -> String {
    told(problems).iter().fold(String::new(), |list, problem| format!("{list}\n  {problem}"))
}

impl JobError {
    /// Whether somebody wished it to end.
    pub const fn is_interruption(&self) -> bool {
        matches!(
            self,
            Self::Run(RunError::Interrupted)
                | Self::Suspended { .. }
                | Self::Lock(LockError::Interrupted)
                | Self::SendingInterrupted
        )
    }

    /// Whether another command line would help, as opposed to another state of the disk.
    pub const fn is_usage(&self) -> bool {
        match self {
            Self::Limit(_)
            | Self::Different { .. }
            | Self::Unaccounted { .. }
            | Self::NotAsSaid { .. }
            | Self::OtherRange { .. }
            | Self::OtherRecords { .. }
            | Self::NoShards { .. }
            | Self::SeveralRuns { .. }
            | Self::NoManifest { .. }
            | Self::NoStream
            | Self::Columns { .. }
            | Self::OtherFormat { .. } => true,
            Self::Plan(error) => error.is_usage(),
            Self::PreviousRun(error) => error.is_usage(),
            _ => false,
        }
    }
}

from_errors_of_runs!(JobError);
