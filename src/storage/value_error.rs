//! Why a text is no value of its kind: an option's, or one in a configuration file.

use std::borrow::Cow;

use thiserror::Error;

/// A text that is no value of the kind asked for.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{text:?} is {kind}: expected {expected}")]
pub struct ParseValueError {
    text: String,
    /// What it is not: `no probability`.
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
