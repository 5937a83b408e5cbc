//! The formats and their common properties: names, extensions, chunks, fields.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::ending::Ending;
use crate::spec::{Codec, Framing, Spec};
use crate::{
    Fields, csa, db, fixed, hcpe3, jkf, jsonl, kif, lines, move16, pack, packed, plain, sbinpack,
    sfen_text, usi_game,
};

/// A format of records. Each record has one position.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Format {
    /// Apery's packed position, 32 bytes.
    Hcp,
    /// Packed position with evaluation, move and result, 38 bytes.
    Hcpe,
    /// `Hcpe` with flags in the result that state how the game ended, 38 bytes.
    Hcpe2,
    /// `Hcpe` with ply and game length, as Apery itself writes it, 42 bytes.
    Hcpe42,
    /// dlshogi's games, with the candidates of the search.
    Hcpe3,
    /// YaneuraOu's `PackedSfenValue`, 40 bytes.
    Psv,
    /// Lines of text: an SFEN and optional columns for move, evaluation, ply and result, separated by tabs.
    Sfen,
    /// Lines of text: a game as the arguments of the USI command `position`.
    Usi,
    /// Lines of JSON: one object per record.
    Jsonl,
    /// Text with one field per line and several lines per record, as YaneuraOu's learner converts it.
    Plain,
    /// YaneuraOu's opening books as text.
    Db,
    /// Binary games, as YaneuraOu's `GenSfen` writes them.
    Pack,
    /// Binary games. Each move is a number among the legal moves.
    Sbinpack,
    /// Game records of the Computer Shogi Association.
    Csa,
    /// Games in Kakinoki's KIF format, one numbered move per line, in `Shift_JIS`.
    Kif,
    /// KIF in UTF-8.
    Kifu,
    /// Games in Kakinoki's KI2 format, in `Shift_JIS`. Moves are written in words, as in books.
    Ki2,
    /// KI2 in UTF-8.
    Ki2u,
    /// Board diagrams in Kakinoki's BOD format.
    Bod,
    /// JSON Kifu Format: one JSON object per game.
    Jkf,
}

/// A name that is not a format.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("unknown format {0:?}; expected one of {names}", names = all_names())]
pub struct UnknownFormat(pub String);

impl Format {
    /// All formats.
    pub const ALL: [Self; 20] = [
        Self::Hcp,
        Self::Hcpe,
        Self::Hcpe2,
        Self::Hcpe42,
        Self::Hcpe3,
        Self::Psv,
        Self::Pack,
        Self::Sbinpack,
        Self::Sfen,
        Self::Jsonl,
        Self::Plain,
        Self::Db,
        Self::Usi,
        Self::Csa,
        Self::Kif,
        Self::Kifu,
        Self::Ki2,
        Self::Ki2u,
        Self::Bod,
        Self::Jkf,
    ];

