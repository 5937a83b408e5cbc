//! Keeps checkpoints of a run while it goes on, and gives signs of life.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::checkpoint::{Checkpoint, Place};
use super::identity::Identity;
use super::judge::Saved;
use super::lock::Lock;
use super::platform;
use super::run::RunError;
use super::sink::{Sinks, partial_path};

/// What is to be kept of a run, and where.
pub(super) struct Keeper {
    /// Whether nobody else writes the outputs; held until the keeper is dropped.
    pub(super) lock: Lock,
    /// The file; none for a run that cannot be resumed.
    pub(super) path: Option<PathBuf>,
    /// Time between two checkpoints.
    pub(super) every: Duration,
    /// What the run is.
    pub(super) identity: Identity,
    /// Records of the whole run, where that is known.
    pub(super) records: Option<u64>,
    /// What this process was saved so far.
    pub(super) saved: Box<dyn Fn() -> Saved>,
    /// Where the run goes on, if it does.
    pub(super) resumed: Option<Checkpoint>,
    pub(super) started: Instant,
    pub(super) last: Instant,
}

impl Keeper {
    /// What there is to do between two blocks: most of the time nothing.
    pub(super) fn look(&mut self, sinks: &mut Sinks, place: &Place) -> Result<(), RunError> {
        self.lock.beat();
        if self.last.elapsed() < self.every {
            return Ok(());
        }
        self.save(sinks, place).map(drop)
    }

    /// A sign of life, where nothing else is to be done.
    pub(super) fn beat(&mut self) {
        self.lock.beat();
    }

    /// Why a run ends that somebody interrupted here.
    pub(super) fn interrupted(&mut self, sinks: &mut Sinks, place: &Place) -> RunError {
        match self.save(sinks, place) {
            Ok(true) => RunError::Suspended { records: place.counts.input },
            Ok(false) => RunError::Interrupted,
            Err(error) => error,
        }
    }

    /// Brings everything to disk, the checkpoint last. Whether there is one.
    fn save(&mut self, sinks: &mut Sinks, place: &Place) -> Result<bool, RunError> {
        // Nothing is lost with nothing.
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
        self.last = Instant::now();
        Ok(true)
    }

    /// How long the run took so far, in all its processes.
    pub(super) fn elapsed(&self) -> Duration {
        let before = self.resumed.as_ref().map_or(0.0, |resumed| resumed.elapsed_s);
        self.started.elapsed() + Duration::try_from_secs_f64(before).unwrap_or_default()
    }

    /// What the run was saved so far, in all its processes.
    pub(super) fn saved(&self) -> Saved {
        let mut saved = (self.saved)();
        if let Some(resumed) = &self.resumed {
            saved.add(resumed.saved);
        }
        saved
    }

    /// Records behind which a process went on, this one the last.
    pub(super) fn resumed_from(&self) -> Vec<u64> {
        let Some(resumed) = self.resumed.as_ref().filter(|resumed| !resumed.is_beginning()) else {
            return Vec::new();
        };
        let mut from = resumed.resumed_from.clone();
        from.push(resumed.place.counts.input);
        from
    }

    /// Takes the checkpoint away: the outputs have their names. They are still nobody else's.
    pub(super) fn done(self) -> Lock {
        // A process that was killed may have left a half-written one.
        for path in self.path.iter().flat_map(|path| [path.clone(), partial_path(path)]) {
            if let Err(error) = platform::remove_if_there(&path) {
                tracing::warn!("cannot remove {}: {error}", path.display());
            }
        }
        self.lock
    }
}
