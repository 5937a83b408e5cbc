//! Functions that differ between operating systems: file access, the identity of files, pipes, folders.

use std::fs::{File, Metadata, OpenOptions};
#[cfg(windows)]
use std::os::windows::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::LazyLock;
#[cfg(windows)]
use std::time::{Duration, Instant};
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

/// Identifies a file. Equal for two names of the same file: device and inode on Unix, volume and file index on Windows.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct FileIdentity(Identity);

#[cfg(unix)]
type Identity = (u64, u64);

#[cfg(windows)]
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Identity {
    Index {
        volume: u64,
        file: u64,
    },
    /// The absolute path, on file systems without file indices.
    Path(std::path::PathBuf),
}

/// Identity of the file at `path`. Follows links.
///
/// # Errors
/// If the file does not exist or its metadata cannot be read.
#[cfg(unix)]
pub(crate) fn identity(path: &Path) -> io::Result<FileIdentity> {
    use std::os::unix::fs::MetadataExt;
    let metadata = path.metadata()?;
    Ok(FileIdentity((metadata.dev(), metadata.ino())))
}

/// Identity of the file at `path`. Follows links.
///
/// # Errors
/// If the file does not exist or cannot be opened.
#[cfg(windows)]
pub(crate) fn identity(path: &Path) -> io::Result<FileIdentity> {
    /// Permits to open folders.
    const FILE_FLAG_BACKUP_SEMANTICS: u32 = 0x0200_0000;
    // Asks for no access, which succeeds even if another program has locked the file.
    let mut options = OpenOptions::new();
    options.access_mode(0).custom_flags(FILE_FLAG_BACKUP_SEMANTICS);
    identity_of(path, &options.open(path)?)
}

/// Identity of an open file. `_path` is the name under which it was opened.
#[cfg(unix)]
pub(crate) fn identity_of(_path: &Path, file: &File) -> io::Result<FileIdentity> {
    use std::os::unix::fs::MetadataExt;
    let metadata = file.metadata()?;
    Ok(FileIdentity((metadata.dev(), metadata.ino())))
}

#[cfg(windows)]
pub(crate) fn identity_of(path: &Path, file: &File) -> io::Result<FileIdentity> {
    match index(file) {
        Some(identity) => Ok(identity),
        None => std::path::absolute(path).map(|path| FileIdentity(Identity::Path(path))),
    }
}

/// Volume and file index. `None` if the file system has none, as some RAM disks and network drives.
#[cfg(windows)]
fn index(file: &File) -> Option<FileIdentity> {
    let information = winapi_util::file::information(file).ok()?;
    let (volume, file) = (information.volume_serial_number(), information.file_index());
    (file != 0).then_some(FileIdentity(Identity::Index { volume, file }))
}

/// Identity of the file at `path`. Follows links. `None` for sockets and character devices such as terminals: data
/// written to them cannot be read from them again.
#[cfg(unix)]
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

/// Identity of the file at `path`. Follows links. `None` for devices and named pipes.
#[cfg(windows)]
pub(crate) fn identity_of_content(path: &Path) -> io::Result<Option<FileIdentity>> {
    if is_pipe(path) { Ok(None) } else { identity(path).map(Some) }
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
        let (identity, has_content) = self.inspect()?;
        has_content.then_some(identity)
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
    fn inspect(self) -> Option<(FileIdentity, bool)> {
        use std::os::fd::AsFd;
        use std::os::unix::fs::MetadataExt;
        let descriptor = match self {
            Self::Input => io::stdin().as_fd().try_clone_to_owned(),
            Self::Output => io::stdout().as_fd().try_clone_to_owned(),
            Self::Error => io::stderr().as_fd().try_clone_to_owned(),
        };
        let metadata = File::from(descriptor.ok()?).metadata().ok()?;
        Some((FileIdentity((metadata.dev(), metadata.ino())), has_content(&metadata)))
    }

    /// `None` for consoles and pipes.
    #[cfg(windows)]
    fn inspect(self) -> Option<(FileIdentity, bool)> {
        use std::os::windows::io::AsHandle;
        let handle = match self {
            Self::Input => io::stdin().as_handle().try_clone_to_owned(),
            Self::Output => io::stdout().as_handle().try_clone_to_owned(),
            Self::Error => io::stderr().as_handle().try_clone_to_owned(),
        };
        let file = File::from(handle.ok()?);
        let is_file = winapi_util::file::typ(&file).is_ok_and(|kind| kind.is_disk());
        Some((index(&file).filter(|_| is_file)?, true))
    }
}

/// Whether output to a path goes to a pipe, a device, or a file that this process has open (`/dev/stdout`,
/// `/proc/self/fd/3`), instead of creating a file at this path. Follows links.
#[cfg(unix)]
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

/// Whether a path names a device or a pipe: `NUL`, `con`, `COM1`, `\\.\pipe\name`. Decided by the name as Windows
/// resolves it, because opening a pipe connects to it. `\\.\C:\a` is a file.
#[cfg(windows)]
pub(crate) fn is_pipe(path: &Path) -> bool {
    use std::path::{Component, Prefix};
    let Ok(absolute) = std::path::absolute(path) else { return false };
    match absolute.components().next() {
        Some(Component::Prefix(prefix)) => match prefix.kind() {
            Prefix::DeviceNS(name) => !name.as_encoded_bytes().ends_with(b":"),
            _ => false,
        },
        _ => false,
    }
}

