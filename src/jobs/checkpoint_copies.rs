//! Copies of checkpoints at the URL of the outputs, so that another machine can resume the run.
//!
//! A copy contains the end of each partial output. The bytes before it are in objects of [`SEGMENT_BYTES`] each. A
//! segment is sent once, when it is full.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::checkpoint::{Checkpoint, RunProgress};
use super::identity::Identity;
use super::run_files::RunFiles;
use super::staging::Staging;
use crate::error::Error;
use crate::records::sink::{OutputState, partial_path};
use crate::storage::lock::Lock;
use crate::storage::objects::Upload;
use crate::storage::{files, own_files, platform};

/// Bytes of a segment, which is sent in one request. Tests make many segments.
const SEGMENT_BYTES: u64 = if cfg!(test) { 1 << 10 } else { 1 << 23 };

/// Number of checkpoints for each copy. A copy needs the network.
const CHECKPOINTS_PER_COPY: u32 = 6;

/// A copy is made after at least this multiple of the time that the last one took. The run waits meanwhile.
const MIN_INTERVAL_PER_COPY_TIME: u32 = 20;

/// The copies of the checkpoints of a run.
pub(crate) struct CheckpointCopies {
    staging: Staging,
    /// Local path of the checkpoint.
    checkpoint: PathBuf,
    /// Local paths of the partial outputs, in the order of the checkpoint.
    partials: Vec<PathBuf>,
    /// Number of segments of each output that this run has sent.
    sent: Vec<u64>,
    every: Duration,
    next: Instant,
    /// Whether the last copy only announces the run. It is removed if the run ends without a later one.
    is_announcement: bool,
}

impl CheckpointCopies {
    /// `None` if the outputs are local or the run cannot be resumed.
    pub(crate) fn new(files: &RunFiles) -> Option<Self> {
        let (staging, checkpoint) = (files.staging.clone()?, files.checkpoint.clone()?);
        let partials = files.outputs.iter().map(|output| partial_path(&output.written_path()));
        let every = files.checkpoint_every * CHECKPOINTS_PER_COPY;
        Some(Self {
            staging,
            checkpoint,
            partials: partials.collect(),
            sent: vec![0; files.outputs.len()],
            every,
            next: Instant::now() + every,
            is_announcement: false,
        })
    }

    /// Prepares the copies at the start of a run. To resume, restores the last copy. Otherwise, removes it.
    ///
    /// # Errors
    /// Any error of [`CheckpointCopies::restore`].
    pub(crate) fn open<P: RunProgress>(
        files: &RunFiles,
        identity: &Identity,
        lock: &mut Lock,
        cancel: &AtomicBool,
    ) -> Result<Option<Self>, Error> {
        let Some(mut copies) = Self::new(files) else { return Ok(None) };
        if files.resume {
            copies.restore::<P>(files, identity, lock, cancel)?;
        } else {
            copies.remove();
        }
        Ok(Some(copies))
    }

    /// Restores the checkpoint and the partial outputs of another machine from the copy, unless this machine has got
    /// further.
    ///
    /// # Errors
    /// [`Error`] if the copy belongs to another run, if it cannot be read or written to the local folder, or if
    /// `cancel` was set. The local folder then has no checkpoint.
    fn restore<P: RunProgress>(
        &mut self,
        files: &RunFiles,
        identity: &Identity,
        lock: &mut Lock,
        cancel: &AtomicBool,
    ) -> Result<(), Error> {
        let url = self.staging.destination(&self.checkpoint);
        let Some((copy, tails)) = Checkpoint::<P>::read_with_tails(&url)? else { return Ok(()) };
        copy.identity.check_same(&url, identity)?;
        let is_complete = files.manifest.exists() || partial_path(&files.manifest).exists();
        let local = Checkpoint::<P>::read(&self.checkpoint).ok().flatten();
        if is_complete || local.is_some_and(|it| it.progress.done() >= copy.progress.done()) {
            return Ok(());
        }
        // It describes the partial outputs, which are replaced now.
        platform::remove_if_there(&self.checkpoint)
            .map_err(|source| Error::io("remove", &self.checkpoint, source))?;
        for (((path, state), tail), sent) in
            self.partials.iter().zip(&copy.outputs).zip(tails).zip(&mut self.sent)
        {
            let failed = |source| Error::io("write", path, source);
            let mut file = own_files::replace(path, b"").map_err(failed)?;
            *sent = state.bytes / SEGMENT_BYTES;
            for segment in 0..*sent {
                if cancel.load(Ordering::Relaxed) {
                    return Err(Error::interrupted());
                }
                lock.heartbeat();
                let url = segment_url(&self.staging, path, segment);
                let bytes = files::read(&url).map_err(|source| Error::io("read", &url, source))?;
                file.write_all(&bytes).map_err(failed)?;
            }
            file.write_all(&tail).and_then(|()| file.sync_all()).map_err(failed)?;
        }
        copy.write(&self.checkpoint)
    }

