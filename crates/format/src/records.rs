//! The records of a chunk: one where the format packs each by itself, the moves of a game elsewhere.
//!
//! [`count`] and [`records`] agree whatever the bytes: a record that cannot be read counts as one.

use super::error::DecodeError;
use super::game::Game;
use super::move16::Dialect;
use super::record::Parsed;
use super::spec::Codec;
use super::{Format, lines};
use crate::DecodeErrorKind;
use crate::record_ref::{Packed, RecordContent, RecordRef};
use crate::sfen_text::Columns;
use crate::warning::Warning;

/// The records of one chunk, in order; those that cannot be read as errors.
///
/// `chunk` has the bytes of a record or, of formats that hold groups, of a group; of text, without the
/// end of the line.
pub fn records(format: Format, dialect: Dialect, chunk: &[u8]) -> Records<'_> {
    let content = match &format.spec().codec {
        Codec::Packed(_) | Codec::Columns => {
            Unread::Single(Some(RecordRef::with_dialect(format, dialect, chunk)))
        }
        Codec::Records { .. } => {
            let parsed = parsed_records(format, chunk).unwrap_or_default();
            Unread::Parsed(Box::new(parsed.into_iter()))
        }
        Codec::Games { read, .. } => Unread::Parsed(Box::new(read(chunk).flat_map(|game| {
            game.map_or_else(|error| vec![Err(error)], |game| records_of(&game))
        }))),
    };
    Records { format, chunk, content }
}

/// The records of a game. Warnings about the game go to its first record.
pub(super) fn records_of(game: &Game) -> Vec<Result<Parsed, DecodeError>> {
    let records = game.records().into_iter().map(|record| record.map(Parsed::from));
    let mut records: Vec<_> = records.collect();
    if let Some(Ok(first)) = records.first_mut().filter(|_| game.info.skipped_lines > 0) {
        first.warnings.insert(Warning::LinesSkipped);
    }
    records
}

/// The records of a chunk of a format that reads them as wholes, and not as moves of games.
pub(super) fn parsed_records(
    format: Format,
    chunk: &[u8],
) -> Option<Vec<Result<Parsed, DecodeError>>> {
    let Codec::Records { read, .. } = &format.spec().codec else { return None };
    let mut parsed = Vec::new();
    read(chunk, &mut parsed);
    Some(parsed)
}

/// The chunks of bytes that begin with one and end as their file does; of text, without the ends of lines.
pub fn chunks(format: Format, bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let (chunk, behind) =
            rest.split_at(format.chunk_end(rest, true).filter(|_| !rest.is_empty())?);
        rest = behind;
        Some(if format.is_lines() { lines::content(chunk) } else { chunk })
    })
}

/// The number of [`records`] in a chunk.
pub fn count(format: Format, chunk: &[u8]) -> u64 {
    match &format.spec().codec {
        Codec::Packed(_) | Codec::Columns => 1,
        Codec::Records { count: Some(count), .. } | Codec::Games { count: Some(count), .. } => {
            count(chunk)
        }
        Codec::Games { read, count: None, .. } => {
            let count = |game: Result<Game, _>| game.map_or(1, |game| game.count_records() as u64);
            read(chunk).map(count).sum()
        }
        Codec::Records { count: None, .. } => {
            records(format, format.dialect(), chunk).count() as u64
        }
    }
}

/// The iterator of [`records`].
pub struct Records<'a> {
    format: Format,
    chunk: &'a [u8],
    content: Unread<'a>,
}

enum Unread<'a> {
    Single(Option<Result<RecordRef<'a>, DecodeError>>),
    Parsed(Box<dyn Iterator<Item = Result<Parsed, DecodeError>> + 'a>),
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<RecordRef<'a>, DecodeError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.content {
            Unread::Single(record) => record.take(),
            Unread::Parsed(parsed) => {
                let parsed = parsed.next()?;
                Some(parsed.map(|parsed| RecordRef::parsed(self.format, self.chunk, parsed)))
            }
        }
    }
}

impl<'a> RecordRef<'a> {
    /// Takes the bytes of one record; of text, the line without its end. Of a group of records, the
    /// first one: [`records`](super::records) yields all.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Length`] if the number of bytes is not that of a record: the truncated end
    /// of a file. Of packed formats and of SFEN text nothing else is judged.
    #[inline]
    pub fn new(format: Format, bytes: &'a [u8]) -> Result<Self, DecodeError> {
        Self::with_dialect(format, format.dialect(), bytes)
    }

    /// [`RecordRef::new`] for packed records whose moves are encoded in another way than the format's.
    ///
    /// # Errors
    /// As [`RecordRef::new`].
    #[inline]
    pub fn with_dialect(
        format: Format,
        dialect: Dialect,
        bytes: &'a [u8],
    ) -> Result<Self, DecodeError> {
        let content = match &format.spec().codec {
            Codec::Packed(layout) => match bytes.first_chunk() {
                Some(position) if bytes.len() == layout.len => {
                    RecordContent::Packed(Packed { layout, dialect, position })
                }
                _ => {
                    let (expected, found) = (layout.len, bytes.len());
                    return Err(DecodeErrorKind::Length { expected, found }.at(found.min(expected)));
                }
            },
            Codec::Columns => RecordContent::Columns(Columns::split(bytes)),
            Codec::Records { .. } | Codec::Games { .. } => {
                let first = records(format, dialect, bytes).next();
                return first.unwrap_or(Err(DecodeErrorKind::Nothing.at(0)));
            }
        };
        Ok(Self { format, bytes, content })
    }
}
