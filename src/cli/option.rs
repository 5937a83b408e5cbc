//! Values of options.
//!
//! The words are those of the serde names in the library, so they stand in one place only.

use serde::de::value::{Error, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer};

/// One of the words of an enum.
pub(super) fn word<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    let deserializer: StrDeserializer<'_, Error> = text.into_deserializer();
    T::deserialize(deserializer)
}
