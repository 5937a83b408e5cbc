//! The run of the filter: from a plan to outputs under their final names, or none at all.
//!
//! The order of the steps is what makes the promises hold: everything written, everything on disk, the
//! balance checked, and only then the names.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::judge::{Decide, Judge, Saved};
use super::manifest::Manifest;
use super::memo::{Memo, Memoized};
use super::plan::Plan;
use super::progress::Progress;
use super::run::{Desk, Done, Job, RunError, run};
use super::triage;

/// Records that travel together. Few, because one hard position keeps a thread for seconds.
const BLOCK_RECORDS: u64 = 64;

/// Filters with the df-pn solver, equal positions once. Sets nothing under a final name unless all went well.
///
/// # Errors
/// [`RunError`]; whatever had been written is removed.
pub fn filter(
    plan: Plan,
    progress: &mut Progress,
    cancel: &AtomicBool,
) -> Result<Manifest, RunError> {
    let search = plan.settings.search.clone();
    let memo = Arc::new(Memo::new());
    let make_judge = move || Memoized::new(Judge::new(&search), Arc::clone(&memo));
    filter_with(plan, make_judge, progress, cancel)
}

/// Filters with judges of another making, one for each thread.
///
/// # Errors
/// [`RunError`]; whatever had been written is removed.
pub fn filter_with<J, F>(
    plan: Plan,
    make_judge: F,
    progress: &mut Progress,
    cancel: &AtomicBool,
) -> Result<Manifest, RunError>
where
    J: Decide + Send + 'static,
    F: Fn() -> J + Send + Sync + 'static,
{
    let started = Instant::now();
    let plan = Arc::new(plan);
    std::fs::create_dir_all(&plan.folder)
        .map_err(|source| RunError::Folder { folder: plan.folder.display().to_string(), source })?;
    for (path, index) in &plan.indexes {
        if let Err(error) = index.save(path) {
            tracing::warn!("cannot keep the index {}: {error}", path.display());
        }
    }
    let job = Job {
        parts: &plan.parts,
        outputs: &plan.outputs,
        threads: plan.settings.threads,
        block_records: BLOCK_RECORDS,
        first_number: plan.first_number,
        checksums: true,
        limit: None,
    };
    let judges = Arc::new(FreeJudges(Mutex::default()));
    let desk = desk(Arc::clone(&plan), make_judge, Arc::clone(&judges));
    let Done { counts, parts_read, finished } = run(&job, desk, |_, ()| Ok(()), progress, cancel)?;
    let (written, saved) = (finished.written(), judges.saved());
    let manifest = Manifest::new(&plan, &counts, parts_read, written, saved, started.elapsed());
    manifest.check_balance()?;
    finished.commit_with(&plan.manifest, &manifest.to_json())?;
    progress.finish(&counts);
    Ok(manifest)
}

/// Judges that judge nothing at the moment: as many as blocks were judged at once, once all are judged.
struct FreeJudges<J>(Mutex<Vec<J>>);

impl<J: Decide> FreeJudges<J> {
    fn lock(&self) -> MutexGuard<'_, Vec<J>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What all of them answered without a search.
    fn saved(&self) -> Saved {
        let mut saved = Saved::default();
        self.lock().iter().for_each(|judge| saved.add(judge.saved()));
        saved
    }
}

/// Sorts a block with a judge that is free, or a new one.
fn desk<J, F>(plan: Arc<Plan>, make_judge: F, free: Arc<FreeJudges<J>>) -> Desk<()>
where
    J: Decide + Send + 'static,
    F: Fn() -> J + Send + Sync + 'static,
{
    Arc::new(move |block, stop| {
        let judge = free.lock().pop();
        let mut judge = judge.unwrap_or_else(&make_judge);
        let sorted = triage::sort(&plan, block, &mut judge, stop);
        free.lock().push(judge);
        Some((sorted?, ()))
    })
}
