//! Format of the output of a conversion: records or NumPy arrays.

use std::fmt;
use std::str::FromStr;

use super::arrays;
use crate::error::Error;
use crate::format::packed::Family;
use crate::format::{ConversionPlan, Fields, Fill, Format, TextEncoding};
use crate::records::format_name::{FormatName, expected_names};
use crate::records::opening::conversion;
use crate::records::source::Input;
use crate::storage::value_error::ParseValueError;

/// Format of the output of a conversion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OutputFormat {
    /// Records.
    Records(FormatName),
    /// NumPy arrays (`.npz`) with positions and moves in the encoding of this family.
    Arrays(Family),
}

impl OutputFormat {
    /// Determines the format from the extension of a file.
    pub fn from_file_name(name: &str) -> Option<Self> {
        let extension = name.rsplit_once('.').map(|(_, extension)| extension);
        if extension == Some(arrays::FORMAT.name()) {
            return Some(Self::Arrays(Family::Apery));
        }
        FormatName::from_file_name(name).map(Self::Records)
    }

    /// The format of the records. `None` for arrays.
    pub fn records(self) -> Option<Format> {
        match self {
            Self::Records(name) => Some(name.format),
            Self::Arrays(_) => None,
        }
    }

    /// The format, if it holds games.
    pub(super) fn games(self) -> Option<Format> {
        self.records().filter(|format| format.holds_games())
    }

    /// Whether chunks of this format can be copied, changing at most their text encoding or notation.
    pub fn takes_chunks_of(self, from: Format) -> bool {
        self.records().is_some_and(|to| to.takes_chunks_of(from))
    }

    /// Sets the text encoding. `None` changes nothing.
    pub(super) fn encoded(self, encoding: Option<TextEncoding>) -> Result<Self, Error> {
        let Some(encoding) = encoding else { return Ok(self) };
        let encoded = match self {
            Self::Records(FormatName { format, compression }) => {
                format.in_encoding(encoding).map(|format| FormatName { format, compression })
            }
            Self::Arrays(_) => None,
        };
        let has_no_encoding = || {
            Error::usage(format!(
                "--encoding applies only to kif, kifu, ki2 and ki2u, but the output is {self}"
            ))
        };
        encoded.map(Self::Records).ok_or_else(has_no_encoding)
    }

    /// Fields of the format.
    pub fn fields(self) -> Fields {
        match self {
            Self::Records(name) => name.format.fields(),
            Self::Arrays(_) => arrays::FIELDS,
        }
    }

    /// Array fields that no record of an input has.
    pub fn absent(self, from: Format, conversion: ConversionPlan) -> Fields {
        match self {
            Self::Records(_) => Fields::NONE,
            Self::Arrays(_) => arrays::FIELDS.without(from.fields()).without(conversion.filled_in),
        }
    }

    pub(super) fn conversion(self, input: &Input, fill: &Fill) -> Result<ConversionPlan, Error> {
        match self {
            Self::Records(name) => conversion(input, name.format, fill),
            Self::Arrays(_) => Ok(arrays::conversion_plan(input.format, fill)),
        }
    }
}

impl From<FormatName> for OutputFormat {
    fn from(name: FormatName) -> Self {
        Self::Records(name)
    }
}

impl FromStr for OutputFormat {
    type Err = ParseValueError;

    fn from_str(text: &str) -> Result<Self, ParseValueError> {
        if text.strip_prefix('.').unwrap_or(text) == arrays::FORMAT.name() {
            return Ok(Self::Arrays(Family::Apery));
        }
        text.parse().map(Self::Records).map_err(|_: ParseValueError| {
            ParseValueError::new(text, "not a format", format!("{}, or npz", expected_names()))
        })
    }
}

impl fmt::Display for OutputFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Records(name) => name.fmt(f),
            Self::Arrays(_) => f.write_str(arrays::FORMAT.name()),
        }
    }
}
