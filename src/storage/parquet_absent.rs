//! Replaces [`parquet`](super::parquet) if the program is built without the feature `parquet`.
//!
//! Plans reject Parquet files before any of this is called.

use std::convert::Infallible;
use std::fs::File;
use std::io::{self, Read, Write};

use super::table::{Table, Value};

pub(crate) const IS_BUILT_IN: bool = false;

pub(crate) struct LineReader(Infallible);

impl LineReader {
    pub(crate) fn open(_: File) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

impl Read for LineReader {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        match self.0 {}
    }
}

pub(crate) struct RecordColumns<W> {
    never: Infallible,
    _output: W,
}

impl<W: Write + Send> RecordColumns<W> {
    pub(crate) fn new(_: W) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn take(&mut self, _: &[u8]) -> io::Result<()> {
        match self.never {}
    }

    pub(crate) fn close_group(&mut self) -> io::Result<()> {
        match self.never {}
    }

    pub(crate) fn finish(self) -> io::Result<W> {
        match self.never {}
    }
}

pub(crate) struct Columns<W> {
    never: Infallible,
    _output: W,
}

impl<W: Write + Send> Columns<W> {
    pub(crate) fn new(_: W, _: &Table) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn push(&mut self, _: &[Value<'_>]) {
        match self.never {}
    }

    pub(crate) fn is_full(&self) -> bool {
        match self.never {}
    }

    pub(crate) fn close_group(&mut self) -> io::Result<()> {
        match self.never {}
    }

    pub(crate) fn finish(self) -> io::Result<W> {
        match self.never {}
    }
}
