//! Objects in S3, Google and Azure stores, used like files: read by ranges, written in parts.
//!
//! All asynchronous code is in this module. Readers and writers block the thread that calls them. The crate
//! `object_store` implements the protocols.

mod object;
mod reader;
mod refusal;
mod store;
mod upload;

use std::io;

use object_store::ObjectStoreExt;

use self::store::ObjectLocation;

pub use self::object::Object;
pub(crate) use self::upload::Upload;

#[cfg(test)]
pub(crate) const IS_BUILT_IN: bool = true;

/// Checks the URL and the settings of its store.
#[cfg(feature = "cli")]
pub(crate) fn check(url: &str) -> Result<(), String> {
    ObjectLocation::parse(url).map(drop).map_err(|error| error.to_string())
}

/// The names of the objects directly under a URL.
pub(crate) fn names_in(url: &str) -> io::Result<Vec<String>> {
    let location = ObjectLocation::parse(url)?;
    let listed = location.request(async |location| {
        let folder = Some(&location.key).filter(|key| !key.as_ref().is_empty());
        location.store.lookup.list_with_delimiter(folder).await
    })?;
    let names = listed.objects.iter().filter_map(|object| object.location.filename());
    Ok(names.map(str::to_owned).collect())
}

pub(crate) fn remove(url: &str) -> io::Result<()> {
    let delete =
        async |location: &ObjectLocation| location.store.lookup.delete(&location.key).await;
    ObjectLocation::parse(url)?.request(delete)
}

#[cfg(test)]
mod tests;
