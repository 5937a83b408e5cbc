//! Replaces [`objects`](super::objects) if the program is built without the feature `object-store`.
//!
//! The command line rejects URLs before any of this is called.

use std::convert::Infallible;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use crate::storage::files::FileState;

#[cfg(test)]
pub(crate) const IS_BUILT_IN: bool = false;

const ABSENT: &str = "this build does not support object stores; \
    install it with `cargo install --path . --features object-store`";

fn absent() -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, ABSENT)
}

#[cfg(feature = "cli")]
pub(crate) fn check(_: &str) -> Result<(), String> {
    Err(ABSENT.to_owned())
}

/// An object of a store, named by its URL.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Object {
    url: String,
}

#[expect(clippy::unused_self, reason = "same signatures as with the feature")]
impl Object {
    pub(crate) fn named(url: &str) -> Self {
        Self { url: url.to_owned() }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn state(&self) -> io::Result<&FileState> {
        Err(absent())
    }

    pub(crate) fn reader(&self) -> io::Result<ObjectReader> {
        Err(absent())
    }
}

pub(crate) struct ObjectReader(Infallible);

impl ObjectReader {
    pub(crate) fn until(self, _: u64) -> Self {
        match self.0 {}
    }
}

impl Read for ObjectReader {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        match self.0 {}
    }
}

impl Seek for ObjectReader {
    fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
        match self.0 {}
    }
}

#[derive(Debug)]
pub(crate) struct Upload(Infallible);

impl Upload {
    pub(crate) fn begin(_: &Path, _: Option<u64>) -> io::Result<Self> {
        Err(absent())
    }

    pub(crate) fn check(_: &Path) -> io::Result<()> {
        Err(absent())
    }

    pub(crate) fn writer(&self) -> Box<dyn Write + Send> {
        match self.0 {}
    }

    pub(crate) fn url(&self) -> &Path {
        match self.0 {}
    }

    pub(crate) fn commit(self) -> io::Result<()> {
        match self.0 {}
    }
}

pub(crate) fn names_in(_: &str) -> io::Result<Vec<String>> {
    Err(absent())
}

pub(crate) fn remove(_: &str) -> io::Result<()> {
    Err(absent())
}
