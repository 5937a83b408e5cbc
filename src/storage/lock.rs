//! One process at a time writes the outputs of a shard.
//!
//! A lock of the system dies with its process. Some shared file systems keep such locks to each machine,
//! others know none: beside the lock the file says who holds it, and its time of modification is a sign of
//! life that other machines see.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use serde::{Deserialize, Serialize};

use super::{own_files, platform};
use crate::error::{Error, ErrorKind};

const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(10);

/// Upper bound of the size of a signature.
const MAX_BYTES: u64 = 1 << 16;

/// A process on another machine without a heartbeat for this long counts as dead.
const STALE_AFTER: Duration = Duration::from_mins(1);

/// A lock file older than this is not waited for: clocks of two machines do not differ by so much.
const STALE_BY_CLOCK_AFTER: Duration = Duration::from_mins(30);

/// Pause between, and number of, attempts to take a lock that another process holds only for a moment.
const RETRY_INTERVAL: Duration = Duration::from_millis(20);
const MAX_RETRIES: u32 = 5;

/// Who holds a lock.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LockOwner {
    /// Name of the machine.
    pub host: String,
    /// Which start of it, where the system numbers them: machines of one name are told apart by that.
    #[serde(default)]
    pub boot: Option<String>,
    /// Number of the process on it.
    pub pid: u32,
    /// The shard that it writes, as in `3/10`. `None` for outputs without shards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<String>,
}

fn held(path: &Path, holder: Option<&LockOwner>) -> Error {
    let (path, by) = (path.display(), by(holder));
    let message = format!("{path} is held{by}: another process writes these outputs");
    Error::new(ErrorKind::Busy, message).in_file(&path)
}

fn by(holder: Option<&LockOwner>) -> String {
    holder.map_or_else(String::new, |LockOwner { host, pid, .. }| {
        format!(" by process {pid} on {host}")
    })
}

impl LockOwner {
    fn this() -> Self {
        let (host, boot) = (platform::host_name(), platform::boot_id());
        Self { host, boot, pid: std::process::id(), shard: None }
    }

    /// Whether the process ran on this machine, since its last boot.
    fn is_on_this_machine(&self) -> bool {
        let this = Self::this();
        (&self.host, &self.boot) == (&this.host, &this.boot)
    }

    /// Who holds the lock of this file at the moment, as far as that shows without touching it.
    pub fn of(path: &Path) -> Option<Self> {
        // To open a pipe would wait for whoever writes to it.
        let is_file = path.symlink_metadata().is_ok_and(|metadata| metadata.is_file());
        let mut file = is_file.then(|| File::open(path).ok()).flatten()?;
        let holder = holder(&mut file)?;
        let is_locked = matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
        let silent = file.metadata().and_then(|metadata| metadata.modified());
        let silent = silent.ok().and_then(|modified| modified.elapsed().ok()).unwrap_or_default();
        (is_locked || !holder.is_on_this_machine() && silent < STALE_AFTER).then_some(holder)
    }
}

/// A lock that is held until it is dropped, which removes its file.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    file: File,
    last_heartbeat: Instant,
}

impl Lock {
    /// Locks the outputs of a shard, or outputs without shards. If a process on another machine holds the lock, waits
    /// up to a minute for signs that it is alive.
    ///
    /// # Errors
    /// [`Error`] if somebody else has it.
    pub fn take(path: &Path, shard: Option<String>, cancel: &AtomicBool) -> Result<Self, Error> {
        let failed = |source| Error::io("lock", path, source);
        loop {
            let mut file = own_files::open_own(path, true).map_err(failed)?;
            let is_ours = match lock_if_free(&file) {
                Ok(()) => true,
                Err(TryLockError::Error(_)) => false,
                Err(TryLockError::WouldBlock) => {
                    return Err(held(path, holder(&mut file).as_ref()));
                }
            };
            if let Some(before) = holder(&mut file)
                && !(is_ours && before.is_on_this_machine())
            {
                wait_until_stale(path, &file, before, cancel)?;
            }
            if !is_same_file(path, &file) {
                // Its holder ended, and took the file along, between our opening and our locking.
                continue;
            }
            sign(&mut file, &LockOwner { shard, ..LockOwner::this() }).map_err(failed)?;
            return Ok(Self { path: path.to_owned(), file, last_heartbeat: Instant::now() });
        }
    }

    /// Gives a sign of life if it is time for one.
    pub fn heartbeat(&mut self) {
        if self.last_heartbeat.elapsed() < HEARTBEAT_INTERVAL {
            return;
        }
        self.last_heartbeat = Instant::now();
        if let Err(error) = self.file.set_modified(SystemTime::now()) {
            tracing::warn!("cannot touch {}: {error}", self.path.display());
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::warn!("cannot remove {}: {error}", self.path.display());
        }
    }
}

