//! What differs between operating systems: folders on disk, the identity of a file, memory.
//!
//! Everything else in this crate is the same on Linux, macOS and Windows.

use std::fs::{File, Metadata, OpenOptions};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};
use std::{fs, io};

/// Reads at an offset. Other threads may read the same file.
#[cfg(unix)]
pub(crate) fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, bytes, offset)
}

#[cfg(windows)]
pub(crate) fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, bytes, offset)
}

/// Equal for two names of the same file: device and inode on Unix, the canonical path elsewhere.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct FileIdentity(Identity);

#[cfg(unix)]
type Identity = (u64, u64);
#[cfg(not(unix))]
type Identity = std::path::PathBuf;

/// Identity of the file behind `path`, links followed.
#[cfg(unix)]
pub(crate) fn identity(path: &Path) -> io::Result<FileIdentity> {
    use std::os::unix::fs::MetadataExt;
    let metadata = path.metadata()?;
    Ok(FileIdentity((metadata.dev(), metadata.ino())))
}

/// Identity of an open file. `_path` is the name under which it was opened.
#[cfg(unix)]
pub(crate) fn identity_of(_path: &Path, file: &File) -> io::Result<FileIdentity> {
    use std::os::unix::fs::MetadataExt;
    let metadata = file.metadata()?;
    Ok(FileIdentity((metadata.dev(), metadata.ino())))
}

#[cfg(not(unix))]
pub(crate) fn identity_of(path: &Path, _file: &File) -> io::Result<FileIdentity> {
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

/// Identity of the file that `path` leads to, links followed. `None` for sockets and character devices such as
/// terminals: writing to them does not change what is read from them.
pub(crate) fn identity_of_content(path: &Path) -> io::Result<Option<FileIdentity>> {
    let metadata = path.metadata()?;
    if has_content(&metadata) { identity(path).map(Some) } else { Ok(None) }
}

#[cfg(unix)]
fn has_content(metadata: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    let kind = metadata.file_type();
    !kind.is_char_device() && !kind.is_socket()
}

#[cfg(not(unix))]
fn has_content(_metadata: &Metadata) -> bool {
    true
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Standard {
    Input,
    Output,
    Error,
}

impl Standard {
    /// Identity of the open file or pipe. `None` for the same kinds as in [`identity_of_content`].
    pub(crate) fn identity(self) -> Option<FileIdentity> {
        let (identity, metadata) = self.look()?;
        has_content(&metadata).then_some(identity)
    }

    /// Identity of any open file, devices and sockets included.
    pub(crate) fn any_identity(self) -> Option<FileIdentity> {
        self.look().map(|(identity, _)| identity)
    }

    /// Whether a path leads to it, links followed.
    pub(crate) fn is(self, path: &Path) -> bool {
        let found = self.any_identity();
        found.is_some() && found == identity(path).ok()
    }

    #[cfg(unix)]
    fn look(self) -> Option<(FileIdentity, Metadata)> {
        use std::os::fd::AsFd;
        use std::os::unix::fs::MetadataExt;
        let descriptor = match self {
            Self::Input => io::stdin().as_fd().try_clone_to_owned(),
            Self::Output => io::stdout().as_fd().try_clone_to_owned(),
            Self::Error => io::stderr().as_fd().try_clone_to_owned(),
        };
        let metadata = File::from(descriptor.ok()?).metadata().ok()?;
        Some((FileIdentity((metadata.dev(), metadata.ino())), metadata))
    }

    /// Not needed: Windows does not let a file be written while another process reads it, nor the reverse.
    #[cfg(not(unix))]
    fn look(self) -> Option<(FileIdentity, Metadata)> {
        None
    }
}

/// Whether output to a path, links followed, does not become a file of that name but goes to a pipe, a device, or a
/// file that this process has open (`/dev/stdout`, `/proc/self/fd/3`).
pub(crate) fn is_pipe(path: &Path) -> bool {
    let leads_to_file = |metadata: Metadata| metadata.is_file() || metadata.is_dir();
    path.metadata().is_ok_and(|metadata| !leads_to_file(metadata)) || leads_to_descriptor(path)
}

/// The limit of Linux.
#[cfg(unix)]
const MAX_LINKS: usize = 40;

#[cfg(unix)]
fn leads_to_descriptor(path: &Path) -> bool {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        let Ok(folder) = folder_of(&path).canonicalize() else { return false };
        if folder == Path::new("/dev/fd") || folder.starts_with("/proc") {
            return true;
        }
        let Ok(target) = path.read_link() else { return false };
        path = folder.join(target);
    }
    false
}

#[cfg(not(unix))]
fn leads_to_descriptor(_path: &Path) -> bool {
    false
}

/// Opens a stream for writing. If it is a file, output is appended, because others may have written to it before.
pub(crate) fn open_sequential(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).open(path)
}

/// Like [`open_sequential`], but fails if a pipe has no reader yet instead of waiting for one.
pub(crate) fn open_stream_at_once(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        rustix::fs::OFlags::NONBLOCK.bits().cast_signed(),
    );
    options.open(path)
}

pub(crate) fn host_name() -> String {
    gethostname::gethostname().to_string_lossy().into_owned()
}

/// Unique id of this boot of the machine, see random(4).
#[cfg(target_os = "linux")]
pub(crate) fn boot_id() -> Option<String> {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned())
}

/// Only Linux has one.
#[cfg(not(target_os = "linux"))]
pub(crate) fn boot_id() -> Option<String> {
    None
}

/// The parent folder; `.` for a plain file name.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Makes renames inside a folder survive a loss of power.
#[cfg(unix)]
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Windows writes folders through; there is nothing to synchronise.
#[cfg(not(unix))]
pub(crate) fn sync_folder(_folder: &Path) -> io::Result<()> {
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

pub(crate) fn modified_unix_ns(metadata: &Metadata) -> Option<u64> {
    let since = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    u64::try_from(since.as_nanos()).ok()
}

pub(crate) fn now_unix_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// 0 means as many threads as the machine runs at once.
pub(crate) fn threads(threads: usize) -> usize {
    match threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    }
}

pub(crate) fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Renames atomically and replaces an existing file, on every supported system.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn streams_are_told_from_files() {
        let folder = tempfile::tempdir().unwrap();
        let [file, link, far] = ["file", "link", "far"].map(|name| folder.path().join(name));
        fs::write(&file, "").unwrap();
        assert!(!is_pipe(&file) && !is_pipe(folder.path()) && !is_pipe(&link));
        for (target, expected) in [
            (file.as_path(), false),
            (Path::new("file"), false),
            (Path::new("nothing"), false),
            (Path::new("link"), false),
            (Path::new("/dev/null"), true),
            (Path::new("/dev/fd/1"), true),
            (Path::new("/dev/stdout"), true),
        ] {
            symlink(target, &link).unwrap();
            symlink("link", &far).unwrap();
            assert_eq!(is_pipe(&link), expected, "{}", target.display());
            assert_eq!(is_pipe(&far), expected, "{}", target.display());
            fs::remove_file(&link).unwrap();
            fs::remove_file(&far).unwrap();
        }
    }
}
