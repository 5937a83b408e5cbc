//! Values of options, read the same way from the command line and from configuration files.
//!
//! The words are those of the serde names in the library, so they stand in one place only.

use std::fmt::Display;
use std::str::FromStr;

use serde::de::value::{Error, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer};
use serde::{Deserialize, Deserializer};

/// One of the words of an enum.
pub(super) fn word<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    let deserializer: StrDeserializer<'_, Error> = text.into_deserializer();
    T::deserialize(deserializer)
}

/// A value of a configuration file that is read from its text, as on the command line.
pub(super) fn from_text<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: FromStr<Err: Display>,
    D: Deserializer<'de>,
{
    let text = String::deserialize(deserializer)?;
    text.parse().map(Some).map_err(serde::de::Error::custom)
}
