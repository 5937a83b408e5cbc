//! Inputs: files, objects, standard input.

use std::ffi::OsStr;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

use crate::format::move16::Dialect;
use crate::format::{Format, Survey};
use crate::records::format_name::{FormatName, without_compression};
use crate::records::output_kind::OutputKind;
use crate::storage::compression::Compression;
use crate::storage::files::{self, FileState};
use crate::storage::objects::Object;
use crate::storage::path_text::{input_name, text_of};

/// Records per step if records are skipped or only counted.
pub(crate) const SKIPPED_RECORDS: u64 = 1 << 10;

/// One input, as it was given.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Input {
    /// The name on the command line; `-` for standard input.
    pub name: String,
    /// Where the bytes are.
    pub location: InputLocation,
    /// Format of the records.
    pub format: Format,
    /// Move encoding.
    pub dialect: Dialect,
    /// Compression of the bytes.
    pub compression: Compression,
    /// Survey of a sample of its records, if one was taken.
    pub evidence: Option<Box<Survey>>,
    /// Whether the format must still be compared with the content.
    pub first_block: FirstBlock,
}

/// How the first block of an input is checked before its records are delivered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum FirstBlock {
    /// No check, because the format was given or checked with a sample.
    #[default]
    Trusted,
    /// Compare it with the format in the name. Used for pipes, which cannot be sampled.
    Checked {
        /// Whether to continue if most records cannot be read in any format.
        accepts_unreadable: bool,
    },
}

/// Where the bytes of an input are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum InputLocation {
    /// Standard input.
    Stdin,
    /// A file.
    File(PathBuf),
    /// An object of a store.
    Object(Object),
}

impl InputLocation {
    /// The current state of a file, or the state of an object at the first request. `None` for standard input, pipes
    /// and everything inaccessible.
    pub(crate) fn state(&self) -> Option<FileState> {
        match self {
            Self::Stdin => None,
            Self::File(path) => {
                let metadata = path.metadata().ok();
                metadata
                    .filter(Metadata::is_file)
                    .map(|metadata| FileState::from_metadata(&metadata))
            }
            Self::Object(object) => object.state().ok().cloned(),
        }
    }

    /// Whether its size is known before reading and it can be read again, which excludes pipes and devices. A missing
    /// file is reported when it is opened.
    pub(crate) fn can_be_read_again(&self) -> bool {
        match self {
            Self::Stdin => false,
            Self::File(path) => path.is_file() || path.is_dir() || !path.exists(),
            Self::Object(_) => true,
        }
    }

    /// `None` for standard input.
    pub(crate) fn file_name(&self) -> Option<&OsStr> {
        match self {
            Self::Stdin => None,
            Self::File(path) => path.file_name(),
            Self::Object(object) => Path::new(object.url()).file_name(),
        }
    }
}

impl InputLocation {
    /// `-` is standard input.
    pub(crate) fn from_path(path: &Path) -> Self {
        match path.to_str() {
            Some("-") => Self::Stdin,
            _ if files::is_object(path) => Self::Object(Object::named(&path.to_string_lossy())),
            _ => Self::File(path.to_owned()),
        }
    }
}

impl Input {
    /// The input with this path, `-` for standard input, in this format. If `format` has no compression, the name of
    /// the file determines it.
    pub fn named(path: &Path, format: FormatName) -> Self {
        let name = text_of(path);
        let (kept, _) = OutputKind::split_suffix(&name).unwrap_or((&name, ""));
        let by_name = without_compression(kept).1;
        let location = InputLocation::from_path(path);
        let FormatName { format, compression } = format;
        let compression = if compression == Compression::None { by_name } else { compression };
        Self {
            name,
            location,
            format,
            dialect: format.dialect(),
            compression,
            evidence: None,
            first_block: FirstBlock::Trusted,
        }
    }

    pub(crate) const fn format_name(&self) -> FormatName {
        FormatName { format: self.format, compression: self.compression }
    }

    pub(crate) fn display_name(&self) -> String {
        input_name(&self.name).to_owned()
    }
}
