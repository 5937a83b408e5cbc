//! Writes checkpoints of a run at intervals and renews its lock.

use std::cell::Cell;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::checkpoint::{Checkpoint, CheckpointContent};
use super::identity::Identity;
use crate::engine::error::RunError;
use crate::engine::run::CheckpointHooks;
use crate::jobs::error::JobError;
use crate::mate::judge::MemoHits;
use crate::records::resume_point::ResumePoint;
use crate::records::sink::{OutputState, Sinks, partial_path};
use crate::storage::lock::Lock;
use crate::storage::platform;

/// What is to be kept of a run, and where.
pub(crate) struct Checkpointer {
    /// The lock on the outputs; held until the checkpointer is dropped.
    pub(crate) lock: Lock,
    /// The file; none for a run that cannot be resumed.
    pub(crate) path: Option<PathBuf>,
    /// Time between two checkpoints.
    pub(crate) every: Duration,
    /// What the run is.
    pub(crate) identity: Identity,
    /// Records of the whole run, where that is known.
    pub(crate) records: Option<u64>,
    /// What this process was saved so far.
    pub(crate) saved: Rc<Cell<MemoHits>>,
    /// Where the run goes on, if it does.
    pub(crate) resumed: Option<Checkpoint>,
    pub(crate) started: Instant,
    pub(crate) last: Instant,
}

impl CheckpointHooks for Checkpointer {
    type Error = JobError;

    fn resumed(&self) -> Option<(&ResumePoint, &[OutputState])> {
        let resumed = self.resumed.as_ref().filter(|resumed| !resumed.is_beginning())?;
        Some((&resumed.place, &resumed.outputs))
    }

    /// Usually does nothing.
    fn between_blocks(&mut self, sinks: &mut Sinks, place: &ResumePoint) -> Result<(), JobError> {
        self.lock.heartbeat();
        if self.last.elapsed() < self.every {
            return Ok(());
        }
        self.save(sinks, place).map(drop)
    }

    fn heartbeat(&mut self) {
        self.lock.heartbeat();
    }

    fn interrupted(
        &mut self,
        sinks: &mut Sinks,
        place: &ResumePoint,
    ) -> Result<JobError, JobError> {
        Ok(if self.save(sinks, place)? {
            JobError::Suspended { records: place.counts.input }
        } else {
            RunError::Interrupted.into()
        })
    }
}

impl Checkpointer {
    /// Brings everything to disk, the checkpoint last. Whether there is one.
    fn save(&mut self, sinks: &mut Sinks, place: &ResumePoint) -> Result<bool, JobError> {
        // Without a finished block there is nothing to save.
        let Some(path) = self.path.as_ref().filter(|_| place.blocks > 0) else { return Ok(false) };
        let checkpoint = Checkpoint {
            identity: self.identity.clone(),
            place: place.clone(),
            outputs: sinks.sync()?,
            records: self.records,
            elapsed_s: self.elapsed().as_secs_f64(),
            saved: self.saved(),
            resumed_from: self.resumed_from(),
            replaces: self.resumed.as_ref().map_or(Vec::new(), |resumed| resumed.replaces.clone()),
            written_unix_s: platform::now_unix_s(),
        };
        let written = checkpoint.write(path);
        // It may have its name although that could not be brought to disk, and then it needs its files.
        if written.is_ok() || path.exists() {
            sinks.keep();
        }
        written?;
        tracing::debug!("checkpoint behind {} records: {}", place.counts.input, path.display());
        self.last = Instant::now();
        Ok(true)
    }

    /// How long the run took so far, in all its processes.
    pub(crate) fn elapsed(&self) -> Duration {
        let before = self.resumed.as_ref().map_or(0.0, |resumed| resumed.elapsed_s);
        self.started.elapsed() + Duration::try_from_secs_f64(before).unwrap_or_default()
    }

    /// What the run was saved so far, in all its processes.
    pub(crate) fn saved(&self) -> MemoHits {
        let mut saved = self.saved.get();
        if let Some(resumed) = &self.resumed {
            saved.add(resumed.saved);
        }
        saved
    }

    /// Records behind which a process went on, this one the last.
    pub(crate) fn resumed_from(&self) -> Vec<u64> {
        let Some(resumed) = self.resumed.as_ref().filter(|resumed| !resumed.is_beginning()) else {
            return Vec::new();
        };
        let mut from = resumed.resumed_from.clone();
        from.push(resumed.place.counts.input);
        from
    }

    /// Removes the checkpoint after the outputs have their names. The lock is still held.
    pub(crate) fn done(self) -> Lock {
        // A process that was killed may have left a half-written one.
        for path in self.path.iter().flat_map(|path| [path.clone(), partial_path(path)]) {
            if let Err(error) = platform::remove_if_there(&path) {
                tracing::warn!("cannot remove {}: {error}", path.display());
            }
        }
        self.lock
    }
}
