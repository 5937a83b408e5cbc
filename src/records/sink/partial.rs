//! A file under its partial name.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::background_sync::BackgroundSync;
use crate::error::Error;
use crate::storage::lock::{Opened, is_same_file, open_locked};
use crate::storage::platform;

pub(crate) const PARTIAL_SUFFIX: &str = ".partial";

pub(crate) fn partial_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(PARTIAL_SUFFIX);
    PathBuf::from(name)
}

/// A locked file under its partial name. Removed on drop unless it was committed or kept.
#[derive(Debug)]
pub(crate) struct Partial {
    pub(crate) file: File,
    path: PathBuf,
    final_path: PathBuf,
    is_kept: bool,
}

impl Partial {
    pub(crate) fn create(final_path: &Path) -> Result<Self, Error> {
        let partial = Self::open(final_path, "create", true)?;
        // The file of another run is emptied only after the lock has shown that this run has ended.
        partial.file.set_len(0).map_err(|source| partial.error("create", source))?;
        Ok(partial)
    }

    /// Opens the file of an interrupted run. It is kept, even if this run fails.
    pub(super) fn reopen(final_path: &Path) -> Result<Self, Error> {
        let mut partial = Self::open(final_path, "open", false)?;
        partial.keep();
        Ok(partial)
    }

    fn open(final_path: &Path, verb: &'static str, create: bool) -> Result<Self, Error> {
        let path = partial_path(final_path);
        let opened = open_locked(&path, create);
        let file = match opened.map_err(|source| Error::io(verb, &path, source))? {
            // Without locks, no two runs may use the same names.
            Opened::Locked(file) | Opened::WithoutLock(file) => file,
            Opened::Busy => return Err(Error::busy(path)),
        };
        let is_named = is_same_file(&path, &file);
        if !is_named.map_err(|source| Error::io(verb, &path, source))? {
            // Another run renamed or removed the file after it was opened here, and may have created a new one.
            return Err(Error::busy(path));
        }
        Ok(Self { file, path, final_path: final_path.to_owned(), is_kept: false })
    }

    /// Keeps the file if the run ends early.
    pub(super) const fn keep(&mut self) {
        self.is_kept = true;
    }

    pub(super) fn remove(mut self) {
        self.is_kept = false;
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn final_path(&self) -> &Path {
        &self.final_path
    }

    /// Writes at the current position of the file.
    pub(super) fn writer(&self) -> io::Result<Box<dyn Write + Send>> {
        Ok(Box::new(BackgroundSync::new(self.file.try_clone()?)))
    }

    pub(crate) fn commit(mut self) -> Result<(), Error> {
        let renamed = platform::rename(&self.path, &self.final_path);
        // The file is complete, and is worth more than the one that another program has open.
        let is_busy = |error: &io::Error| error.kind() == io::ErrorKind::ResourceBusy;
        if renamed.as_ref().err().is_none_or(is_busy) {
            self.keep();
        }
        renamed.map_err(|source| self.error("rename", source))
    }

    pub(crate) fn error(&self, verb: &'static str, source: io::Error) -> Error {
        Error::io(verb, &self.path, source)
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if !self.is_kept
            && let Err(error) = std::fs::remove_file(&self.path)
        {
            tracing::warn!("cannot remove {}: {error}", self.path.display());
        }
    }
}
