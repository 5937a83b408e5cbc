//! Objects of a store, S3 or what speaks like it, as files: read by ranges, written in parts.
//!
//! All that waits for the network is asynchronous, and all of it is in here: whoever reads or writes waits
//! on his own thread. The protocols are those of the crate `object_store`.

mod kind;
mod object;
mod reader;
mod refusal;
mod store;
mod upload;

use std::io;

use self::store::Place;

pub(crate) use self::reader::Reader;
pub(crate) use self::upload::Upload;

/// Whether this build reads and writes objects.
#[cfg(test)]
pub(crate) const IS_BUILT_IN: bool = true;

/// Whether a URL is one, and of a store that can be asked.
pub(crate) fn check(url: &str) -> Result<(), String> {
    Place::of(url).map(drop).map_err(|error| error.to_string())
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

pub use object::Object;
pub(crate) use object::Pinned;
