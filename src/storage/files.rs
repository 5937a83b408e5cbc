//! Access by name to files on disk and, by URL, to the objects of a store.
//!
//! URLs are passed around as paths. The functions of this module distinguish the two.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::objects::{self, Object};
use super::platform;
use crate::storage::path_text::text_of;

const SCHEMES: &[&str] = &[
    "s3://",
    "gs://",
    "az://",
    #[cfg(test)]
    "memory://",
];

/// Maximum number of attempts to read a file that other processes replace meanwhile.
const READ_ATTEMPTS: u32 = 4;

/// Whether a path is the URL of an object or of a folder of objects.
pub(crate) fn is_object(path: &Path) -> bool {
    let text = path.as_os_str().as_encoded_bytes();
    SCHEMES.iter().any(|scheme| text.starts_with(scheme.as_bytes()))
}

fn object(path: &Path) -> Object {
    Object::named(&path.to_string_lossy())
}

pub(crate) fn state(path: &Path) -> io::Result<FileState> {
    if is_object(path) {
        return object(path).state().cloned();
    }
    let metadata = path.metadata()?;
    check_file(&metadata).map(|()| FileState::from_metadata(&metadata))
}

fn check_file(metadata: &Metadata) -> io::Result<()> {
    if metadata.is_file() {
        return Ok(());
    }
    if metadata.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let message = "expected a regular file, found a pipe or a device: copy it to a file first";
    Err(io::Error::new(io::ErrorKind::InvalidInput, message))
}

/// Whether the name exists, even as a broken link. Fails only for objects. For paths, any error of the system counts as
/// missing.
pub(crate) fn exists(path: &Path) -> io::Result<bool> {
    let looked_up =
        if is_object(path) { state(path).map(drop) } else { path.symlink_metadata().map(drop) };
    match looked_up {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        // For instance, a parent of the path is a file.
        Err(_) if !is_object(path) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Opens a file or an object. The reader fails if an object changes while it is read.
pub(crate) fn open(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    Ok(if is_object(path) { Box::new(object(path).reader()?) } else { Box::new(File::open(path)?) })
}

/// The content of a regular file or an object. Rejects pipes, because callers may read the file twice and must not
/// block. If the content is replaced while it is read, reads the new content.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    if !is_object(path) {
        check_file(&path.metadata()?)?;
    }
    read_again(|| {
        let mut bytes = Vec::new();
        open(path)?.read_to_end(&mut bytes)?;
        Ok(bytes)
    })
}

/// Reads again if the file was replaced meanwhile, as the checkpoints of running processes are. Objects and network
/// file systems report it by the same kind of error.
fn read_again(mut read: impl FnMut() -> io::Result<Vec<u8>>) -> io::Result<Vec<u8>> {
    for _ in 1..READ_ATTEMPTS {
        match read() {
            Err(error) if error.kind() == io::ErrorKind::StaleNetworkFileHandle => {}
            result => return result,
        }
    }
    read()
}

/// The names of the entries of a folder. Empty for a URL without objects under it.
pub(crate) fn names_in(folder: &Path) -> io::Result<Vec<String>> {
    if is_object(folder) {
        return objects::names_in(&folder.to_string_lossy());
    }
    let name = |entry: io::Result<fs::DirEntry>| entry.map(|entry| text_of(entry.file_name()));
    fs::read_dir(folder)?.map(name).collect()
}

/// Creates a folder and its parents. Does nothing for URLs, because stores have no folders.
pub(crate) fn create_folder(folder: &Path) -> io::Result<()> {
    if is_object(folder) { Ok(()) } else { fs::create_dir_all(folder) }
}

/// Folders created for outputs, innermost first. Removes the empty ones when dropped.
pub(crate) struct NewFolders(Vec<PathBuf>);

impl NewFolders {
    pub(crate) fn create(folder: &Path) -> io::Result<Self> {
        let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
        let missing = folder.ancestors().take_while(is_missing).map(Path::to_owned);
        // Collected before any folder is created, because creation may fail halfway.
        let folders = Self(if is_object(folder) { Vec::new() } else { missing.collect() });
        create_folder(folder).map(|()| folders)
    }
}

impl Drop for NewFolders {
    fn drop(&mut self) {
        for folder in &self.0 {
            // Fails if the folder contains outputs.
            drop(fs::remove_dir(folder));
        }
    }
}

/// Removes a file if it exists.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    if !is_object(path) {
        return platform::remove_if_there(path);
    }
    match objects::remove(&path.to_string_lossy()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Identifies the content of a file or object without reading the content.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct FileState {
    pub(crate) bytes: u64,
    pub(crate) modified_unix_ns: Option<u64>,
    /// Entity tag of an object. `None` for files.
    pub(crate) etag: Option<String>,
}

impl FileState {
    pub(crate) fn from_metadata(metadata: &Metadata) -> Self {
        let modified_unix_ns = platform::modified_unix_ns(metadata);
        Self { bytes: metadata.len(), modified_unix_ns, etag: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_urls_of_known_schemes_are_objects() {
        for path in ["a/b.hcp", "-", "C://a", "s3:/a/b", "gs.hcp", "s3//a"] {
            assert!(!is_object(Path::new(path)), "{path}");
        }
        for url in ["s3://a/b.hcp", "gs://a/b", "az://a/b"] {
            assert!(is_object(Path::new(url)), "{url}");
        }
    }

    #[test]
    fn a_file_that_was_replaced_while_it_was_read_is_read_again() {
        use io::ErrorKind::{NotFound, StaleNetworkFileHandle};

        // Number of failed reads, their error, and the number of reads in all.
        for (failed, kind, expected) in [
            (0, NotFound, 1),
            (3, StaleNetworkFileHandle, 4),
            (9, StaleNetworkFileHandle, 4),
            (9, NotFound, 1),
        ] {
            let mut reads = 0;
            let read = read_again(|| {
                reads += 1;
                if reads <= failed { Err(kind.into()) } else { Ok(vec![reads]) }
            });
            assert_eq!(reads, expected);
            match read {
                Ok(bytes) => assert_eq!(bytes, [failed + 1]),
                Err(error) => assert!(error.kind() == kind && failed >= expected),
            }
        }
    }

    #[test]
    fn path_methods_work_on_urls() {
        let folder = Path::new("s3://bucket/a b");
        // `Object::named` replaces the backslashes of Windows.
        let url = |path: PathBuf| path.to_str().unwrap().replace('\\', "/");
        assert_eq!(url(folder.join("c.hcp")), "s3://bucket/a b/c.hcp");
        assert_eq!(url(folder.with_file_name("d")), "s3://bucket/d");
        assert_eq!(Path::new("s3://bucket/c.hcp").parent(), Some(Path::new("s3://bucket")));
    }
}
