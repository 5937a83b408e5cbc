//! The run of the filter: from a plan to outputs under their final names, or none at all.
//!
//! The order of the steps is what makes the promises hold: everything written, everything on disk, the
//! balance checked, and only then the names.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use thiserror::Error;

use super::checkpoint::Checkpoint;
use super::counts::Imbalance;
use super::judge::{Decide, Judge};
use super::manifest::Manifest;
use super::plan::Plan;
use super::progress::Progress;
use super::sink::{SinkError, Sinks};
use super::source::SourceError;
use super::stream::Stream;
use super::triage::{BadRecord, Sorted};
use super::work::{Crew, Step};

/// Why a run ended without outputs.
#[derive(Debug, Error)]
pub enum FilterError {
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
    /// The folder of the outputs could not be made.
    #[error("cannot create the folder {folder}")]
    Folder {
        /// The folder.
        folder: String,
        /// What the system says.
        source: io::Error,
    },
    /// Threads could not be started.
    #[error("cannot start threads")]
    Threads(#[source] io::Error),
    /// The pool of threads could not be started.
    #[error("cannot start threads")]
    Pool(#[from] rayon::ThreadPoolBuildError),
    /// A fault of this program.
    #[error("internal error at one of the records from number {first_index} of {file}")]
    Panicked {
        /// The input.
        file: String,
        /// First record of the block.
        first_index: u64,
    },
    /// A fault of this program.
    #[error("internal error")]
    Imbalance(#[from] Imbalance),
}

/// Filters with the df-pn solver. Sets nothing under a final name unless all went well.
///
/// # Errors
/// [`FilterError`]; whatever had been written is removed.
pub fn filter(
    plan: Plan,
    progress: &mut Progress,
    cancel: &AtomicBool,
) -> Result<Manifest, FilterError> {
    let search = plan.settings.search.clone();
    filter_with(plan, move || Judge::new(&search), progress, cancel)
}

/// Filters with judges of another making, one for each thread.
///
/// # Errors
/// [`FilterError`]; whatever had been written is removed.
pub fn filter_with<J, F>(
    plan: Plan,
    make_judge: F,
    progress: &mut Progress,
    cancel: &AtomicBool,
) -> Result<Manifest, FilterError>
where
    J: Decide + Send + 'static,
    F: Fn() -> J + Send + Sync + 'static,
{
    let started = Instant::now();
    let plan = Arc::new(plan);
    std::fs::create_dir_all(&plan.folder).map_err(|source| FilterError::Folder {
        folder: plan.folder.display().to_string(),
        source,
    })?;
    let mut sinks = Sinks::create(&plan.outputs)?;
    let mut checkpoint = Checkpoint::default();
    let mut crew = Crew::start(&plan, make_judge)?;
    loop {
        if cancel.load(Ordering::Relaxed) {
            return Err(FilterError::Interrupted);
        }
        match crew.step(&plan)? {
            Step::Sorted(sorted) => {
                write(&mut sinks, *sorted, &mut checkpoint)?;
                progress.update(&checkpoint.counts);
            }
            Step::Waiting => progress.update(&checkpoint.counts),
            Step::End => break,
        }
    }
    let parts_read = crew.into_parts_read();
    let finished = sinks.finish()?;
    let manifest =
        Manifest::new(&plan, &checkpoint.counts, parts_read, finished.written(), started.elapsed());
    manifest.check_balance()?;
    if cancel.load(Ordering::Relaxed) {
        return Err(FilterError::Interrupted);
    }
    finished.commit(&plan.manifest, &manifest.to_json())?;
    progress.finish(&checkpoint.counts);
    Ok(manifest)
}

fn write(
    sinks: &mut Sinks,
    sorted: Sorted,
    checkpoint: &mut Checkpoint,
) -> Result<(), FilterError> {
    for stream in Stream::ALL {
        sinks.write(stream, sorted.batch(stream))?;
    }
    checkpoint.advance(&sorted.counts);
    match sorted.stopped_by {
        Some(bad) => Err(FilterError::BadRecord(bad)),
        None => Ok(()),
    }
}
