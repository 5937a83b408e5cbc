//! Records of training positions: what each format holds, decoding, encoding, converting.
//!
//! Layouts are those of Apery (`hcp`, `hcpe`), YaneuraOu (`psv`) and the USI protocol (SFEN text);
//! `docs/formats/` has a page on each with its bit diagram.

use serde::{Deserialize, Serialize};
use thiserror::Error;

mod alphabet;
mod convert;
mod error;
mod field;
mod hcp;
mod hcpe;
mod key;
mod lines;
pub mod move16;
mod outcome;
pub mod packed;
pub mod proof_file;
mod psv;
mod record;
pub mod reference;
mod sfen_text;
mod survey;
mod warning;

pub use convert::{
    ConvertError, Fill, FillError, MissingFill, Plan, Written, conversion_plan, encode,
};
pub use error::{DecodeError, DecodeErrorKind, EncodeError};
pub use field::{Field, Fields};
pub use key::ContentKey;
pub use lines::{Line, Lines};
pub use outcome::Outcome;
pub use record::{GameResult, Record, RecordRef};
pub use survey::{HandOrder, HandOrders, MoveCounts, Survey};
pub use warning::{Warning, Warnings};

/// A format of records, each record with one position.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Format {
    /// Apery's packed position, 32 bytes.
    Hcp,
    /// Apery's packed position with evaluation, move and result, 38 bytes.
    Hcpe,
    /// YaneuraOu's `PackedSfenValue`, 40 bytes.
    Psv,
    /// Lines of text: an SFEN, then optionally move, evaluation, ply and result behind tabs.
    Sfen,
}

/// A word that names no format.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("unknown format {0:?}; known are hcp, hcpe, psv and sfen")]
pub struct UnknownFormat(pub String);

impl Format {
    /// Every format.
    pub const ALL: [Self; 4] = [Self::Hcp, Self::Hcpe, Self::Psv, Self::Sfen];

    /// The word on the command line and in manifests; also the usual file extension.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hcp => "hcp",
            Self::Hcpe => "hcpe",
            Self::Psv => "psv",
            Self::Sfen => "sfen",
        }
    }

    /// The format with this [`Format::name`].
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// The format of files with this extension, with or without its dot, in either case.
    ///
    /// `.bin` is used for several formats and therefore names none.
    ///
    /// ```
    /// use kyokumen::format::Format;
    /// assert_eq!(Format::from_extension(".hcpe"), Some(Format::Hcpe));
    /// assert_eq!(Format::from_extension("bin"), None);
    /// ```
    pub fn from_extension(extension: &str) -> Option<Self> {
        let extension = extension.strip_prefix('.').unwrap_or(extension);
        Self::from_name(&extension.to_ascii_lowercase())
    }

    /// Bytes of a record; `None` where a record is a line of text.
    pub const fn record_len(self) -> Option<usize> {
        match self {
            Self::Hcp => Some(hcp::LEN),
            Self::Hcpe => Some(hcpe::LEN),
            Self::Psv => Some(psv::LEN),
            Self::Sfen => None,
        }
    }

    /// Whose codes pack the position; `None` where it is text.
    pub const fn family(self) -> Option<packed::Family> {
        match self {
            Self::Hcp | Self::Hcpe => Some(packed::Family::Apery),
            Self::Psv => Some(packed::Family::YaneuraOu),
            Self::Sfen => None,
        }
    }

    /// What a record can say besides the position.
    pub const fn fields(self) -> Fields {
        match self {
            Self::Hcp => Fields::NONE,
            Self::Hcpe => Fields::ALL.without(Fields::of(Field::Ply)),
            Self::Psv | Self::Sfen => Fields::ALL,
        }
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

impl std::str::FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        Self::from_name(name).ok_or_else(|| UnknownFormat(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_lengths_are_those_of_the_field() {
        let lengths = Format::ALL.map(|format| (format.name(), format.record_len()));
        assert_eq!(
            lengths,
            [("hcp", Some(32)), ("hcpe", Some(38)), ("psv", Some(40)), ("sfen", None)]
        );
        for format in Format::ALL {
            assert_eq!(format.name().parse(), Ok(format));
            assert_eq!(serde_json::to_string(&format).unwrap(), format!("\"{format}\""));
        }
        assert_eq!(Format::from_extension(".PSV"), Some(Format::Psv));
        assert_eq!(Format::from_extension(""), None);
    }
}
