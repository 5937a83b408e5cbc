//! Functions that differ between operating systems: file access, the identity of files, pipes, folders.

use std::fs::{File, Metadata, OpenOptions};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};
use std::{fs, io};

/// Reads at an offset. Other threads may read the same file at the same time.
#[cfg(unix)]
pub(crate) fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, bytes, offset)
}

#[cfg(windows)]
pub(crate) fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, bytes, offset)
}

/// Identifies a file. Equal for two names of the same file: device and inode on Unix, the canonical path elsewhere.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct FileIdentity(Identity);

#[cfg(unix)]
type Identity = (u64, u64);
#[cfg(not(unix))]
type Identity = std::path::PathBuf;

/// Identity of the file at `path`. Follows links.
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

/// Identity of the file at `path`. Follows links.
///
/// # Errors
/// If the file does not exist or its metadata cannot be read.
#[cfg(not(unix))]
pub(crate) fn identity(path: &Path) -> io::Result<FileIdentity> {
    path.metadata()?;
    // RAM disks and some network drives cannot resolve links.
    path.canonicalize().or_else(|_| std::path::absolute(path)).map(FileIdentity)
}

/// Identity of the file at `path`. Follows links. `None` for sockets and character devices such as terminals: data
/// written to them cannot be read from them again.
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

/// Standard input, output or error of this process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Standard {
    Input,
    Output,
    Error,
}

impl Standard {
    /// Identity of the open file or pipe. `None` for the same kinds of files as in [`identity_of_content`].
    pub(crate) fn identity(self) -> Option<FileIdentity> {
        let (identity, metadata) = self.inspect()?;
        has_content(&metadata).then_some(identity)
    }

    /// Identity of any open file, devices and sockets included.
    pub(crate) fn any_identity(self) -> Option<FileIdentity> {
        self.inspect().map(|(identity, _)| identity)
    }

    /// Whether it is the file at `path`. Follows links.
    pub(crate) fn is(self, path: &Path) -> bool {
        let open = self.any_identity();
        open.is_some() && open == identity(path).ok()
    }

    #[cfg(unix)]
    fn inspect(self) -> Option<(FileIdentity, Metadata)> {
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

    /// Not needed on Windows, which does not allow writing a file that another process reads, nor the reverse.
    #[cfg(not(unix))]
    fn inspect(self) -> Option<(FileIdentity, Metadata)> {
        None
    }
}

/// Whether output to a path goes to a pipe, a device, or a file that this process has open (`/dev/stdout`,
/// `/proc/self/fd/3`), instead of creating a file at this path. Follows links.
pub(crate) fn is_pipe(path: &Path) -> bool {
    let leads_to_file = |metadata: Metadata| metadata.is_file() || metadata.is_dir();
    path.metadata().is_ok_and(|metadata| !leads_to_file(metadata)) || leads_to_descriptor(path)
}

/// Maximum number of links to follow, as on Linux.
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

/// Opens a pipe, a device or an open file of this process for writing. Appends to a file, because it may already have
/// content.
pub(crate) fn open_sequential(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).open(path)
}

/// Like [`open_sequential`], but does not wait for the reader of a pipe. Fails if the pipe has no reader.
pub(crate) fn open_sequential_nonblocking(path: &Path) -> io::Result<File> {
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

/// Unique id of the machine's last boot; see random(4).
#[cfg(target_os = "linux")]
pub(crate) fn boot_id() -> Option<String> {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned())
}

/// Only Linux has a boot id.
#[cfg(not(target_os = "linux"))]
pub(crate) fn boot_id() -> Option<String> {
    None
}

/// The parent folder of a path. `.` for a plain file name.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Flushes a folder to disk, so that renames in it survive a power failure.
#[cfg(unix)]
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Does nothing, because Windows writes changes of folders to disk at once.
#[cfg(not(unix))]
pub(crate) fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

/// Fills a buffer from an offset in a file. Other threads may read the same file at the same time.
///
/// # Errors
/// If the file ends before the buffer is full, or reading fails.
#[cfg(unix)]
pub fn read_exact_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset)
}

/// Fills a buffer from an offset in a file. Other threads may read the same file at the same time.
///
/// # Errors
/// If the file ends before the buffer is full, or reading fails.
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

/// The number of threads to use. 0 means as many threads as the machine runs at once.
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
    fn links_to_pipes_devices_and_descriptors_are_recognized() {
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
