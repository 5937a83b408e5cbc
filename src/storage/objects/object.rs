//! An object of a store, named by its URL.

use std::io;
use std::sync::{Arc, OnceLock};

use object_store::{ObjectMeta, ObjectStoreExt};

use crate::storage::files::FileState;
use crate::storage::objects::store::ObjectLocation;

/// An object of a store, named by its URL. The first request pins its version. If the object changes later, reads fail,
/// so all readers of one `Object` get the same bytes.
#[derive(Clone, Debug)]
pub struct Object {
    url: String,
    pinned: Arc<OnceLock<Pinned>>,
}

/// An object as it was at the first request.
#[derive(Debug)]
pub(crate) struct Pinned {
    pub(super) location: ObjectLocation,
    pub(super) meta: ObjectMeta,
    pub(super) state: FileState,
    /// The last bytes, cached after the first read from them. A seekable zstd file has its frame table there.
    pub(super) tail: OnceLock<bytes::Bytes>,
}

impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        self.url == other.url
    }
}

impl Eq for Object {}

impl Object {
    /// Makes no request.
    pub(crate) fn named(url: &str) -> Self {
        Self { url: url.to_owned(), pinned: Arc::default() }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// State at the first request.
    pub(crate) fn state(&self) -> io::Result<&FileState> {
        self.pinned().map(|pinned| &pinned.state)
    }

    pub(super) fn pinned(&self) -> io::Result<&Pinned> {
        if let Some(pinned) = self.pinned.get() {
            return Ok(pinned);
        }
        let location = ObjectLocation::parse(&self.url)?;
        let meta =
            location.request(async |location| location.store.lookup.head(&location.key).await)?;
        let state = FileState {
            bytes: meta.size,
            modified_unix_ns: meta
                .last_modified
                .timestamp_nanos_opt()
                .and_then(|ns| ns.try_into().ok()),
            etag: meta.e_tag.clone(),
        };
        // If another thread was faster, its state counts.
        Ok(self.pinned.get_or_init(|| Pinned { location, meta, state, tail: OnceLock::new() }))
    }
}