/// Tries several times to lock a file: readers of the signature lock it for a moment, and so does a child process that
/// another thread has just started, which holds a copy of all open files until it executes its program.
pub(crate) fn lock_if_free(file: &File) -> Result<(), TryLockError> {
    for _ in 0..MAX_RETRIES {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => sleep(RETRY_INTERVAL),
            done => return done,
        }
    }
    file.try_lock()
}

/// The signature in a file, if there is a valid one.
fn holder(file: &mut File) -> Option<LockOwner> {
    let mut text = String::new();
    file.rewind().ok()?;
    file.take(MAX_BYTES).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

fn sign(file: &mut File, holder: &LockOwner) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    serde_json::to_writer(&mut *file, holder)?;
    file.write_all(b"\n")?;
    file.sync_all()
}

/// Waits until a process on another machine has had no heartbeat for [`STALE_AFTER`].
fn wait_until_stale(
    path: &Path,
    file: &File,
    holder: LockOwner,
    cancel: &AtomicBool,
) -> Result<(), Error> {
    let modified = || file.metadata().and_then(|metadata| metadata.modified());
    let failed = |source| Error::io("lock", path, source);
    let first = modified().map_err(failed)?;
    if first.elapsed().is_ok_and(|silent| silent > STALE_BY_CLOCK_AFTER) {
        return Ok(());
    }
    let (silence, holder) = (STALE_AFTER.as_secs(), Some(holder));
    tracing::warn!(
        "{} was held{}: waiting {silence} s for a sign of life",
        path.display(),
        by(holder.as_ref())
    );
    let started = Instant::now();
    while started.elapsed() < STALE_AFTER {
        if cancel.load(Ordering::Relaxed) {
            return Err(Error::new(ErrorKind::Interrupted, "interrupted; nothing was done"));
        }
        sleep(Duration::from_millis(100));
        if modified().map_err(failed)? != first {
            return Err(held(path, holder.as_ref()));
        }
    }
    Ok(())
}

/// Whether the path still leads to this file.
pub(crate) fn is_same_file(path: &Path, file: &File) -> bool {
    let named = platform::identity(path).ok();
    named.is_some() && named == platform::identity_of(path, file).ok()
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;

    use super::*;

    fn take(path: &Path) -> Result<Lock, Error> {
        Lock::take(path, None, &AtomicBool::new(false))
    }

    fn written_by(path: &Path, host: &str) {
        let holder = LockOwner { host: host.to_owned(), pid: 1, ..LockOwner::this() };
        fs::write(path, serde_json::to_vec(&holder).unwrap()).unwrap();
    }

    #[test]
    fn one_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.lock");
        let lock = take(&path).unwrap();
        let error = take(&path).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Busy));
        let this =
            format!("is held by process {} on {}:", std::process::id(), platform::host_name());
        assert!(error.to_string().contains(&this), "{error}");
        drop(lock);
        assert!(!path.exists());
        drop(take(&path).unwrap());
    }

    #[test]
    fn the_dead_of_this_machine_hold_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.lock");
        written_by(&path, &platform::host_name());
        drop(take(&path).unwrap());
        fs::write(&path, "").unwrap();
        drop(take(&path).unwrap());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn machines_of_one_name_are_told_apart() {
        let this = LockOwner::this();
        assert!(this.is_on_this_machine() && this.boot.is_some());
        let other = LockOwner { boot: Some("another".to_owned()), ..this.clone() };
        assert!(
            !other.is_on_this_machine()
                && !LockOwner { host: "another".to_owned(), ..this }.is_on_this_machine()
        );
    }

    #[test]
    fn those_of_other_machines_are_given_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.lock");
        written_by(&path, "a-machine-far-away");
        let cancelled = Lock::take(&path, None, &AtomicBool::new(true));
        assert!(cancelled.unwrap_err().is_interruption());
        let beating = std::thread::spawn({
            let path = path.clone();
            move || {
                sleep(Duration::from_millis(300));
                let file = OpenOptions::new().write(true).open(path).unwrap();
                file.set_modified(SystemTime::now() + Duration::from_secs(10)).unwrap();
            }
        });
        let error = take(&path).unwrap_err();
        assert!(
            error.to_string().contains("is held by process 1 on a-machine-far-away:"),
            "{error}"
        );
        beating.join().unwrap();
        let long_ago = SystemTime::now() - 2 * STALE_BY_CLOCK_AFTER;
        OpenOptions::new().write(true).open(&path).unwrap().set_modified(long_ago).unwrap();
        drop(take(&path).unwrap());
    }
}
