//! Locks the outputs of a shard, so that only one process writes them.
//!
//! The operating system releases a file lock when its process ends. On some shared file systems a lock is valid on one
//! machine only; other file systems have no locks. The lock file therefore names its owner, who updates the
//! modification time as a heartbeat that other machines see.
//!
//! On Windows, a locked file cannot be read by other processes, so they could not read its owner. There, the lock is
//! the open file, which excludes other writers but not readers (`own_files::open_own`).

#[cfg(not(windows))]
use std::fs::TryLockError;
use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use serde::{Deserialize, Serialize};

use super::{own_files, platform};
use crate::error::{Error, ErrorKind};

const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(10);

/// Maximum size of the owner's entry in the lock file.
const MAX_BYTES: u64 = 1 << 16;

/// A lock owner on another machine counts as dead after this time without a heartbeat.
const STALE_AFTER: Duration = Duration::from_mins(1);

/// A lock file older than this is stale without waiting. The clocks of two machines do not differ by this much.
const STALE_BY_CLOCK_AFTER: Duration = Duration::from_mins(30);

/// Pause between attempts, and number of attempts, to take a lock that another process may hold for a moment only.
const RETRY_INTERVAL: Duration = Duration::from_millis(20);
const MAX_RETRIES: u32 = 5;

/// Limit of lock files that their owners remove while they are opened here. If a file system gives each open file
/// another identity, every lock file seems to be removed.
const MAX_REMOVED: u32 = 100;

/// The process that holds a lock.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LockOwner {
    /// Name of the machine.
    pub host: String,
    /// Id of the machine's last boot, if the system has one. It distinguishes machines of the same name.
    #[serde(default)]
    pub boot: Option<String>,
    /// Process id.
    pub pid: u32,
    /// The shard that the process writes, as in `3/10`. `None` for outputs without shards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<String>,
}

fn busy(path: &Path, owner: Option<&LockOwner>) -> Error {
    let (path, by) = (path.display(), by(owner));
    let message = format!("{path} is locked{by}: another process writes these outputs");
    Error::new(ErrorKind::Busy, message).in_file(&path)
}

fn by(owner: Option<&LockOwner>) -> String {
    owner.map_or_else(String::new, |LockOwner { host, pid, .. }| {
        format!(" by process {pid} on {host}")
    })
}

impl LockOwner {
    fn this_process() -> Self {
        let (host, boot) = (platform::host_name(), platform::boot_id());
        Self { host, boot, pid: std::process::id(), shard: None }
    }

    /// Whether the process was started on this machine since its last boot.
    fn is_on_this_machine(&self) -> bool {
        let this = Self::this_process();
        (&self.host, &self.boot) == (&this.host, &this.boot)
    }

    /// The current owner of a lock file. `None` if the file does not exist or its lock is stale. Does not change the
    /// file.
    pub fn read(path: &Path) -> Option<Self> {
        // Opening a pipe would block until another process opens it for writing.
        let is_file = path.symlink_metadata().is_ok_and(|metadata| metadata.is_file());
        let mut file = is_file.then(|| File::open(path).ok()).flatten()?;
        let owner = read_owner(&mut file)?;
        let is_locked = is_locked(path, &file);
        let heartbeat = file.metadata().and_then(|metadata| metadata.modified()).ok();
        let age = heartbeat.and_then(|heartbeat| heartbeat.elapsed().ok()).unwrap_or_default();
        (is_locked || !owner.is_on_this_machine() && age < STALE_AFTER).then_some(owner)
    }
}

/// A held lock. Dropping it removes the lock file.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    file: File,
    last_heartbeat: Instant,
}

