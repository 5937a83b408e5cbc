//! Objects of a store, S3 or what speaks like it, as files: read by ranges, written in parts.
//!
//! All that waits for the network is asynchronous, and all of it is in here: whoever reads or writes waits
//! on his own thread. The protocols are those of the crate `object_store`.

mod reader;
mod refusal;
mod store;
mod upload;

use std::io;
use std::sync::{Arc, OnceLock};

use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt};

use self::store::Place;
use super::files::State;

pub(crate) use self::reader::Reader;
pub(crate) use self::upload::Upload;

/// Whether this build reads and writes objects.
#[cfg(test)]
pub(crate) const IS_BUILT_IN: bool = true;

/// Whether a URL is one, and of a store that can be asked.
pub(crate) fn check(url: &str) -> Result<(), String> {
    Place::of(url).map(drop).map_err(|error| error.to_string())
}

/// An object of a store, by its URL. What it was when it was looked at first is what is read of it, or
/// nothing: equal bytes for all readers of one object.
#[derive(Clone, Debug)]
pub struct Object {
    url: String,
    pinned: Arc<OnceLock<Pinned>>,
}

/// An object as it was when it was looked at first.
#[derive(Debug)]
struct Pinned {
    place: Place,
    meta: ObjectMeta,
    state: State,
    /// Its last bytes, once somebody wanted some of them: tables stand there.
    tail: OnceLock<bytes::Bytes>,
}

impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        self.url == other.url
    }
}

impl Eq for Object {}

impl Object {
    /// That of a URL, not looked at yet.
    pub(crate) fn named(url: &str) -> Self {
        Self { url: url.to_owned(), pinned: Arc::default() }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// What it was when it was looked at first.
    pub(crate) fn state(&self) -> io::Result<&State> {
        self.pinned().map(|pinned| &pinned.state)
    }

    /// Reads it from its start.
    pub(crate) fn reader(&self) -> io::Result<Reader> {
        self.pinned()?;
        Ok(Reader::new(self.clone()))
    }

    fn pinned(&self) -> io::Result<&Pinned> {
        if let Some(pinned) = self.pinned.get() {
            return Ok(pinned);
        }
        let place = Place::of(&self.url)?;
        let meta = place.ask(async |place| place.store.look.head(&place.key).await)?;
        let state = State {
            bytes: meta.size,
            modified_unix_ns: meta
                .last_modified
                .timestamp_nanos_opt()
                .and_then(|ns| ns.try_into().ok()),
            etag: meta.e_tag.clone(),
        };
        // Another thread may have looked meanwhile; what it saw counts.
        Ok(self.pinned.get_or_init(|| Pinned { place, meta, state, tail: OnceLock::new() }))
    }
}

/// The names of the objects directly under a URL.
pub(crate) fn names_in(url: &str) -> io::Result<Vec<String>> {
    let place = Place::of(url)?;
    let listed = place.ask(async |place| {
        let folder = Some(&place.key).filter(|key| !key.as_ref().is_empty());
        place.store.look.list_with_delimiter(folder).await
    })?;
    let names = listed.objects.iter().filter_map(|object| object.location.filename());
    Ok(names.map(str::to_owned).collect())
}

/// Takes an object away.
pub(crate) fn remove(url: &str) -> io::Result<()> {
    Place::of(url)?.ask(async |place| place.store.look.delete(&place.key).await)
}

#[cfg(test)]
mod tests;