    #[inline]
    pub(crate) const fn spec(self) -> &'static Spec {
        match self {
            Self::Hcp => &fixed::HCP,
            Self::Hcpe => &fixed::HCPE,
            Self::Hcpe2 => &fixed::HCPE2,
            Self::Hcpe42 => &fixed::HCPE42,
            Self::Hcpe3 => &hcpe3::SPEC,
            Self::Psv => &fixed::PSV,
            Self::Sfen => &sfen_text::SPEC,
            Self::Usi => &usi_game::SPEC,
            Self::Jsonl => &jsonl::SPEC,
            Self::Plain => &plain::SPEC,
            Self::Db => &db::SPEC,
            Self::Pack => &pack::SPEC,
            Self::Sbinpack => &sbinpack::SPEC,
            Self::Csa => &csa::SPEC,
            Self::Kif => &kif::SPEC,
            Self::Kifu => &kif::SPEC_KIFU,
            Self::Ki2 => &kif::SPEC_KI2,
            Self::Ki2u => &kif::SPEC_KI2U,
            Self::Bod => &kif::bod::SPEC,
            Self::Jkf => &jkf::SPEC,
        }
    }

    /// The name on the command line and in manifests. It is also the usual file extension.
    pub const fn name(self) -> &'static str {
        self.spec().name
    }

    /// The format with this [`Format::name`].
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// The format of files with this extension, with or without a dot. Case is ignored.
    ///
    /// Several formats use `.bin`, so it has no format.
    ///
    /// ```
    /// use kyokumen_format::Format;
    /// assert_eq!(Format::from_extension(".hcpe"), Some(Format::Hcpe));
    /// assert_eq!(Format::from_extension("bin"), None);
    /// ```
    pub fn from_extension(extension: &str) -> Option<Self> {
        let extension = extension.strip_prefix('.').unwrap_or(extension).to_ascii_lowercase();
        let has_extension = |format: &Self| format.spec().extensions.contains(&&*extension);
        Self::from_name(&extension).or_else(|| Self::ALL.into_iter().find(has_extension))
    }

    /// The file extensions, the usual one first.
    pub fn extensions(self) -> Vec<&'static str> {
        let spec = self.spec();
        [spec.name].into_iter().chain(spec.extensions.iter().copied()).collect()
    }

    /// Bytes of a record. `None` if records vary in length.
    #[inline]
    pub const fn record_len(self) -> Option<usize> {
        match self.spec().framing {
            Framing::Fixed(len) => Some(len),
            Framing::Line | Framing::Variable { .. } => None,
        }
    }

    /// Whether each chunk is a line. A chunk is the smallest piece of a file that can be decoded alone.
    #[inline]
    pub const fn is_lines(self) -> bool {
        matches!(self.spec().framing, Framing::Line)
    }

    /// Appends a chunk unchanged, after the [separator](Format::separator). Adds the terminator that the last chunk of
    /// a file may lack.
    #[inline]
    pub fn copy_chunk(self, chunk: &[u8], out: &mut Vec<u8>) {
        (self.spec().copy)(chunk, out);
    }

    /// Whether a chunk, completed by [`Format::copy_chunk`], is read separately from the chunk after it.
    pub fn is_closed(self, chunk: &[u8]) -> bool {
        let Framing::Variable { end, next: Some(next) } = self.spec().framing else { return true };
        let mut bytes = Vec::new();
        self.copy_chunk(chunk, &mut bytes);
        let len = bytes.len();
        bytes.extend_from_slice(next);
        end(&bytes, false) == Some(len)
    }

    /// Whether a chunk is read separately from a complete chunk before it.
    pub fn is_opened(self, chunk: &[u8]) -> bool {
        let Framing::Variable { end, next: Some(before) } = self.spec().framing else {
            return true;
        };
        let mut bytes = Vec::new();
        self.copy_chunk(before, &mut bytes);
        let len = bytes.len();
        self.copy_chunk(chunk, &mut bytes);
        end(&bytes, true) == Some(len)
    }

    /// Whether a chunk contains only comments or white space, and no record.
    pub fn is_comment(self, chunk: &[u8]) -> bool {
        match self.spec().codec {
            Codec::Columns => lines::is_comment(chunk),
            Codec::Games { .. } if self == Self::Csa => csa::has_no_game(chunk),
            Codec::Games { .. } if self == Self::Jkf => jkf::has_no_game(chunk),
            Codec::Games { .. } => self.is_lines() && lines::is_comment(chunk),
            _ => chunk.is_empty(),
        }
    }

    /// Whether this is a text format. Its files may begin with a byte order mark.
    pub const fn is_text(self) -> bool {
        let varies = matches!(self.spec().framing, Framing::Variable { .. });
        self.is_lines() || (varies && !matches!(self, Self::Hcpe3 | Self::Pack | Self::Sbinpack))
    }

    /// A chunk without a byte order mark and without the file header before it.
    pub fn without_header(self, chunk: &[u8]) -> &[u8] {
        let chunk = if self.is_text() { lines::without_mark(chunk) } else { chunk };
        let header = self.header().trim_ascii_end();
        match chunk.strip_prefix(header) {
            Some(rest) if !header.is_empty() => rest.trim_ascii_start(),
            _ => chunk,
        }
    }

    /// Whether its chunks contain games. [`read_games`](crate::read_games) reads them.
    #[inline]
    pub const fn holds_games(self) -> bool {
        matches!(self.spec().codec, Codec::Games { .. })
    }

    /// Whether a decided game always states how it ended. The default is resignation.
    pub const fn always_states_ending(self) -> bool {
        matches!(self, Self::Csa | Self::Jkf) || self.is_kif()
    }

    /// Whether this is one of Kakinoki's formats for games. One reader reads them all.
    pub const fn is_kif(self) -> bool {
        matches!(self, Self::Kif | Self::Kifu | Self::Ki2 | Self::Ki2u)
    }

    /// Whether the format can hold positions without a move.
    pub const fn holds_positions(self) -> bool {
        matches!(self, Self::Csa | Self::Jkf) || self.is_kif() || !self.holds_games()
    }

    /// Whether each chunk is a single record.
    pub fn has_single_records(self) -> bool {
        !self.holds_games() && self != Self::Db
    }

    /// Whether records may lack fields that other records of the same file have.
    pub const fn is_sparse(self) -> bool {
        matches!(self.spec().codec, Codec::Columns | Codec::Records { .. })
    }

    /// Whether the format can be written.
    pub const fn is_written(self) -> bool {
        !matches!(
            self.spec().codec,
            Codec::Records { write: None, .. } | Codec::Games { write: None, .. }
        )
    }

    /// The end of the first chunk in `bytes`, which must not be empty. `None` if the chunk does not end within `bytes`
    /// and more bytes may follow. With `at_end` no more bytes follow.
    pub fn chunk_end(self, bytes: &[u8], at_end: bool) -> Option<usize> {
        let end = match self.spec().framing {
            Framing::Fixed(len) => (bytes.len() >= len).then_some(len),
            Framing::Line => memchr::memchr(b'\n', bytes).map(|end| end + 1),
            Framing::Variable { end, .. } => end(bytes, at_end),
        };
        end.or_else(|| at_end.then_some(bytes.len()))
    }

    /// The family of packed positions (Apery or YaneuraOu). `None` for other formats.
    #[inline]
    pub const fn family(self) -> Option<packed::Family> {
        match &self.spec().codec {
            Codec::Packed(layout) => Some(layout.family),
            _ => None,
        }
    }

    /// The encoding of moves in 16 bits. Apery's for formats that have none.
    #[inline]
    pub const fn dialect(self) -> move16::Dialect {
        match &self.spec().codec {
            Codec::Packed(layout) => layout.dialect,
            _ => move16::Dialect::Apery,
        }
    }

    /// The bytes before the first record of a file.
    pub const fn header(self) -> &'static [u8] {
        self.spec().header
    }

    /// The bytes between two chunks of a file: a line with a slash in `csa`, nothing in other formats. There is no
    /// separator before the first chunk or after the last one.
    pub const fn separator(self) -> &'static [u8] {
        self.spec().separator
    }

    /// Appends the chunk that `write` writes, with the [separator](Format::separator) before it. If `write` fails or
    /// appends nothing, `out` is unchanged. The caller removes the separator at the start of a file.
    ///
    /// # Errors
    /// The errors of `write`.
    pub fn append_chunk<T, E>(
        self,
        out: &mut Vec<u8>,
        write: impl FnOnce(&mut Vec<u8>) -> Result<T, E>,
    ) -> Result<T, E> {
        let start = out.len();
        out.extend_from_slice(self.separator());
        let content = out.len();
        let written = write(out);
        if written.is_err() || out.len() == content {
            out.truncate(start);
        }
        written
    }

    /// The fields that a record can have.
    #[inline]
    pub const fn fields(self) -> Fields {
        self.spec().holds
    }

    /// The endings that the format can express, besides mate and resignation.
    pub const fn endings(self) -> &'static [Ending] {
        self.spec().endings
    }

    /// The endings that a file of this format may contain, besides mate and resignation. Programs also set the flags of
    /// `hcpe2` in `hcpe` and `hcpe42` records, where they are read but not written.
    pub const fn readable_endings(self) -> &'static [Ending] {
        match self {
            Self::Hcpe | Self::Hcpe42 => Self::Hcpe2.endings(),
            _ => self.endings(),
        }
    }

    /// The fields that a record must have.
    #[inline]
    pub const fn needs(self) -> Fields {
        self.spec().needs
    }
}