impl Lock {
    /// Locks the outputs of a shard, or outputs without shards. If a process on another machine owns the lock, waits up
    /// to a minute for its heartbeat.
    ///
    /// # Errors
    /// [`Error`] if another process owns the lock, if `cancel` is set while this function waits, or if the lock file
    /// cannot be written.
    pub fn take(path: &Path, shard: Option<String>, cancel: &AtomicBool) -> Result<Self, Error> {
        let failed = |source| Error::io("lock", path, source);
        for _ in 0..MAX_REMOVED {
            let (mut file, is_ours) = match open_locked(path, true).map_err(failed)? {
                Opened::Locked(file) => (file, true),
                Opened::WithoutLock(file) => (file, false),
                Opened::Busy => {
                    let owner = File::open(path).ok().and_then(|mut file| read_owner(&mut file));
                    return Err(busy(path, owner.as_ref()));
                }
            };
            if let Some(previous_owner) = read_owner(&mut file)
                && !(is_ours && previous_owner.is_on_this_machine())
            {
                wait_until_stale(path, &file, previous_owner, cancel)?;
            }
            if !is_same_file(path, &file).map_err(failed)? {
                // The previous owner removed the file after it was opened here and before it was locked.
                continue;
            }
            write_owner(&mut file, &LockOwner { shard, ..LockOwner::this_process() })
                .map_err(failed)?;
            return Ok(Self { path: path.to_owned(), file, last_heartbeat: Instant::now() });
        }
        Err(failed(io::Error::other("it was removed each time it was opened")))
    }

