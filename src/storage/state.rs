//! What a file or an object is, as far as that shows without reading it.

use std::fs::Metadata;

use crate::storage::platform;

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
