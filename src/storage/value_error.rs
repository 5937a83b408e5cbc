//! Errors for invalid values of options and configuration files.

use std::borrow::Cow;
#[cfg(feature = "cli")]
use std::ops::{Bound, RangeBounds, RangeInclusive};

#[cfg(feature = "cli")]
use std::time::Duration;

#[cfg(feature = "cli")]
use serde::de::value::StrDeserializer;
#[cfg(feature = "cli")]
use serde::de::{DeserializeOwned, IntoDeserializer};
use thiserror::Error;

/// A text is not a value of the expected kind.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{text:?} is {kind}: expected {expected}")]
pub struct ParseValueError {
    text: String,
    /// For instance `not a probability`.
    kind: &'static str,
    expected: Cow<'static, str>,
}

impl ParseValueError {
    pub(crate) fn new(
        text: &str,
        kind: &'static str,
        expected: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self { text: text.to_owned(), kind, expected: expected.into() }
    }
}

/// A parser for whole numbers within `bounds` and within the range of the unsigned type `T`. Its error names both
/// limits.
#[cfg(feature = "cli")]
pub(crate) fn whole_number<T>(
    bounds: impl RangeBounds<u64>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static
where
    T: TryFrom<u64> + Clone + Send + Sync + 'static,
{
    let most_of_type = u64::MAX >> (u64::BITS as usize - 8 * size_of::<T>());
    let least = match bounds.start_bound() {
        Bound::Included(&least) => least,
        Bound::Excluded(&below) => below + 1,
        Bound::Unbounded => 0,
    };
    let most = match bounds.end_bound() {
        Bound::Included(&most) => most,
        Bound::Excluded(&above) => above - 1,
        Bound::Unbounded => most_of_type,
    };
    let bounds = least..=most.min(most_of_type);
    move |text: &str| {
        let number = text.parse().ok().filter(|number| bounds.contains(number));
        number.and_then(|number| T::try_from(number).ok()).ok_or_else(|| expected(&bounds, text))
    }
}

/// Parses a variant of an enum by its serde name.
#[cfg(feature = "cli")]
pub(crate) fn word<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    // The error quotes the text, and messages must be one line.
    let text = text.replace('\n', "\\n").replace('\r', "\\r");
    let deserializer: StrDeserializer<'_, _> = text.as_str().into_deserializer();
    T::deserialize(deserializer).map_err(|error: serde::de::value::Error| {
        // serde calls the value an unknown variant.
        let error = error.to_string();
        match error.rsplit_once(", expected ") {
            Some((_, values)) => format!("expected {}", values.replace('`', "")),
            None => error,
        }
    })
}

/// Parses a time in seconds.
#[cfg(feature = "cli")]
pub(crate) fn seconds(text: &str) -> Result<Duration, &'static str> {
    let seconds = text.parse().map_err(|_| "expected a number of seconds")?;
    Duration::try_from_secs_f64(seconds).map_err(|_| "expected a time in seconds")
}

#[cfg(feature = "cli")]
fn expected(bounds: &RangeInclusive<u64>, text: &str) -> String {
    let (least, most) = (bounds.start(), bounds.end());
    // The largest 64-bit number is of interest only to someone who exceeded it.
    let is_too_large = text.len() > 1 && text.bytes().all(|byte| byte.is_ascii_digit());
    if *most == u64::MAX && !is_too_large {
        format!("expected a whole number, {least} or more")
    } else {
        format!("expected a whole number from {least} to {most}")
    }
}
