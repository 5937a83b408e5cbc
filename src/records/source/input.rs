//! Inputs: files, objects, standard input.

use std::ffi::OsStr;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

use crate::format::move16::Dialect;
use crate::format::{Format, Survey};
use crate::records::format_name::{FormatName, without_compression};
use crate::storage::compression::Compression;
use crate::storage::files;
use crate::storage::objects::Object;
use crate::storage::state::State;

/// Records that are passed over at a time.
pub(crate) const SKIPPED_RECORDS: u64 = 1 << 10;

/// One input, as it was given.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Input {
    /// The name on the command line; `-` for standard input.
    pub name: String,
    /// Where the bytes are.
    pub place: Place,
    /// Format of the records.
    pub format: Format,
    /// How its packed moves are encoded.
    pub dialect: Dialect,
    /// How the bytes are compressed.
    pub compression: Compression,
    /// What a sample of its records shows, if one was looked at.
    pub evidence: Option<Box<Survey>>,
}

/// Where the bytes of an input are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Place {
    /// Standard input.
    Stdin,
    /// A file.
    File(PathBuf),
    /// An object of a store.
    Object(Object),
}

impl Place {
    /// What is there at the moment; of an object, what was there when it was looked at first. None of
    /// standard input, of pipes and of what cannot be looked at.
    pub(crate) fn state(&self) -> Option<State> {
        match self {
            Self::Stdin => None,
            Self::File(path) => {
                let metadata = path.metadata().ok();
                metadata.filter(Metadata::is_file).map(|metadata| State::of(&metadata))
            }
            Self::Object(object) => object.state().ok().cloned(),
        }
    }

    /// Whether it can be measured before it is read, and read again: a pipe or a device cannot. What is not
    /// there is told where it is opened.
    pub(crate) fn can_be_read_again(&self) -> bool {
        match self {
            Self::Stdin => false,
            Self::File(path) => path.is_file() || path.is_dir() || !path.exists(),
            Self::Object(_) => true,
        }
    }

    /// Its last name, without the folder; none of standard input.
    pub(crate) fn file_name(&self) -> Option<&OsStr> {
        match self {
            Self::Stdin => None,
            Self::File(path) => path.file_name(),
            Self::Object(object) => Path::new(object.url()).file_name(),
        }
    }
}

impl Input {
    /// The input of this name, `-` for standard input, in this format. A compressed file says so in its
    /// name, whatever is said about the records inside.
    pub fn named(path: &Path, format: FormatName) -> Self {
        let name = path.to_string_lossy().into_owned();
        let by_name = without_compression(&name).1;
        let place = match &*name {
            "-" => Place::Stdin,
            url if files::is_object(path) => Place::Object(Object::named(url)),
            _ => Place::File(path.to_owned()),
        };
        let FormatName { format, compression } = format;
        let compression = if compression == Compression::None { by_name } else { compression };
        Self { name, place, format, dialect: format.dialect(), compression, evidence: None }
    }

    /// What it is called in a sentence.
    pub(crate) fn said(&self) -> String {
        let is_stdin = self.place == Place::Stdin;
        if is_stdin { "standard input".to_owned() } else { self.name.clone() }
    }
}