    /// Updates the modification time of the lock file if the last heartbeat is `HEARTBEAT_INTERVAL` ago.
    pub fn heartbeat(&mut self) {
        if self.last_heartbeat.elapsed() < HEARTBEAT_INTERVAL {
            return;
        }
        self.last_heartbeat = Instant::now();
        if let Err(error) = self.file.set_modified(SystemTime::now()) {
            tracing::warn!(
                "cannot update the modification time of {}: {error}",
                self.path.display()
            );
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

/// A file of this program that was opened to be locked.
pub(crate) enum Opened {
    Locked(File),
    /// The file system does not support locks, as some network file systems.
    #[cfg_attr(windows, expect(dead_code, reason = "open files exclude each other everywhere"))]
    WithoutLock(File),
    /// Another process has locked the file.
    Busy,
}

/// Opens a file of this program and locks it. Tries several times. Besides an owner, two kinds of processes may hold
/// the lock for a moment: one that reads the owner, and a child that another thread of this process has just started.
/// The child has copies of all open files until it executes its program.
pub(crate) fn open_locked(path: &Path, create: bool) -> io::Result<Opened> {
    for attempt in 0..=MAX_RETRIES {
        if attempt > 0 {
            sleep(RETRY_INTERVAL);
        }
        match try_open_locked(path, create)? {
            Opened::Busy => {}
            opened => return Ok(opened),
        }
    }
    Ok(Opened::Busy)
}

#[cfg(not(windows))]
fn try_open_locked(path: &Path, create: bool) -> io::Result<Opened> {
    let file = own_files::open_own(path, create)?;
    Ok(match file.try_lock() {
        Ok(()) => Opened::Locked(file),
        Err(TryLockError::WouldBlock) => Opened::Busy,
        Err(TryLockError::Error(_)) => Opened::WithoutLock(file),
    })
}

#[cfg(windows)]
fn try_open_locked(path: &Path, create: bool) -> io::Result<Opened> {
    match own_files::open_own(path, create) {
        Err(error) if platform::is_sharing_violation(&error) => Ok(Opened::Busy),
        opened => opened.map(Opened::Locked),
    }
}

#[cfg(not(windows))]
fn is_locked(_path: &Path, file: &File) -> bool {
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

#[cfg(windows)]
fn is_locked(path: &Path, _file: &File) -> bool {
    let opened = fs::OpenOptions::new().write(true).open(path);
    opened.is_err_and(|error| platform::is_sharing_violation(&error))
}

/// The owner that a lock file names. `None` if the content is not valid.
fn read_owner(file: &mut File) -> Option<LockOwner> {
    let mut text = String::new();
    file.rewind().ok()?;
    file.take(MAX_BYTES).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

fn write_owner(file: &mut File, owner: &LockOwner) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    serde_json::to_writer(&mut *file, owner)?;
    file.write_all(b"\n")?;
    file.sync_all()
}

/// Waits for [`STALE_AFTER`]. Fails if the owner on another machine sends a heartbeat in this time.
fn wait_until_stale(
    path: &Path,
    file: &File,
    owner: LockOwner,
    cancel: &AtomicBool,
) -> Result<(), Error> {
    let modified = || file.metadata().and_then(|metadata| metadata.modified());
    let failed = |source| Error::io("lock", path, source);
    let last_heartbeat = modified().map_err(failed)?;
    if last_heartbeat.elapsed().is_ok_and(|age| age > STALE_BY_CLOCK_AFTER) {
        return Ok(());
    }
    let (wait_s, owner) = (STALE_AFTER.as_secs(), Some(owner));
    tracing::warn!(
        "{} was locked{}: waiting {wait_s} s for a heartbeat",
        path.display(),
        by(owner.as_ref())
    );
    let started = Instant::now();
    while started.elapsed() < STALE_AFTER {
        if cancel.load(Ordering::Relaxed) {
            return Err(Error::new(ErrorKind::Interrupted, "interrupted; nothing was done"));
        }
        sleep(Duration::from_millis(100));
        if modified().map_err(failed)? != last_heartbeat {
            return Err(busy(path, owner.as_ref()));
        }
    }
    Ok(())
}

/// Whether the path still names this file. `false` if it names no file.
///
/// # Errors
/// If one of the two files cannot be identified for another reason.
pub(crate) fn is_same_file(path: &Path, file: &File) -> io::Result<bool> {
    match platform::identity(path) {
        Ok(named) => Ok(named == platform::identity_of(path, file)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;

    use super::*;

    fn take(path: &Path) -> Result<Lock, Error> {
        Lock::take(path, None, &AtomicBool::new(false))
    }

    fn write_lock_file(path: &Path, host: &str) {
        let owner = LockOwner { host: host.to_owned(), pid: 1, ..LockOwner::this_process() };
        fs::write(path, serde_json::to_vec(&owner).unwrap()).unwrap();
    }

    #[test]
    fn only_one_process_holds_a_lock() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.lock");
        let lock = take(&path).unwrap();
        let error = take(&path).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Busy));
        let this =
            format!("is locked by process {} on {}:", std::process::id(), platform::host_name());
        assert!(error.to_string().contains(&this), "{error}");
        let owner = LockOwner::read(&path).unwrap();
        assert_eq!((owner.pid, owner.host), (std::process::id(), platform::host_name()));
        drop(lock);
        assert!(!path.exists() && LockOwner::read(&path).is_none());
        drop(take(&path).unwrap());
    }

    #[test]
    fn a_lock_of_a_dead_process_on_this_machine_is_stale() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.lock");
        write_lock_file(&path, &platform::host_name());
        assert_eq!(LockOwner::read(&path), None);
        drop(take(&path).unwrap());
        fs::write(&path, "").unwrap();
        drop(take(&path).unwrap());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn machines_of_the_same_name_are_distinguished_by_boot_id() {
        let this = LockOwner::this_process();
        assert!(this.is_on_this_machine() && this.boot.is_some());
        let other = LockOwner { boot: Some("another".to_owned()), ..this.clone() };
        assert!(
            !other.is_on_this_machine()
                && !LockOwner { host: "another".to_owned(), ..this }.is_on_this_machine()
        );
    }

    #[test]
    fn a_lock_of_another_machine_is_stale_after_a_wait_without_heartbeat() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.lock");
        write_lock_file(&path, "a-machine-far-away");
        let cancelled = Lock::take(&path, None, &AtomicBool::new(true));
        assert!(cancelled.unwrap_err().is_interruption());
        let owned = OpenOptions::new().write(true).open(&path).unwrap();
        let beating = std::thread::spawn(move || {
            sleep(Duration::from_millis(300));
            owned.set_modified(SystemTime::now() + Duration::from_secs(10)).unwrap();
        });
        let error = take(&path).unwrap_err();
        assert!(
            error.to_string().contains("is locked by process 1 on a-machine-far-away:"),
            "{error}"
        );
        beating.join().unwrap();
        let long_ago = SystemTime::now() - 2 * STALE_BY_CLOCK_AFTER;
        OpenOptions::new().write(true).open(&path).unwrap().set_modified(long_ago).unwrap();
        drop(take(&path).unwrap());
    }
}