fn all_names() -> String {
    let names = Format::ALL.map(Format::name);
    let (last, others) = names.split_last().unwrap_or((&"", &[]));
    format!("{} and {last}", others.join(", "))
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
    fn names_and_record_lengths_are_fixed() {
        let lengths = Format::ALL.map(|format| (format.name(), format.record_len()));
        assert_eq!(
            lengths,
            [
                ("hcp", Some(32)),
                ("hcpe", Some(38)),
                ("hcpe2", Some(38)),
                ("hcpe42", Some(42)),
                ("hcpe3", None),
                ("psv", Some(40)),
                ("pack", None),
                ("sbinpack", None),
                ("sfen", None),
                ("jsonl", None),
                ("plain", None),
                ("db", None),
                ("usi", None),
                ("csa", None),
                ("kif", None),
                ("kifu", None),
                ("ki2", None),
                ("ki2u", None),
                ("bod", None),
                ("jkf", None),
            ]
        );
        for format in Format::ALL {
            assert_eq!(format.name().parse(), Ok(format));
            assert_eq!(serde_json::to_string(&format).unwrap(), format!("\"{format}\""));
        }
        assert_eq!(Format::from_extension(".PSV"), Some(Format::Psv));
        assert_eq!(Format::from_extension(""), None);
    }
}
