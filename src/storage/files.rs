//! Files by their names: those of the system and, by URL, the objects of a store.
//!
//! A URL is passed around as a path; code that opens one asks here which kind it is.

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
    check_file(&metadata).map(|()| FileState::of(&metadata))
}

fn check_file(metadata: &Metadata) -> io::Result<()> {
    if metadata.is_file() {
        return Ok(());
    }
    if metadata.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a pipe or a device: copy it to a file"))
}

/// Whether the name exists, even as a broken link. Only a store can fail; errors of the system mean that there is
/// nothing.
pub(crate) fn exists(path: &Path) -> io::Result<bool> {
    let found =
        if is_object(path) { state(path).map(drop) } else { path.symlink_metadata().map(drop) };
    match found {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        // What is no folder holds nothing.
        Err(_) if !is_object(path) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Opens a file or an object. If an object changes while it is read, the reader fails.
pub(crate) fn open(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    Ok(if is_object(path) { Box::new(object(path).reader()?) } else { Box::new(File::open(path)?) })
}

/// The content of a regular file. Pipes are refused: callers may read the file twice, and must not block on
/// a pipe.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if !is_object(path) {
        check_file(&path.metadata()?)?;
    }
    open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The names of the entries of a folder. Empty if there are no objects under a URL.
pub(crate) fn names_in(folder: &Path) -> io::Result<Vec<String>> {
    if is_object(folder) {
        return objects::names_in(&folder.to_string_lossy());
    }
    let name = |entry: io::Result<fs::DirEntry>| entry.map(|entry| text_of(entry.file_name()));
    fs::read_dir(folder)?.map(name).collect()
}

/// Stores need no folders.
pub(crate) fn create_folder(folder: &Path) -> io::Result<()> {
    if is_object(folder) { Ok(()) } else { fs::create_dir_all(folder) }
}

/// Folders created for outputs, innermost first. On drop the empty ones are removed.
pub(crate) struct NewFolders(Vec<PathBuf>);

impl NewFolders {
    pub(crate) fn create(folder: &Path) -> io::Result<Self> {
        let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
        let missing = folder.ancestors().take_while(is_missing).map(Path::to_owned);
        // Before they are made: of several only some may be.
        let folders = Self(if is_object(folder) { Vec::new() } else { missing.collect() });
        create_folder(folder).map(|()| folders)
    }
}

impl Drop for NewFolders {
    fn drop(&mut self) {
        for folder in &self.0 {
            // With the outputs in it, it stays.
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

/// Identifies the content of a file or object without reading it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct FileState {
    pub(crate) bytes: u64,
    pub(crate) modified_unix_ns: Option<u64>,
    /// Entity tag of an object. `None` for files.
    pub(crate) etag: Option<String>,
}

impl FileState {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        let modified_unix_ns = platform::modified_unix_ns(metadata);
        Self { bytes: metadata.len(), modified_unix_ns, etag: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_and_paths_are_told_apart() {
        for path in ["a/b.hcp", "-", "C://a", "s3:/a/b", "gs.hcp", "s3//a"] {
            assert!(!is_object(Path::new(path)), "{path}");
        }
        for url in ["s3://a/b.hcp", "gs://a/b", "az://a/b"] {
            assert!(is_object(Path::new(url)), "{url}");
        }
    }

    #[test]
    fn paths_and_urls_are_joined_alike() {
        let folder = Path::new("s3://bucket/a b");
        assert_eq!(folder.join("c.hcp").to_str(), Some("s3://bucket/a b/c.hcp"));
        assert_eq!(folder.with_file_name("d").to_str(), Some("s3://bucket/d"));
        assert_eq!(Path::new("s3://bucket/c.hcp").parent(), Some(Path::new("s3://bucket")));
    }
}