/// Opens a pipe, a device or an open file of this process for writing. Appends to a file, because it may already have
/// content.
#[cfg(unix)]
pub(crate) fn open_sequential(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).open(path)
}

/// Opens a pipe or a device for writing. No name leads to an open file. A console cannot be opened for appending.
#[cfg(windows)]
pub(crate) fn open_sequential(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).open(path)
}

/// Like [`open_sequential`], but does not wait for the reader of a pipe. Fails if the pipe has no reader.
pub(crate) fn open_sequential_nonblocking(path: &Path) -> io::Result<File> {
    #[cfg(windows)]
    return open_sequential(path);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        OpenOptions::new().append(true),
        rustix::fs::OFlags::NONBLOCK.bits().cast_signed(),
    )
    .open(path)
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
    // Linux reads several files to find this out, and some operations ask for each partition.
    static AVAILABLE: LazyLock<usize> =
        LazyLock::new(|| std::thread::available_parallelism().map_or(1, usize::from));
    match threads {
        0 => *AVAILABLE,
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
#[cfg(unix)]
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)
}

/// Time that other programs get to close a file. Virus scanners and search indexes open new files for a moment.
#[cfg(windows)]
const CLOSING_TIME: Duration = Duration::from_secs(5);

/// Renames atomically and replaces an existing file. Retries for [`CLOSING_TIME`] if another program has one of the two
/// files open. Then the error has the kind `ResourceBusy`.
#[cfg(windows)]
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    let started = Instant::now();
    loop {
        match fs::rename(from, to) {
            Err(error) if may_be_open(&error) && started.elapsed() < CLOSING_TIME => {
                std::thread::sleep(Duration::from_millis(50));
            }
            Err(error) if may_be_open(&error) && to.is_file() => {
                let message = format!("another program may have {} open: {error}", to.display());
                return Err(io::Error::new(io::ErrorKind::ResourceBusy, message));
            }
            done => return done,
        }
    }
}

#[cfg(windows)]
fn may_be_open(error: &io::Error) -> bool {
    const ERROR_ACCESS_DENIED: i32 = 5;
    const ERROR_USER_MAPPED_FILE: i32 = 1224;
    is_sharing_violation(error)
        || matches!(error.raw_os_error(), Some(ERROR_ACCESS_DENIED | ERROR_USER_MAPPED_FILE))
}

/// Whether a file cannot be opened because another process has it open.
#[cfg(windows)]
pub(crate) fn is_sharing_violation(error: &io::Error) -> bool {
    const ERROR_SHARING_VIOLATION: i32 = 32;
    error.raw_os_error() == Some(ERROR_SHARING_VIOLATION)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_names_of_a_file_have_the_same_identity() {
        let folder = tempfile::tempdir().unwrap();
        let [file, link, other] = ["file", "link", "other"].map(|name| folder.path().join(name));
        fs::write(&file, "").unwrap();
        fs::write(&other, "").unwrap();
        fs::hard_link(&file, &link).unwrap();
        let open = File::open(&link).unwrap();
        assert_eq!(identity(&file).unwrap(), identity_of(&link, &open).unwrap());
        assert_ne!(identity(&file).unwrap(), identity(&other).unwrap());
        assert!(identity(folder.path()).is_ok());
        drop(open);
        fs::remove_file(&file).unwrap();
        assert_eq!(identity(&file).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    #[cfg(windows)]
    fn names_of_devices_and_pipes_are_recognized() {
        for name in ["NUL", "nul", "con", "COM1", r"\\.\pipe\a", r"\\.\PhysicalDrive0"] {
            assert!(is_pipe(Path::new(name)), "{name}");
        }
        for name in ["null", "a.hcp", "com", ".", r"\\.\C:\a", r"\\server\share\a", r"\\?\C:\a"] {
            assert!(!is_pipe(Path::new(name)), "{name}");
        }
        io::Write::write_all(&mut open_sequential(Path::new("NUL")).unwrap(), b"a").unwrap();
        assert_eq!(identity_of_content(Path::new("NUL")).unwrap(), None);
    }

    #[test]
    #[cfg(windows)]
    fn a_file_that_is_open_elsewhere_is_replaced_when_it_is_closed() {
        let folder = tempfile::tempdir().unwrap();
        let [from, to] = ["from", "to"].map(|name| folder.path().join(name));
        fs::write(&from, "new").unwrap();
        fs::write(&to, "old").unwrap();
        let open = OpenOptions::new().read(true).share_mode(0).open(&to).unwrap();
        let closing = std::thread::spawn(move || {
            std::thread::sleep(CLOSING_TIME / 10);
            drop(open);
        });
        rename(&from, &to).unwrap();
        closing.join().unwrap();
        assert_eq!(fs::read_to_string(&to).unwrap(), "new");
        fs::write(&from, "newer").unwrap();
        let _open = OpenOptions::new().read(true).share_mode(0).open(&to).unwrap();
        let error = rename(&from, &to).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ResourceBusy);
        assert!(error.to_string().contains("another program may have"), "{error}");
        assert_eq!(fs::read_to_string(&from).unwrap(), "newer");
    }

    #[test]
    #[cfg(unix)]
    fn links_to_pipes_devices_and_descriptors_are_recognized() {
        use std::os::unix::fs::symlink;
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
