//! What a file or an object is, as far as that shows without reading it.

use std::fs::Metadata;

use crate::storage::platform;

/// What a file is, as far as that shows without reading it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct FileState {
    /// Its size.
    pub(crate) bytes: u64,
    /// When it was written last, in nanoseconds since 1970.
    pub(crate) modified_unix_ns: Option<u64>,
    /// What a store calls this content.
    pub(crate) etag: Option<String>,
}

impl FileState {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        let modified_unix_ns = platform::modified_unix_ns(metadata);
        Self { bytes: metadata.len(), modified_unix_ns, etag: None }
    }
}
