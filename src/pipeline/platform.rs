//! What differs between operating systems: signals, folders on disk, the identity of a file, memory.
//!
//! Everything else in this crate is the same on Linux, macOS and Windows.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// The wish of the user or the system that the process end.
#[derive(Clone, Debug)]
pub struct Interrupt {
    cancel: Arc<AtomicBool>,
    caught: Arc<AtomicUsize>,
}

impl Interrupt {
    /// From now on SIGINT and SIGTERM are taken as a request to stop. A SIGINT after either ends the process at
    /// once: somebody at a keyboard has lost patience. Job systems send SIGTERM twice without meaning that.
    ///
    /// # Errors
    /// If the operating system refuses to install a handler.
    pub fn watch() -> io::Result<Self> {
        let interrupt = Self { cancel: Arc::default(), caught: Arc::default() };
        for signal in [SIGINT, SIGTERM] {
            if signal == SIGINT {
                flag::register_conditional_shutdown(signal, 128 + signal, interrupt.cancel())?;
            }
            let number = signal.unsigned_abs() as usize;
            flag::register_usize(signal, Arc::clone(&interrupt.caught), number)?;
            flag::register(signal, interrupt.cancel())?;
        }
        Ok(interrupt)
    }

    /// Set by the first signal.
    pub fn cancel(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.cancel)
    }

    /// Number of the signal caught.
    pub fn signal(&self) -> Option<u8> {
        match self.caught.load(Ordering::Relaxed) {
            0 => None,
            signal => u8::try_from(signal).ok(),
        }
    }
}

/// From now on a file that grows beyond the limit of the user is a write that fails, as on a full disk,
/// where Unix would end the process with a signal.
///
/// # Errors
/// If the operating system refuses to install a handler.
#[cfg(unix)]
pub fn fail_at_the_limit_of_file_size() -> io::Result<()> {
    /// The same number on all systems that have it and that we build for.
    const SIGXFSZ: i32 = 25;
    flag::register(SIGXFSZ, Arc::default()).map(drop)
}

/// Windows knows no such signal.
///
/// # Errors
/// Never.
#[cfg(not(unix))]
pub fn fail_at_the_limit_of_file_size() -> io::Result<()> {
    Ok(())
}

/// What makes two names one file: device and inode where the system has them.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct FileIdentity(Identity);

#[cfg(unix)]
type Identity = (u64, u64);
#[cfg(not(unix))]
type Identity = std::path::PathBuf;

/// Identity of the file behind `path`, links followed.
///
/// # Errors
/// If the file does not exist or cannot be looked at.
#[cfg(unix)]
pub fn identity(path: &Path) -> io::Result<FileIdentity> {
    use std::os::unix::fs::MetadataExt;
    let metadata = path.metadata()?;
    Ok(FileIdentity((metadata.dev(), metadata.ino())))
}

/// Identity of a file that is open, and was opened under this name.
///
/// # Errors
/// If it cannot be looked at.
#[cfg(unix)]
pub fn identity_of(_path: &Path, file: &File) -> io::Result<FileIdentity> {
    use std::os::unix::fs::MetadataExt;
    let metadata = file.metadata()?;
    Ok(FileIdentity((metadata.dev(), metadata.ino())))
}

/// Identity of a file that is open, and was opened under this name.
///
/// # Errors
/// If it cannot be looked at.
#[cfg(not(unix))]
pub fn identity_of(path: &Path, _file: &File) -> io::Result<FileIdentity> {
    identity(path)
}

/// Identity of the file behind `path`, links followed.
///
/// # Errors
/// If the file does not exist or cannot be looked at.
#[cfg(not(unix))]
pub fn identity(path: &Path) -> io::Result<FileIdentity> {
    path.canonicalize().map(FileIdentity)
}

/// Identity of the file that standard output writes to; none if it is no file.
#[cfg(unix)]
pub fn identity_of_stdout() -> Option<FileIdentity> {
    use std::os::fd::AsFd;
    identity_behind(&io::stdout().as_fd().try_clone_to_owned().ok()?.into())
}

/// Identity of the file that standard input reads; none if it is no file.
#[cfg(unix)]
pub fn identity_of_stdin() -> Option<FileIdentity> {
    use std::os::fd::AsFd;
    identity_behind(&io::stdin().as_fd().try_clone_to_owned().ok()?.into())
}