    /// Whether it is time for a copy.
    pub(crate) fn is_due(&self) -> bool {
        Instant::now() >= self.next
    }

    /// Copies a checkpoint. Its outputs are on disk. If the copy fails, the run goes on and a later copy replaces it.
    pub(crate) fn send<P: RunProgress>(&mut self, checkpoint: &Checkpoint<P>, lock: &mut Lock) {
        let started = Instant::now();
        let result = self.try_send(checkpoint, lock);
        self.is_announcement = checkpoint.is_beginning() && checkpoint.replaces.is_empty();
        self.next = Instant::now() + self.every.max(started.elapsed() * MIN_INTERVAL_PER_COPY_TIME);
        if let Err(error) = result {
            let url = self.staging.destination(&self.checkpoint);
            tracing::warn!(
                "cannot copy the checkpoint to {}: {error}; until a later copy succeeds, resume the run on this machine",
                url.display()
            );
        }
    }

    fn try_send<P: RunProgress>(
        &mut self,
        checkpoint: &Checkpoint<P>,
        lock: &mut Lock,
    ) -> io::Result<()> {
        let mut tails = Vec::with_capacity(self.partials.len());
        for ((path, state), sent) in
            self.partials.iter().zip(&checkpoint.outputs).zip(&mut self.sent)
        {
            tails.push(send_segments(&self.staging, path, state, sent, lock)?);
        }
        put(&self.staging.destination(&self.checkpoint), &checkpoint.to_bytes(&tails)?)
    }

    /// States in the copy that its process has ended. The partial outputs need not exist any more.
    pub(crate) fn end<P: RunProgress>(mut self) {
        let url = self.staging.destination(&self.checkpoint);
        let Ok(Some((mut copy, tails))) = Checkpoint::<P>::read_with_tails(&url) else { return };
        copy.is_last = true;
        // If this fails, `status` finds out when the copy is old.
        if copy.to_bytes(&tails).and_then(|bytes| put(&url, &bytes)).is_ok() {
            self.is_announcement = false;
        }
    }

    /// Removes the copy and its segments.
    pub(crate) fn remove(&self) {
        let result = files::remove(&self.staging.destination(&self.checkpoint)).and_then(|()| {
            let prefixes = self.partials.iter().map(|path| segment_prefix(path));
            let prefixes = prefixes.collect::<Vec<_>>();
            let mut names = files::names_in(&self.staging.url)?;
            names.retain(|name| prefixes.iter().any(|prefix| name.starts_with(prefix)));
            names.iter().try_for_each(|name| files::remove(&self.staging.url.join(name)))
        });
        if let Err(error) = result {
            let url = self.staging.url.display();
            tracing::warn!("cannot remove the copy of the checkpoint in {url}: {error}");
        }
    }
}

impl Drop for CheckpointCopies {
    fn drop(&mut self) {
        let url = self.staging.destination(&self.checkpoint);
        if self.is_announcement
            && let Err(error) = files::remove(&url)
        {
            tracing::warn!("cannot remove {}: {error}", url.display());
        }
    }
}

/// Sends the full segments of an output, from number `sent`. Returns the bytes after the last full segment.
fn send_segments(
    staging: &Staging,
    path: &Path,
    state: &OutputState,
    sent: &mut u64,
    lock: &mut Lock,
) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(*sent * SEGMENT_BYTES))?;
    let mut file = file.take(state.bytes.saturating_sub(*sent * SEGMENT_BYTES));
    loop {
        lock.heartbeat();
        let mut bytes = Vec::new();
        file.by_ref().take(SEGMENT_BYTES).read_to_end(&mut bytes)?;
        if (bytes.len() as u64) < SEGMENT_BYTES {
            return Ok(bytes);
        }
        put(&segment_url(staging, path, *sent), &bytes)?;
        *sent += 1;
    }
}

fn segment_prefix(partial: &Path) -> String {
    format!("{}.", partial.file_name().unwrap_or_default().to_string_lossy())
}

fn segment_url(staging: &Staging, partial: &Path, segment: u64) -> PathBuf {
    staging.url.join(format!("{}{segment:05}", segment_prefix(partial)))
}

fn put(url: &Path, bytes: &[u8]) -> io::Result<()> {
    let upload = Upload::begin(url, Some(bytes.len() as u64))?;
    upload.writer().write_all(bytes)?;
    upload.commit()
}
