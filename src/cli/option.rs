//! Values of options.
//!
//! The words are those of the serde names in the library, so they stand in one place only.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PathBufValueParser, RangedU64ValueParser, TypedValueParser};
use serde::de::value::{Error, StrDeserializer};
use serde::de::{DeserializeOwned, Error as _, IntoDeserializer};

use super::message::name;
use crate::storage::files;

/// One of the words of an enum.
pub(super) fn word<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    let deserializer: StrDeserializer<'_, Error> = text.into_deserializer();
    // The word stands in what is said about it.
    T::deserialize(deserializer).map_err(|error| Error::custom(name(&error.to_string())))
}

/// A file or a folder, or the URL of one.
pub(super) fn location() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(files::parse_location)
}

/// More threads than any machine runs at once: the system would take minutes to give them out, and each takes
/// memory.
const MAX_THREADS: u64 = 4096;

/// A number of threads, 0 for all cores.
pub(super) fn threads() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(..=MAX_THREADS)
}

/// A time in seconds, with decimals if need be.
pub(super) fn seconds(text: &str) -> Result<Duration, &'static str> {
    let seconds = text.parse().map_err(|_| "expected a number of seconds")?;
    Duration::try_from_secs_f64(seconds).map_err(|_| "expected a time in seconds")
}

/// A number of something of which there must be some.
pub(super) fn one_or_more(most: u64) -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..=most)
}

/// Plies and nodes of a mate search: `7,30`.
pub(super) fn mate_limits(text: &str) -> Result<(u16, u64), &'static str> {
    let parts = text.split_once(',');
    let parsed = parts.and_then(|(plies, nodes)| Some((plies.parse().ok()?, nodes.parse().ok()?)));
    parsed.ok_or("expected plies and nodes, as in 7,30")
}
