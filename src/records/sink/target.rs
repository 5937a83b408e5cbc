//! The storage of an incomplete output: a file next to its final path, or the parts of an object.

use std::io::{self, Write};
use std::path::Path;

use super::partial::Partial;
use crate::error::Error;
use crate::storage::objects::Upload;
use crate::storage::{files, platform};

/// An output without its final name. It is removed on drop unless it was committed or kept.
#[derive(Debug)]
pub(super) enum Target {
    File(Partial),
    Object(Upload),
}

impl Target {
    pub(super) fn create(final_path: &Path) -> Result<Self, Error> {
        if !files::is_object(final_path) {
            return Partial::create(final_path).map(Self::File);
        }
        let begun = Upload::begin(final_path, None);
        begun.map(Self::Object).map_err(|source| Error::io("create", final_path, source))
    }

    pub(super) fn final_path(&self) -> &Path {
        match self {
            Self::File(partial) => partial.final_path(),
            Self::Object(upload) => upload.url(),
        }
    }

    /// Writes at the current position of the file.
    pub(super) fn writer(&self) -> io::Result<Box<dyn Write + Send>> {
        match self {
            Self::File(partial) => partial.writer(),
            Self::Object(upload) => Ok(upload.writer()),
        }
    }

    /// Syncs the data, so that another process can resume. Unsupported for objects.
    pub(super) fn sync_data(&self) -> io::Result<()> {
        match self {
            Self::File(partial) => partial.file.sync_data(),
            Self::Object(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// Syncs a file. The bytes of an object are sent with its last part.
    pub(super) fn sync_all(&self) -> io::Result<()> {
        match self {
            Self::File(partial) => partial.file.sync_all(),
            Self::Object(_) => Ok(()),
        }
    }

    /// Keeps a file if the run ends early. Objects are never kept.
    pub(super) const fn keep(&mut self) {
        match self {
            Self::File(partial) => partial.keep(),
            Self::Object(_) => {}
        }
    }

    pub(super) fn commit(self) -> Result<(), Error> {
        match self {
            Self::File(partial) => partial.commit(),
            Self::Object(upload) => {
                let url = upload.url().to_owned();
                upload.commit().map_err(|source| Error::io("write", &url, source))
            }
        }
    }
}

/// Syncs the folder of an output, so that renames survive a loss of power.
pub(super) fn sync_folder_of(path: &Path) -> Result<(), Error> {
    if files::is_object(path) {
        return Ok(());
    }
    let folder = platform::folder_of(path);
    platform::sync_folder(folder).map_err(|source| Error::io("synchronise", folder, source))
}
