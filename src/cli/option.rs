//! Values of options.
//!
//! The words are those of the serde names in the library, so they stand in one place only.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PathBufValueParser, TypedValueParser};
use serde::de::value::{Error, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer};

use crate::pipeline::files;

/// One of the words of an enum.
pub(super) fn word<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    let deserializer: StrDeserializer<'_, Error> = text.into_deserializer();
    T::deserialize(deserializer)
}

/// A file or a folder, or the URL of one.
pub(super) fn place() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(files::place)
}

/// A time in seconds, with decimals if need be.
pub(super) fn seconds(text: &str) -> Result<Duration, &'static str> {
    let seconds = text.parse().map_err(|_| "expected a number of seconds")?;
    Duration::try_from_secs_f64(seconds).map_err(|_| "expected a time in seconds")
}
