//! The records of a chunk: one record, or in game formats one per move.
//!
//! [`count`] and [`records`] agree for all bytes. A record that cannot be read counts as one.

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

/// The records of one chunk in order. Records that cannot be read are errors.
///
/// `chunk` has the bytes of one [chunk](crate::RawChunk). In formats with one record per line, it has no line end.
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

/// The records of a game. Its first record has the warnings about the game.
pub(super) fn records_of(game: &Game) -> Vec<Result<Parsed, DecodeError>> {
    let records = game.records().into_iter().map(|record| record.map(Parsed::from));
    let mut records: Vec<_> = records.collect();
    if let Some(Ok(first)) = records.first_mut() {
        first.starts_game = !game.is_position;
        if game.info.skipped_lines > 0 {
            first.warnings.insert(Warning::LinesSkipped);
        }
    }
    records
}

/// The records of a chunk, in formats that decode records completely and have no games. `None` for other formats.
pub(super) fn parsed_records(
    format: Format,
    chunk: &[u8],
) -> Option<Vec<Result<Parsed, DecodeError>>> {
    let Codec::Records { read, .. } = &format.spec().codec else { return None };
    let mut parsed = Vec::new();
    read(chunk, &mut parsed);
    Some(parsed)
}

/// Splits bytes that begin with a chunk and end with the end of the file. In formats with one record per line, without
/// the line ends.
pub fn chunks(format: Format, bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let (chunk, after) =
            rest.split_at(format.chunk_end(rest, true).filter(|_| !rest.is_empty())?);
        rest = after;
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
    /// Takes the bytes of one record; in formats with one record per line, without the line end. From a chunk with
    /// several records it takes the first one; [`records`](super::records) yields all.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Length`] if the number of bytes is not the record length, as at the end of a truncated file.
    /// Packed formats and SFEN text are not validated further.
    #[inline]
    pub fn new(format: Format, bytes: &'a [u8]) -> Result<Self, DecodeError> {
        Self::with_dialect(format, format.dialect(), bytes)
    }

    /// Like [`RecordRef::new`], for packed records with another move encoding than the usual one of the format.
    ///
    /// # Errors
    /// The errors of [`RecordRef::new`].
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
