//! Names of formats with their compression: `hcp`, `hcp.zst`, `hcp.xz`.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use crate::format::Format;
use crate::records::output_kind::OutputKind;
use crate::storage::compression::Compression;
use crate::storage::value_error::ParseValueError;

/// A format with its compression: `hcp`, `hcp.zst`, `hcp.xz`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FormatName {
    /// The format of the records.
    pub format: Format,
    /// Compression of the file.
    pub compression: Compression,
}

pub(crate) fn format_names() -> String {
    Format::ALL.map(Format::name).join(", ")
}

pub(crate) fn expected_names() -> String {
    format!("one of {}, optionally with .zst, .gz or .xz, or parquet", format_names())
}

impl FormatName {
    /// Records in the columns of a Parquet file.
    pub const PARQUET: Self = Self { format: Format::Jsonl, compression: Compression::Parquet };

    /// The format without compression.
    pub const fn plain(format: Format) -> Self {
        Self { format, compression: Compression::None }
    }

    /// The format that the file name shows; `None` if its extension is not a format. `a.hcp.mated`, an output of a
    /// filter, has the format of `a.hcp`.
    pub fn from_file_name(name: &str) -> Option<Self> {
        let (name, _) = OutputKind::split_suffix(name).unwrap_or((name, ""));
        let (name, compression) = without_compression(name);
        if compression == Compression::Parquet {
            return Some(Self::PARQUET);
        }
        let (_, extension) = name.rsplit_once('.')?;
        Some(Self { format: Format::from_extension(extension)?, compression })
    }

    /// The file name without format and compression: `a` for `a.hcp`, `a.mated` for `a.hcp.mated`.
    pub fn stem(name: &str) -> Cow<'_, str> {
        match OutputKind::split_suffix(name) {
            Some((name, suffix)) => format!("{}.{suffix}", Self::stem_of_kept(name)).into(),
            None => Self::stem_of_kept(name).into(),
        }
    }

    fn stem_of_kept(name: &str) -> &str {
        let (name, compression) = without_compression(name);
        if compression == Compression::Parquet {
            return name;
        }
        match name.rsplit_once('.') {
            Some((stem, _)) if !stem.is_empty() => stem,
            _ => name,
        }
    }
}

pub(crate) fn without_compression(name: &str) -> (&str, Compression) {
    for compression in [Compression::Zstd, Compression::Gzip, Compression::Xz, Compression::Parquet]
    {
        if let Some(name) = name.strip_suffix(compression.suffix()) {
            return (name, compression);
        }
    }
    (name, Compression::None)
}

impl FromStr for FormatName {
    type Err = ParseValueError;

    fn from_str(text: &str) -> Result<Self, ParseValueError> {
        let (name, compression) = without_compression(text.strip_prefix('.').unwrap_or(text));
        if name == Self::PARQUET.to_string() {
            return Ok(Self::PARQUET);
        }
        Format::from_name(name)
            .map(|format| Self { format, compression })
            .ok_or_else(|| ParseValueError::new(text, "not a format", expected_names()))
    }
}

impl fmt::Display for FormatName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.compression {
            Compression::Parquet => f.write_str("parquet"),
            _ => write!(f, "{}{}", self.format.name(), self.compression.suffix()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removed_records_show_their_format_before_the_suffix() {
        for (file, name, stem) in [
            ("a.hcp", Some("hcp"), "a"),
            ("a.hcp.mated", Some("hcp"), "a.mated"),
            ("a.b.psv.zst.unknown", Some("psv.zst"), "a.b.unknown"),
            ("a.psv.bad", Some("psv"), "a.bad"),
            ("a.parquet.mated", Some("parquet"), "a.mated"),
            ("a.mated", None, "a.mated"),
            ("mated", None, "mated"),
            (".mated", None, ".mated"),
            ("a.mated.proofs", None, "a.mated"),
        ] {
            let actual = FormatName::from_file_name(file).map(|name| name.to_string());
            assert_eq!(actual.as_deref(), name, "{file}");
            assert_eq!(FormatName::stem(file), stem, "{file}");
        }
    }
}