#[cfg(unix)]
fn identity_behind(file: &File) -> Option<FileIdentity> {
    use std::os::unix::fs::MetadataExt;
    let metadata = file.metadata().ok()?;
    metadata.is_file().then(|| FileIdentity((metadata.dev(), metadata.ino())))
}

/// Windows does not let a file be read while another process writes to it.
#[cfg(not(unix))]
pub fn identity_of_stdout() -> Option<FileIdentity> {
    None
}

/// Windows does not let a file be written while another process reads it.
#[cfg(not(unix))]
pub fn identity_of_stdin() -> Option<FileIdentity> {
    None
}

/// Name of this machine, as its network knows it.
pub fn host_name() -> String {
    gethostname::gethostname().to_string_lossy().into_owned()
}

/// A name of this start of the machine that no other start of any machine has, see random(4).
#[cfg(target_os = "linux")]
pub fn boot_id() -> Option<String> {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned())
}

/// Only Linux has one.
#[cfg(not(target_os = "linux"))]
pub fn boot_id() -> Option<String> {
    None
}

/// The folder in which a file stands or is to stand.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Makes renames inside a folder survive a loss of power.
///
/// # Errors
/// If the folder cannot be opened or synchronised.
#[cfg(unix)]
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Windows writes folders through; there is nothing to synchronise.
///
/// # Errors
/// Never.
#[cfg(not(unix))]
pub fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

/// Fills a buffer from a place in a file, whatever other threads read of it.
///
/// # Errors
/// If the file ends before, or the system refuses.
#[cfg(unix)]
pub fn read_exact_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset)
}

/// Fills a buffer from a place in a file, whatever other threads read of it.
///
/// # Errors
/// If the file ends before, or the system refuses.
#[cfg(windows)]
pub fn read_exact_at(file: &File, mut bytes: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, bytes, offset) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => {
                bytes = &mut bytes[read..];
                offset += read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// When a file was written last, in nanoseconds since 1970, where the system says it.
pub fn modified_unix_ns(metadata: &Metadata) -> Option<u64> {
    let since = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    u64::try_from(since.as_nanos()).ok()
}

/// The time, in seconds since 1970.
pub fn now_unix_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// So many threads; of 0 as many as the machine runs at once.
pub fn threads(threads: usize) -> usize {
    match threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    }
}

/// Removes a file, if it is there.
///
/// # Errors
/// As [`std::fs::remove_file`], but for a file that is not there.
pub fn remove_if_there(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Gives `from` the name `to`, replacing what had it, in one step that a reader never sees half done.
///
/// # Errors
/// As [`std::fs::rename`], which replaces on every system that we build for.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::rename(from, to)
}

/// The most memory this process has had in use so far, in bytes: what is resident, shared pages included.
#[cfg(target_os = "linux")]
pub fn peak_memory_bytes() -> Option<u64> {
    peak_of(&std::fs::read_to_string("/proc/self/status").ok()?)
}

/// Only Linux is asked.
#[cfg(not(target_os = "linux"))]
pub fn peak_memory_bytes() -> Option<u64> {
    None
}

/// Reads the peak ("high water mark") from the text of `/proc/PID/status`, see proc(5).
#[cfg(target_os = "linux")]
fn peak_of(status: &str) -> Option<u64> {
    let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = kilobytes.trim().strip_suffix("kB")?.trim_end().parse().ok()?;
    kilobytes.checked_mul(1024)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_peak_of_memory() {
        let status = "Name:\tkyokumen\nVmPeak:\t  9000 kB\nVmHWM:\t    5120 kB\nVmRSS:\t 4000 kB\n";
        assert_eq!(peak_of(status), Some(5 << 20));
        assert_eq!(peak_of("VmRSS:\t 4000 kB\n"), None);
        // The kernel counts in batches: a few pages may be missing.
        let nearly = 60 << 20;
        let block = std::hint::black_box(vec![1_u8; 64 << 20]);
        assert!(peak_memory_bytes().unwrap() > nearly);
        drop(block);
        assert!(peak_memory_bytes().unwrap() > nearly);
    }
}
